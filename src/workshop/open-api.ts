import { join } from "node:path";
import { defaultInstance, instanceFileName, instanceKey, type ServerInstance } from "../auth/server-instance.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { loadStateKey } from "../files/state-key.ts";
import { secretStore, trustStore } from "../host/servers/load-options.ts";
import type { ApiSurroundings } from "../host/servers/server-connector.ts";
import { serveMemory } from "../server/memory/serve-memory.ts";
import { MemoryTransport } from "../transport/memory.ts";
import type { ApiReach } from "../transport/server-entry.ts";
import type { Transport } from "../transport/transport.ts";
import type { ToolFile } from "./file/model/tool-file.ts";
import { DeviationLog, deviationsFolder } from "./learn/seen-deviations.ts";
import { loadApproved, type ApprovedApi } from "./load-api.ts";
import { apiSecrets } from "./run/secrets/api-secrets.ts";
import { UpstreamTokens } from "./run/secrets/upstream-tokens.ts";
import { ApiRunner, type ApiRunnerOptions } from "./run/api-runner.ts";
import { FileWriteLedger } from "./run/writes/file-write-ledger.ts";
import type { WriteLedger } from "./run/writes/write-ledger.ts";
import { exampleSettings } from "./run/setting-values.ts";
import { writesFolder } from "./run/writes/unknown-writes.ts";
import { ResultStore } from "./run/result-store.ts";
import type { OpenedRunner, ServedVersion } from "./serve/running-version.ts";
import { VersionedServer } from "./serve/versioned-server.ts";
import { WatchedToolFile } from "./watched-tool-file.ts";

const TELLING_MS = 5_000;

/** What the servers of tool files keep elsewhere than in files of the state folder. */
export interface ApiState {
  writes: (of: ServerInstance) => WriteLedger;
  /** The key that seals the state which clients carry between two requests. */
  stateKey: (of: ServerInstance) => Buffer;
}

/** Opened when a server needs it: one with a fake keeps nothing. Undefined: files. */
export type FindApiState = () => Promise<ApiState | undefined>;

const IN_FILES: FindApiState = async () => undefined;

/**
 * A server from an approved tool file, in this process. Each connection opens and closes what it needs, including a
 * fake; a connection that is cancelled while it opens leaves nothing behind.
 */
export async function openApi(
  reach: ApiReach,
  given: ApiSurroundings,
  findState: FindApiState = IN_FILES,
): Promise<Transport> {
  const trust = given.trust ?? trustStore(given.surroundings, given.stateFolder);
  const approved = await loadApproved(reach.file, { trust });
  return {
    kind: "memory",
    target: {},
    longestCallMs: longestCallMs(approved.file),
    async connect(receiver, signal) {
      signal?.throwIfAborted();
      const served = await serveFile(approved, reach, { ...given, trust, findState });
      const memory = new MemoryTransport((end) => {
        serveMemory(served.server, end, { logger: given.logger });
        void end.closed.then(served.close);
      });
      const connection = await memory.connect(receiver);
      if (signal?.aborted) await connection.close();
      signal?.throwIfAborted();
      return connection;
    },
  };
}

type OpenContext = ApiSurroundings & { findState: FindApiState; trust: TrustStore };

