import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { randomBytes } from "node:crypto";
import { defaultInstance, instanceKey, type ServerInstance } from "../auth/server-instance.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import { NexusError, asNexusError } from "../errors/nexus-error.ts";
import { loadStateKey } from "../files/state-key.ts";
import { trustStore } from "../host/servers/load-options.ts";
import type { ApiSurroundings } from "../host/servers/server-connector.ts";
import type { McpServer } from "../server/features/mcp-server.ts";
import { serveMemory } from "../server/memory/serve-memory.ts";
import { MemoryTransport } from "../transport/memory.ts";
import type { ApiReach, PublishedReach } from "../transport/server-entry.ts";
import type { Transport } from "../transport/transport.ts";
import type { ToolFile } from "./file/model/tool-file.ts";
import { loadApproved, type ApprovedApi, loadApi, requireApproved, type LoadedApi } from "./load-api.ts";
import {
  FollowedPublication,
  loadVersion,
  readPublished,
  type FollowedApis,
  type PublishedState,
  withFake,
} from "./open-published.ts";
import { openRunner, type RunnerContext } from "./open-runner.ts";
import type { ApiInstance } from "./publish/published.ts";
import { ResultStore } from "./run/result-store.ts";
import type { WriteLedger } from "./run/writes/write-ledger.ts";
import { type ServedVersion, VersionedServer } from "./serve/versioned-server.ts";
import { publicOnlyWith, strictest } from "../net/public-only.ts";
import type { CompiledApi } from "./compile/compile.ts";
import { atAddresses, isElsewhere, notReplaced, unreplacedAddresses } from "./publish/instance-addresses.ts";
import { RequestRate } from "./run/request-rate.ts";
import { dirname, join } from "node:path";
import { lockPath } from "../config/read/lock-path.ts";
import { WatchedFiles } from "../files/watched-files.ts";
import { isApproved } from "./review/lock.ts";

const TELLING_MS = 5_000;

/** What the servers of tool files keep elsewhere than in files of the state folder. */
export interface ApiState {
  writes: (of: ServerInstance) => WriteLedger;
  /** The key that seals the state which clients carry between two requests. */
  stateKey: (of: ServerInstance) => Buffer;
}

/** Opened when a server needs it: one with a fake keeps nothing. Undefined: files. */
type FindApiState = () => Promise<ApiState | undefined>;

export interface OpenApiOptions {
  /** Default: everything is kept in files. */
  findState?: FindApiState | undefined;
  /** The published APIs of the tenant; without it, none can be opened. */
  findPublished?: (() => Promise<FollowedApis | undefined>) | undefined;
}

const OPTIONS: OptionNames<OpenApiOptions> = {
  findState: true,
  findPublished: true,
};

/**
 * A server from an approved tool file or a published API, in this process. Each connection opens and closes what it needs,
 * including a fake; a connection that is cancelled while it opens leaves nothing behind.
 */
export async function openApi(
  reach: ApiReach,
  surroundings: ApiSurroundings,
  options: OpenApiOptions = {},
): Promise<Transport> {
  checkOptions("openApi", options, OPTIONS);
  const { findState = async () => undefined, findPublished } = options;
  const trust = surroundings.trust ?? trustStore(surroundings.surroundings, surroundings.stateFolder);
  const given = { ...surroundings, trust, findState };
  if (reach.published) {
    const apis = await findPublished?.();
    if (!apis) throw notPublished(reach.published);
    const state = await readPublished(apis.source, reach.published);
    const first = await loadVersion(apis.source, state.record);
    const { published } = reach;
    const publication = { first, state, reach: published, apis };
    return transportTo(first.api.file, given, (noteFile) => servePublished(publication, { ...given, noteFile }));
  }
  const approved = await loadApproved(reach.file, { trust });
  return transportTo(approved.file, given, (noteFile) => serveFile(approved, reach, { ...given, noteFile }));
}

/**
 * A server from a tool file that need not be approved, with its fake: nothing else is reached, and nothing is kept. Each
 * connection has a fake of its own.
 */
export function openDraft(draft: ApprovedApi, surroundings: ApiSurroundings): Transport {
  return transportTo(draft.file, surroundings, async () => {
    const instance = defaultInstance(surroundings.server ?? draft.file.api, surroundings.tenant);
    const upstream = "fake";
    const given = { ...surroundings, instance, results: new ResultStore(), ledger: undefined };
    const open = (version: ServedVersion) => openRunner(version, { upstream }, given);
    const server = await VersionedServer.open(draft, { open, settings: () => ({}), stateKey: randomBytes(32) });
    return { server: server.server, close: () => server.close() };
  });
}

interface Served {
  server: McpServer;
  close: () => Promise<void>;
}

/** Called with the tool file of each version that is opened. */
type NoteFile = (file: ToolFile) => void;

