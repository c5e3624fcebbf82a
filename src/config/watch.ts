import { resolve } from "node:path";
import { NexusError, messageOf } from "../errors/nexus-error.ts";
import { WatchedFiles } from "../files/watched-files.ts";
import { loadConfiguration, type Configuration, type LoadOptions } from "./load.ts";
import { candidates } from "./read/places.ts";

interface WatchOptions extends LoadOptions {
  /** How long to wait for more changes: editors write a file in several steps. */
  quietMs?: number | undefined;
  onChange: (configuration: Configuration) => void;
  onError?: ((error: NexusError) => void) | undefined;
}

/** Watches the places of configuration files, and reads all of them again when one has changed. */
export class ConfigurationWatcher implements Disposable {
  readonly #options: WatchOptions;
  readonly #files: WatchedFiles;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { quietMs } = options;
    this.#files = new WatchedFiles({ files: () => this.#places(), quietMs, onChange: () => this.#reload() });
  }

  close(): void {
    this.#closed = true;
    this.#files.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #places(): string[] {
    const { explicit, cwd } = this.#options;
    return explicit === undefined ? candidates(this.#options).map(({ file }) => file) : [resolve(cwd, explicit)];
  }

  async #reload(): Promise<void> {
    try {
      const configuration = await loadConfiguration(this.#options);
      if (!this.#closed) this.#options.onChange(configuration);
    } catch (error) {
      const known =
        error instanceof NexusError ? error : new NexusError("INTERNAL", messageOf(error), { cause: error });
      if (!this.#closed) this.#options.onError?.(known);
    }
  }
}
