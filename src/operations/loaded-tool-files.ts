import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lockPath } from "../config/read/lock-path.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { LoadedApi } from "../workshop/load-api.ts";

interface Known {
  /** The file, its lock and its documents, and when each was changed. */
  files: readonly string[];
  marks: string;
  loaded: LoadedApi | string;
}

/** Tool files as they are on the disk. Reading one takes long, so it is read again only after something of it has changed. */
export class LoadedToolFiles {
  readonly #known = new Map<string, Promise<Known>>();

  /** Or the reason why it cannot be read. */
  async load(path: string): Promise<LoadedApi | string> {
    const before = this.#known.get(path);
    const known = await before;
    if (known && (await marksOf(known.files)) === known.marks) return known.loaded;
    // Another request may have begun to read it meanwhile.
    const other = this.#known.get(path);
    if (other !== before && other) return (await other).loaded;
    const reading = readToolFile(path);
    this.#known.set(path, reading);
    return (await reading).loaded;
  }
}

async function readToolFile(path: string): Promise<Known> {
  const own = [path, lockPath(path)];
  // What changes while it is read is read again.
  const before = await marksOf(own);
  const { loadApi } = await import("../workshop/load-api.ts");
  const loaded = await loadApi(path).catch((error: unknown) => messageOf(error));
  const named = typeof loaded === "string" ? [] : Object.values(loaded.file?.documents ?? {});
  const documents = named.map(({ file }) => join(dirname(path), file));
  return {
    files: [...own, ...documents],
    marks: [before, await marksOf(documents)].filter(Boolean).join("\n"),
    loaded,
  };
}

async function marksOf(files: readonly string[]): Promise<string> {
  const marks = files.map((file) =>
    stat(file).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => "missing",
    ),
  );
  return (await Promise.all(marks)).join("\n");
}
