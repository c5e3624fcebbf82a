import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { realPath } from "./paths.ts";

interface WatchedFilesOptions {
  /** The paths of the files, whether or not they exist. Asked again after each change. */
  files: () => readonly string[];
  /** How long to wait for more changes: editors write a file in several steps. */
  quietMs?: number | undefined;
  /** Called after a change, and again for changes during the call. Never rejects. */
  onChange: () => Promise<void>;
}

const QUIET_MS = 100;

/** Watches the folders of files, and reports changes of these files, one report at a time. */
export class WatchedFiles implements Disposable {
  readonly #options: WatchedFilesOptions;
  /** By folder. */
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #isReporting = false;
  #again = false;
  #closed = false;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
    this.#follow();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop();
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
    const places = new Map<string, Set<string>>();
    const add = (path: string) => {
      const folder = dirname(path);
      places.set(folder, (places.get(folder) ?? new Set()).add(basename(path)));
    };
    for (const file of this.#options.files()) {
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
    this.#timer = setTimeout(() => void this.#report(), this.#options.quietMs ?? QUIET_MS);
    this.#timer.unref();
  }

  async #report(): Promise<void> {
    if (this.#isReporting) {
      this.#again = true;
      return;
    }
    this.#isReporting = true;
    try {
      // A folder that was removed and created again has another inode, which the old watcher does not see.
      this.#drop();
      this.#follow();
      await this.#options.onChange();
      // The files that matter may be others now.
      if (!this.#closed) this.#follow();
    } finally {
      this.#isReporting = false;
      if (this.#again) {
        this.#again = false;
        this.#changed();
      }
    }
  }

  #drop(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}
