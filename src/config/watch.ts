import { watch, type FSWatcher } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { realPath } from "../files/paths.ts";
import { NexusError, messageOf } from "../errors/nexus-error.ts";
import { loadConfiguration, type Configuration, type LoadOptions } from "./load.ts";
import { candidates } from "./read/places.ts";

export interface WatchOptions extends LoadOptions {
  /** How long to wait for more changes: editors write a file in several steps. */
  quietMs?: number | undefined;
  onChange: (configuration: Configuration) => void;
  onError?: ((error: NexusError) => void) | undefined;
}

const QUIET_MS = 100;

/** Watches the places of configuration files, and reads all of them again when one has changed. */
export class ConfigurationWatcher implements Disposable {
  readonly #options: WatchOptions;
  /** By folder. */
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #loading = false;
  #again = false;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#follow();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Watches each folder that exists now, for the relevant names in it. */
  #follow(): void {
    for (const [folder, names] of this.#places()) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, (_event, name) => {
          if (name === null || names.has(name)) this.#changed();
        });
        watcher.on("error", () => this.#forget(folder));
        this.#watchers.set(folder, watcher);
      } catch {
        // Missing or unreadable: the folder above reports when it appears.
      }
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    this.#changed();
  }

  #places(): Map<string, Set<string>> {
    const { explicit, cwd } = this.#options;
    const files = explicit === undefined ? candidates(this.#options).map(({ file }) => file) : [resolve(cwd, explicit)];
    const places = new Map<string, Set<string>>();
    const add = (path: string) => {
      const folder = dirname(path);
      places.set(folder, (places.get(folder) ?? new Set()).add(basename(path)));
    };
    for (const file of files) {
      add(file);
      // If the file is a symbolic link, its target changes in another folder.
      add(realPath(file));
      // The file's own folder may be created later.
      add(dirname(file));
    }
    return places;
  }

  #changed(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#reload(), this.#options.quietMs ?? QUIET_MS);
    this.#timer.unref();
  }

  async #reload(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return;
    }
    this.#loading = true;
    try {
      this.#drop();
      this.#follow();
      const configuration = await loadConfiguration(this.#options);
      if (!this.#closed) this.#options.onChange(configuration);
    } catch (error) {
      const known =
        error instanceof NexusError ? error : new NexusError("INTERNAL", messageOf(error), { cause: error });
      if (!this.#closed) this.#options.onError?.(known);
    } finally {
      this.#loading = false;
      if (this.#again) {
        this.#again = false;
        this.#changed();
      }
    }
  }

  /** A folder that was removed and created again has another inode, which the old watcher does not see. */
  #drop(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}
