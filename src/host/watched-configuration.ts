import { access } from "node:fs/promises";
import type { Logger } from "../client/logger.ts";
import { loadConfiguration, type ConfigFile, type Configuration, type LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { ConfigurationWatcher } from "../config/watch.ts";
import { messageOf } from "../errors/nexus-error.ts";
import { TrustAtFirstSight } from "./trust-at-first-sight.ts";

export interface WatchedOptions {
  load: LoadOptions;
  /** Trust what is there at the beginning, whatever the trust store says. */
  trustsFirst: boolean;
  /** Go on reading when a file changes. */
  watches: boolean;
  logger: Logger;
  /** Called for each configuration, one after the other. */
  onChange: (configuration: Configuration) => Promise<void>;
}

/** The configuration as the files have it, now and whenever they change. */
export class WatchedConfiguration implements Disposable {
  readonly #options: WatchedOptions;
  #watcher: ConfigurationWatcher | undefined;
  #current: Configuration | undefined;
  /** Configurations are applied in the order in which they were read. */
  #applying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
  }

  /** Settles when the first one is applied. Throws where the one file that was named cannot be used. */
  async start(): Promise<void> {
    const { load, trustsFirst, watches } = this.#options;
    const trust = trustsFirst ? new TrustAtFirstSight(load.trust) : undefined;
    const first = loadConfiguration(trust ? { ...load, trust: trust.first } : load);
    // It watches while the first one is read, so that no change falls in between, and applies nothing before it.
    const begun = first.then((configuration) => this.#begin(configuration));
    this.#applying = begun.catch(() => {});
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
      onChange: (changed) => {
        this.#applying = this.#applying
          .then(() => this.#apply(changed))
          .catch((error: unknown) => {
            if (!this.#closed) logger.warn(`the changed configuration was not applied: ${messageOf(error)}`);
          });
      },
      onError: (error) => logger.warn(`the configuration could not be read again: ${messageOf(error)}`),
    });
  }

  async #apply(read: Configuration): Promise<void> {
    if (this.#closed) return;
    const broken = await this.#brokenFiles(read);
    const kept = (this.#current?.servers ?? []).filter(({ origin }) => origin && broken.has(origin.file));
    this.#current = { ...read, servers: merged(read, kept) };
    await this.#options.onChange(this.#current);
  }

  /** Files that are there and cannot be used: somebody is in the middle of writing them. */
  async #brokenFiles({ files }: Configuration): Promise<Set<string>> {
    const broken = new Set<string>();
    for (const { file, problem } of files) {
      if (!problem) continue;
      if (await isThere(file)) broken.add(file);
      const outcome = this.#current && broken.has(file) ? "its servers stay as they were" : "it has no servers";
      this.#options.logger.warn(`${file} cannot be used, so ${outcome}: ${problem.message}`);
    }
    return broken;
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: unknown) => !(error instanceof Error && "code" in error && error.code === "ENOENT"),
  );
}

/** Of two servers with the same id, the one of the stronger file. */
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
