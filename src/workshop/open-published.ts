import { Live, type Changes } from "../async/live.ts";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import type { Logger } from "../text/logger.ts";
import type { PublishedReach } from "../transport/server-entry.ts";
import type { ApiInstance, PublishedSource, PublishedVersion, VersionRecord, UsedCalls } from "./publish/published.ts";
import { majorOf } from "./publish/version-number.ts";
import { readToolFile } from "./file/read-tool-file.ts";
import type { PublishedVersions, ServedVersion, VersionedServer } from "./serve/versioned-server.ts";

/** What a crash loses. */
const SAVE_MS = 5_000;

/** The published APIs of a tenant, and when they change. */
export interface FollowedApis {
  source: PublishedSource;
  changes: Changes;
}

interface FollowOptions {
  apis: FollowedApis;
  logger: Logger;
  /** Called with what runners are opened with from now on. */
  useInstance: (instance: ApiInstance) => void;
  /** Called when what is published cannot be served, and with undefined when it can. */
  onProblem: (problem: NexusError | undefined) => void;
}

/** What a published server is now. */
export interface PublishedState {
  instance: ApiInstance;
  /** The version that is served. */
  record: VersionRecord;
  /** All versions that can be reached at its address, the lowest first. */
  records: readonly VersionRecord[];
}

/** Throws NAME_UNKNOWN if it is no longer published. */
export async function readPublished(
  source: PublishedSource,
  { server, major }: PublishedReach,
): Promise<PublishedState> {
  const instance = await source.instance(server);
  const all = instance ? await source.records(instance.api) : [];
  const records = all.filter(({ version }) => major === undefined || majorOf(version) === major);
  const isCurrent = ({ version }: VersionRecord) => version === instance?.current;
  const record = records.find(isCurrent) ?? records.findLast(({ state }) => state === "published");
  if (instance && record) return { instance, record, records };
  const what = major === undefined ? `server "${server}"` : `version ${major} of server "${server}"`;
  throw new NexusError("NAME_UNKNOWN", `The ${what} is not published`, {
    server,
    mayHaveReached: false,
    hint: "See what is published: nexus api versions",
  });
}

export async function loadVersion(source: PublishedSource, { api, version }: VersionRecord): Promise<ServedVersion> {
  const found = await source.version(api, version);
  if (found) return servedVersion(found);
  throw new NexusError("NAME_UNKNOWN", `Version ${version} of ${api} is not in the store`, {
    mayHaveReached: false,
    hint: `See its versions: nexus api versions ${api}`,
  });
}

function servedVersion({ compiled, documents, text, origin, version }: PublishedVersion): ServedVersion {
  return { api: compiled, number: version, documents, text, isForeign: origin === "network" };
}

/** With the fake of its file. */
export function withFake(version: ServedVersion): ServedVersion {
  const { file } = readToolFile(version.text ?? "", `${version.api.file.api}.nexus.yaml`);
  return file ? { ...version, file } : version;
}

/** Serves what is published, while it is open: changes of the store are followed. */
export class FollowedPublication implements AsyncDisposable {
  readonly #reach: PublishedReach;
  readonly #server: VersionedServer;
  readonly #options: FollowOptions;
  readonly #use: CountedUse;
  readonly #reading: Live<void>;
  #state: PublishedState;

  static async follow(
    reach: PublishedReach,
    { server, state }: { server: VersionedServer; state: PublishedState },
    options: FollowOptions,
  ): Promise<FollowedPublication> {
    const followed = new FollowedPublication(reach, { server, state }, options);
    await followed.#reading.follow();
    // It may have changed since it was read.
    await followed.#reading.refresh();
    return followed;
  }

  private constructor(
    reach: PublishedReach,
    { server, state }: { server: VersionedServer; state: PublishedState },
    options: FollowOptions,
  ) {
    this.#reach = reach;
    this.#server = server;
    this.#state = state;
    this.#options = options;
    server.setPublished(this.#refs(state));
    const { source, changes } = options.apis;
    this.#reading = new Live<void>(undefined, {
      changes,
      read: () => this.#read(),
      what: "published APIs",
      logger: options.logger,
    });
    this.#use = new CountedUse({
      take: () => server.takeCounts(),
      state: () => this.#state,
      save: (uses) => source.countCalls(uses),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reading[Symbol.dispose]();
    await this.#use[Symbol.asyncDispose]();
  }

  /** Rejects only where another attempt may succeed. */
  async #read(): Promise<void> {
    const { apis, logger, useInstance, onProblem } = this.#options;
    const before = this.#state;
    try {
      const state = await readPublished(apis.source, this.#reach);
      const isSameVersion = state.record.hash === this.#server.hash;
      const isSameInstance = settingsOf(state.instance) === settingsOf(before.instance);
      this.#state = state;
      useInstance(state.instance);
      this.#server.setPublished(this.#refs(state));
      if (!isSameVersion || !isSameInstance) {
        await this.#server.showAgain(await loadVersion(apis.source, state.record));
        logger.info(`version ${state.record.version} is served`, { server: this.#reach.server });
      }
      onProblem(undefined);
    } catch (thrown) {
      const error = asNexusError(thrown);
      if (error.code === "STORE_UNAVAILABLE") throw error;
      this.#state = before;
      useInstance(before.instance);
      logger.warn(`what was published is not served, and the version before it is: ${error.message}`);
      onProblem(error);
    }
  }

  #refs({ records }: PublishedState): PublishedVersions {
    const { source } = this.#options.apis;
    return records.map((record) => ({
      hash: record.hash,
      isRetired: record.state === "retired",
      load: () => loadVersion(source, record),
    }));
  }
}

/** What a runner is opened with, beside its version. */
function settingsOf({ upstream, addresses, settings, limits, origin }: ApiInstance): string {
  return JSON.stringify([upstream, addresses, settings, limits, origin]);
}

interface CountedUseOptions {
  /** The number of calls since the last time, by hash. */
  take: () => Map<string, number>;
  state: () => {
    instance: Pick<ApiInstance, "server" | "api">;
    records: readonly Pick<VersionRecord, "hash" | "version">[];
  };
  save: (uses: readonly UsedCalls[]) => Promise<void>;
}

/** Saves from time to time how often each version is called. */
class CountedUse implements AsyncDisposable {
  readonly #options: CountedUseOptions;
  readonly #timer: NodeJS.Timeout;
  /** By version; not saved yet. */
  readonly #pending = new Map<string, number>();
  #saving: Promise<void> | undefined;

  constructor(options: CountedUseOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#saving) return;
    this.#saving = this.#saveNow().finally(() => (this.#saving = undefined));
    await this.#saving;
  }

  /** What cannot be saved is saved with the next ones. */
  async #saveNow(): Promise<void> {
    const { take, state, save } = this.#options;
    const { instance, records } = state();
    for (const [hash, calls] of take()) {
      const version = records.findLast((record) => record.hash === hash)?.version;
      if (version !== undefined) this.#pending.set(version, (this.#pending.get(version) ?? 0) + calls);
    }
    if (this.#pending.size === 0) return;
    const { server, api } = instance;
    const at = Date.now();
    const uses = [...this.#pending].map(([version, calls]) => ({ server, api, version, calls, at }));
    this.#pending.clear();
    await save(uses).catch(() => {
      for (const { version, calls } of uses) this.#pending.set(version, (this.#pending.get(version) ?? 0) + calls);
    });
  }
}