/** Serves the file as it was approved, and what is approved of it later, while the connection is open. */
async function serveFile(approved: ApprovedApi, reach: ApiReach, given: OpenContext) {
  const { onProblem = () => {}, logger } = given;
  const server = await startServer(approved, reach, given);
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

async function startServer(first: ApprovedApi, reach: ApiReach, given: OpenContext): Promise<VersionedServer> {
  const instance = defaultInstance(given.server ?? first.file.api, given.tenant);
  const state = reach.upstream === "fake" ? undefined : await given.findState();
  // One key per server, so that an agreement with one server is not valid for another.
  const stateKey =
    state?.stateKey(instance) ??
    (await loadStateKey(given.stateFolder, given.surroundings.platform, instanceKey(instance)));
  // Excerpts of an earlier version link to what it kept.
  const results = new ResultStore();
  const open = (version: ServedVersion) =>
    openRunner(version, reach, { ...given, instance, results, ledger: state?.writes(instance) });
  return VersionedServer.open(first, { open, stateKey });
}

interface RunnerContext extends ApiSurroundings {
  instance: ServerInstance;
  results: ResultStore;
  ledger: WriteLedger | undefined;
}

async function openRunner(
  { api, file = api.file }: ServedVersion,
  { upstream, settings = {} }: Pick<ApiReach, "upstream" | "settings">,
  given: RunnerContext,
): Promise<OpenedRunner> {
  const { instance, results } = given;
  const isFake = upstream === "fake";
  const { close: unbind, ...binding } = isFake
    ? await boundToFake(file, instance)
    : boundToReal(file, instance, { ...given, upstream });
  const deviations = isFake ? undefined : deviationLog(api.file.api, instance, given);
  try {
    const runner = new ApiRunner(api, {
      ...binding,
      results,
      settings: isFake ? { ...exampleSettings(file), ...settings } : settings,
      instance,
      ca: [...given.surroundings.extraCertificates, ...(given.ca ?? [])],
      publicOnly: isFake ? undefined : given.publicOnly,
      logger: given.logger,
      onDeviations: deviations && ((tool, told) => deviations.note(tool, told)),
    });
    const close = async () => {
      deviations?.flush();
      await runner.close();
      await unbind();
    };
    return { runner, close };
  } catch (error) {
    await unbind();
    throw error;
  }
}

type Binding = Pick<ApiRunnerOptions, "secrets" | "saveSecret" | "tokens" | "upstream" | "ledger"> & {
  close: () => Promise<void>;
};

/** The fake of the file with its credentials; its data ends with it. */
async function boundToFake(file: ToolFile, { server }: ServerInstance): Promise<Binding> {
  const { startFake } = await import("./fake/fake.ts");
  const fake = await startFake(file);
  const placeholders = new Map(Object.entries(fake.secrets).map(([name, value]) => [`${server}.${name}`, value]));
  return { secrets: async (name) => placeholders.get(name), upstream: fake.url, close: () => fake.close() };
}

function boundToReal(
  { api }: ToolFile,
  instance: ServerInstance,
  given: ApiSurroundings & { upstream: string | undefined; ledger: WriteLedger | undefined },
): Binding {
  const { surroundings, stateFolder, logger, upstream, ledger = fileLedger(api, instance, given) } = given;
  const store = given.secrets ?? secretStore(surroundings, stateFolder);
  const secrets = apiSecrets(store, {
    api,
    instance,
    logger,
    isStandIn: upstream !== undefined,
  });
  const saveSecret = async (name: string, value: string) => void (await store.set(name, value));
  return { secrets, saveSecret, tokens: sharedTokens(instance, given), upstream, ledger, close: async () => {} };
}

/** One for all connections of this process to the same server: it writes a file. */
function deviationLog(api: string, instance: ServerInstance, { shared, stateFolder }: ApiSurroundings): DeviationLog {
  const file = join(deviationsFolder(stateFolder), `${instanceFileName(instance)}.json`);
  const known = shared?.get(file);
  if (known instanceof DeviationLog) return known;
  const log = new DeviationLog(file, { api, server: instance.server });
  shared?.set(file, log);
  return log;
}

/** One for all connections of this process to the same server, so that each token is requested once. */
function sharedTokens(instance: ServerInstance, { shared }: ApiSurroundings): UpstreamTokens {
  const key = `tokens ${instanceKey(instance)}`;
  const known = shared?.get(key);
  if (known instanceof UpstreamTokens) return known;
  const tokens = new UpstreamTokens();
  shared?.set(key, tokens);
  return tokens;
}

/** One for all connections of this process: its index has all writes of a year. */
function fileLedger(api: string, instance: ServerInstance, given: ApiSurroundings): FileWriteLedger {
  const folder = writesFolder(given.stateFolder);
  const file = join(folder, `${instanceFileName(instance)}.jsonl`);
  const known = given.shared?.get(file);
  if (known instanceof FileWriteLedger) return known;
  const { platform } = given.surroundings;
  // Older versions recorded writes under the name of the API.
  const ledger = new FileWriteLedger({ file, platform, former: join(folder, `${api}.jsonl`) });
  given.shared?.set(file, ledger);
  return ledger;
}