function transportTo(
  file: ToolFile,
  { logger }: ApiSurroundings,
  serve: (noteFile: NoteFile) => Promise<Served>,
): Transport {
  let longestMs = longestCallMs(file);
  // A version that is published later may allow more time, and calls of an earlier one go on.
  const noteFile: NoteFile = (next) => (longestMs = Math.max(longestMs, longestCallMs(next)));
  return {
    kind: "memory",
    target: {},
    get longestCallMs() {
      return longestMs;
    },
    async connect(receiver, signal) {
      signal?.throwIfAborted();
      const served = await serve(noteFile);
      let ended = Promise.resolve();
      const memory = new MemoryTransport((end) => {
        serveMemory(served.server, end, { logger });
        ended = end.closed.then(served.close);
      });
      const connection = await memory.connect(receiver);
      const close = async () => {
        await connection.close();
        await ended;
      };
      if (signal?.aborted) await close();
      signal?.throwIfAborted();
      return { ...connection, close, [Symbol.asyncDispose]: close };
    },
  };
}

function notPublished({ server }: PublishedReach): NexusError {
  return new NexusError("CONFIG_INVALID", `The published server "${server}" needs the store of its gateway`, {
    server,
    mayHaveReached: false,
  });
}

type OpenContext = ApiSurroundings & { findState: FindApiState; trust: TrustStore };

type ServeContext = OpenContext & { noteFile: NoteFile };

/** Serves the file as it was approved, and what is approved of it later, while the connection is open. */
async function serveFile(approved: ApprovedApi, reach: ApiReach, given: ServeContext): Promise<Served> {
  const { onProblem = () => {}, logger } = given;
  const instance = defaultInstance(given.server ?? approved.file.api, given.tenant);
  const kept = await keptFor(instance, reach.upstream, given);
  const open = (version: ServedVersion) => {
    given.noteFile(version.api.file);
    return openRunner(version, reach, { ...given, ...kept, instance });
  };
  const settings = () => reach.settings ?? {};
  const server = await VersionedServer.open(approved, { open, settings, stateKey: kept.stateKey });
  const path = reach.file;
  onProblem(undefined);
  const watch = new WatchedToolFile({
    path,
    first: approved,
    trust: given.trust,
    onApproved: async (next) => {
      const { hash } = server;
      await server.show(next);
      if (server.hash !== hash) logger.info(`the newly approved version of ${path} is served`, { hash: server.hash });
    },
    onProblem: (problem) => {
      const kept = problem && stillServed(problem);
      if (kept) logger.warn(kept.message);
      onProblem(kept);
    },
  });
  const close = async () => {
    watch[Symbol.dispose]();
    await server.close();
  };
  return { server: server.server, close };
}

function stillServed(problem: NexusError): NexusError {
  const { code, message, details } = problem;
  return new NexusError(code, `${message}. The version that was approved before is still served`, details);
}

interface Publication {
  first: ServedVersion;
  state: PublishedState;
  reach: PublishedReach;
  apis: FollowedApis;
}

