import { access } from "node:fs/promises";
import { Turns } from "../async/turns.ts";
import { findRegularText } from "../files/regular-file.ts";
import type { Logger } from "../text/logger.ts";
import { loadConfiguration, type ConfigFile, type Configuration, type LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { ConfigurationWatcher } from "../config/watch.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";

interface WatchedOptions {
  load: LoadOptions;
  /** Trust the first version of the files, even if the trust store does not. */
  trustsFirst: boolean;
  /** Read the files again when they change. */
  watches: boolean;
  logger: Logger;
  /** Called for each configuration, one after the other. */
  onChange: (configuration: Configuration) => Promise<void>;
}

/** How long a file may be missing before its servers are removed. */
const MISSING_MS = 1_500;
/** A larger file is not empty. */
const BLANK_BYTES = 64 * 1024;

/** The configuration of the files, now and whenever they change. */
export class WatchedConfiguration implements Disposable {
  readonly #options: WatchedOptions;
  #watcher: ConfigurationWatcher | undefined;
  #current: Configuration | undefined;
  /** The configuration as last read. */
  #read: Configuration | undefined;
  readonly #missingSince = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  /** Configurations are applied in the order in which they were read. */
  readonly #applying = new Turns();
  #closed = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
  }

  /** Resolves when the first configuration is applied. Throws if an explicitly named file cannot be used. */
  async start(): Promise<void> {
    const { load, trustsFirst, watches } = this.#options;
    const trust = trustsFirst ? new TrustAtFirstSight(load.trust) : undefined;
    const first = loadConfiguration(trust ? { ...load, trust: trust.first } : load);
    // Watching begins before the first reading, so that no change is missed; changes are applied after it.
    const begun = this.#applying.run(async () => this.#begin(await first));
    if (watches) this.#watch(trust ? { ...load, trust: trust.later(first) } : load);
    try {
      await begun;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #begin(configuration: Configuration): Promise<void> {
    const [file] = configuration.files;
    if (this.#options.load.explicit !== undefined && file?.problem) throw file.problem;
    await this.#apply(configuration);
  }

  #watch(load: LoadOptions): void {
    const { logger } = this.#options;
    this.#watcher = new ConfigurationWatcher({
      ...load,
      onChange: (changed) => this.#applyNext(changed),
      onError: (error) => logger.warn(`the configuration could not be read again: ${messageOf(error)}`),
    });
  }

  async #apply(read: Configuration): Promise<void> {
    if (this.#closed) return;
    this.#read = read;
    const before = this.#current?.servers ?? [];
    const files = new Set(before.flatMap(({ origin }) => origin?.file ?? []));
    const missing = await this.#missingFiles(files);
    const broken = await this.#brokenFiles(read, files, missing);
    const kept = before.filter(({ origin }) => origin && (broken.has(origin.file) || missing.has(origin.file)));
    this.#current = { ...read, servers: merged(read, kept) };
    await this.#options.onChange(this.#current);
  }

  /** Files that are invalid or empty, because a program may be in the middle of writing them. */
  async #brokenFiles(
    { files }: Configuration,
    before: ReadonlySet<string>,
    missing: ReadonlySet<string>,
  ): Promise<Set<string>> {
    const broken = new Set<string>();
    for (const { file, problem, servers } of files) {
      const isEmptied = !problem && servers === 0 && before.has(file) && isBlank(file);
      if (missing.has(file) || (!problem && !isEmptied)) continue;
      if (isEmptied || (await isThere(file))) broken.add(file);
      const outcome = this.#current && broken.has(file) ? "its servers are unchanged" : "it has no servers";
      this.#options.logger.warn(`${file} cannot be used, so ${outcome}: ${problem?.message ?? "it is empty"}`);
    }
    return broken;
  }

  /** Files that existed a moment ago: some programs remove a file before they write it again. */
  async #missingFiles(before: ReadonlySet<string>): Promise<Set<string>> {
    const missing = new Set<string>();
    for (const file of before) {
      if (await isThere(file)) {
        this.#missingSince.delete(file);
        continue;
      }
      const since = this.#missingSince.get(file) ?? performance.now();
      this.#missingSince.set(file, since);
      const leftMs = since + MISSING_MS - performance.now();
      if (leftMs > 0) {
        missing.add(file);
        this.#lookAgainIn(leftMs);
      } else this.#missingSince.delete(file);
    }
    return missing;
  }

  #lookAgainIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#missingSince.size > 0 && this.#read) this.#applyNext(this.#read);
    }, delayMs + 5).unref();
  }

  #applyNext(changed: Configuration): void {
    this.#applying
      .run(() => this.#apply(changed))
      .catch((error: unknown) => {
        if (this.#closed) return;
        this.#options.logger.warn(`the changed configuration was not applied: ${messageOf(error)}`);
      });
  }
}

function isBlank(file: string): boolean {
  return findRegularText(file, BLANK_BYTES)?.trim() === "";
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: unknown) => !(error instanceof Error && "code" in error && error.code === "ENOENT"),
  );
}

/** Of two servers with the same id, the one from the stronger file wins. */
function merged({ servers, files }: Configuration, kept: readonly ServerDefinition[]): ServerDefinition[] {
  if (kept.length === 0) return servers;
  const strength = new Map(files.map(({ file }: ConfigFile, index) => [file, index]));
  const rank = ({ origin }: ServerDefinition) => strength.get(origin?.file ?? "") ?? files.length;
  const byId = new Map(kept.map((server) => [server.id, server]));
  for (const server of servers) {
    const other = byId.get(server.id);
    if (!other || rank(server) < rank(other)) byId.set(server.id, server);
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** "Trust this project for this run" covers what the user could see at that time, not later changes. */
class TrustAtFirstSight {
  readonly #store: TrustStore;
  readonly #seen = new Map<string, string>();

  constructor(store: TrustStore) {
    this.#store = store;
  }

  /** For the first reading: everything is trusted, and remembered for this run. */
  get first(): TrustStore {
    return {
      ...this.#changing,
      isTrusted: (file, fingerprint) => {
        this.#seen.set(file, fingerprint);
        return Promise.resolve(true);
      },
    };
  }

  /** For later readings, after the first one has ended. */
  later(first: Promise<unknown>): TrustStore {
    return {
      ...this.#changing,
      isTrusted: async (file, fingerprint) => {
        await first.catch(() => {});
        return this.#seen.get(file) === fingerprint || this.#store.isTrusted(file, fingerprint);
      },
    };
  }

  get #changing(): Omit<TrustStore, "isTrusted"> {
    return {
      trustsFolders: true,
      trust: (file, fingerprint) => this.#store.trust(file, fingerprint),
      revoke: (file) => this.#store.revoke(file),
    };
  }
}