/** Serves what is published as this server, while the connection is open. */
async function servePublished({ first, state, reach, apis }: Publication, given: ServeContext): Promise<Served> {
  const { onProblem = () => {}, logger } = given;
  const owner = defaultInstance(state.instance.server, given.tenant);
  // Also for a fake: the instance may get a real address while it is served.
  const kept = await keptFor(owner, undefined, given);
  let { instance } = state;
  const rates = new InstanceRates();
  const open = (version: ServedVersion) => {
    given.noteFile(version.api.file);
    const context = { ...given, ...kept, instance: owner, rate: rates.of(instance) };
    return openRunner(...atInstance(version, instance, context));
  };
  const settings = () => instance.settings;
  const server = await VersionedServer.open(first, { open, settings, stateKey: kept.stateKey });
  const useInstance = (next: ApiInstance) => (instance = next);
  try {
    const options = { apis, logger, useInstance, onProblem };
    const followed = await FollowedPublication.follow(reach, { server, state }, options);
    const close = async () => {
      await followed[Symbol.asyncDispose]();
      await server.close();
    };
    return { server: server.server, close };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/**
 * Includes the confirming call, a write of a step that is sent at the end of its time, and time to report the outcome:
 * the server knows more about a write than its client.
 */
function longestCallMs({ tools }: Pick<ToolFile, "tools">): number {
  const of = (name: string | undefined) =>
    name !== undefined && Object.hasOwn(tools, name) ? (tools[name]?.limits.timeoutMs ?? 0) : 0;
  const all = Object.entries(tools).map(([name, { confirm, steps = {} }]) => {
    const inside = [confirm?.call, ...Object.values(steps).map(({ call }) => call)];
    return of(name) + Math.max(...inside.map(of));
  });
  return Math.max(0, ...all) + TELLING_MS;
}

/** What all versions of a server share. */
async function keptFor(instance: ServerInstance, upstream: string | undefined, given: OpenContext) {
  const state = upstream === "fake" ? undefined : await given.findState();
  // One key per server, so that an agreement with one server is not valid for another.
  const stateKey =
    state?.stateKey(instance) ??
    (await loadStateKey(given.stateFolder, given.surroundings.platform, instanceKey(instance)));
  // Excerpts of an earlier version link to what it kept.
  return { stateKey, ledger: state?.writes(instance), results: new ResultStore() };
}

const PUBLISHED_REMOTELY =
  "It was published over the network, so it reaches public addresses only. The operator of the gateway can publish it on its machine: nexus api publish";

/** How a version is opened for an instance: with its upstream, settings and limits. */
export function atInstance(
  version: ServedVersion,
  instance: ApiInstance,
  given: RunnerContext,
): Parameters<typeof openRunner> {
  const { upstream, settings, limits, origin } = instance;
  const isAway = isElsewhere(upstream);
  const left = unreplacedAddresses(version.api.file, instance);
  if (left.length > 0) throw notReplaced("CONFIG_INVALID", instance, left);
  const limited = withTimeout(version.api, limits?.timeoutMs);
  const api = isAway ? { ...limited, file: atAddresses(limited.file, instance) } : limited;
  const served = upstream === "fake" ? { ...withFake(version), api } : { ...version, api };
  const isPublic = version.isForeign === true || (upstream !== undefined && origin === "network");
  const publicOnly = isPublic ? strictest(given.publicOnly, publicOnlyWith(PUBLISHED_REMOTELY)) : given.publicOnly;
  const reach = { upstream: isAway ? undefined : upstream, settings };
  return [served, reach, { ...given, publicOnly, isElsewhere: isAway }];
}

/** Requests per minute are counted for an instance, whichever version makes them. */
class InstanceRates {
  #perMinute: number | undefined;
  #rate: RequestRate | undefined;

  of({ limits }: Pick<ApiInstance, "limits">): RequestRate | undefined {
    if (limits?.perMinute !== this.#perMinute) {
      this.#perMinute = limits?.perMinute;
      this.#rate = this.#perMinute === undefined ? undefined : new RequestRate(this.#perMinute);
    }
    return this.#rate;
  }
}

/** Limits of an instance can only be stricter. */
function withTimeout(api: CompiledApi, mostMs: number | undefined): CompiledApi {
  if (mostMs === undefined) return api;
  const tools = Object.entries(api.file.tools).map(([name, tool]) => {
    const timeoutMs = Math.min(tool.limits.timeoutMs, mostMs);
    return [name, { ...tool, limits: { ...tool.limits, timeoutMs } }] as const;
  });
  return { ...api, file: { ...api.file, tools: Object.fromEntries(tools) } };
}

interface WatchedToolFileOptions {
  path: string;
  /** What is served now. */
  first: ApprovedApi;
  trust: TrustStore;
  /** Serves what was approved. If it rejects, what was served before is still served. */
  onApproved: (approved: ApprovedApi) => Promise<void>;
  /** Called when the file cannot be served as it is now, and with undefined when it can. */
  onProblem: (problem: NexusError | undefined) => void;
  quietMs?: number | undefined;
}

/** An approval by somebody else becomes this user's own without a change of the files. */
const ACCEPTANCE_POLL_MS = 1_000;

/** Follows a tool file, its lock and its documents: what is approved and accepted is served. */
class WatchedToolFile implements Disposable {
  readonly #options: WatchedToolFileOptions;
  readonly #files: WatchedFiles;
  #documents: ApprovedApi["file"]["documents"];
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: WatchedToolFileOptions) {
    this.#options = options;
    this.#documents = options.first.file.documents;
    const { quietMs } = options;
    this.#files = new WatchedFiles({ files: () => this.#paths(), quietMs, onChange: () => this.#look() });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#files.close();
  }

  #paths(): string[] {
    const { path } = this.#options;
    const folder = dirname(path);
    return [path, lockPath(path), ...Object.values(this.#documents).map(({ file }) => join(folder, file))];
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#offer(await loadApi(this.#options.path));
    } catch (error) {
      this.#report(asNexusError(error));
    }
  }

  async #offer(loaded: LoadedApi): Promise<void> {
    const { trust, onApproved } = this.#options;
    if (this.#isClosed) return;
    this.#documents = loaded.file?.documents ?? this.#documents;
    try {
      await onApproved(await requireApproved(loaded, { trust }));
      this.#report(undefined);
    } catch (error) {
      this.#report(asNexusError(error));
      const isOthers = loaded.api !== undefined && isApproved(loaded.lock, loaded.api);
      if (isOthers && asNexusError(error).code === "UNTRUSTED") this.#offerLater(loaded);
    }
  }

  #offerLater(loaded: LoadedApi): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#offer(loaded), ACCEPTANCE_POLL_MS).unref();
  }

  /** Once for each problem. */
  #report(error: NexusError | undefined): void {
    if (this.#isClosed || error?.message === this.#problem) return;
    this.#problem = error?.message;
    this.#options.onProblem(error);
  }
}
