// Not "node:fs/promises": `promises` of "node:fs" is loaded on first use, which makes short commands faster.
import { mkdirSync, promises as fs, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type FileContent = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/**
 * Writes a file completely or not at all; a new folder is accessible only to its owner. `ready` is called right before
 * the file replaces an older one, and prevents that by throwing.
 */
export async function writeAtomic(
  path: string,
  data: FileContent,
  mode: number,
  ready?: () => Promise<void>,
): Promise<void> {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = temporaryPath(path, ".tmp");
  try {
    await fs.writeFile(temporary, data, { mode, flag: "wx", flush: true });
    // The mode of a new file is subject to the umask.
    await fs.chmod(temporary, mode);
    await ready?.();
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
}

/** The end of the name of a file that `writeAtomicSync` has not finished. */
export const DRAFT_ENDING = ".draft";

/**
 * The same for a small owner-only file, synchronous and without flushing it to disk. Such a file may be lost, but must
 * not delay a start. Other processes may write it as well: the last one wins.
 */
export function writeAtomicSync(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = temporaryPath(path, DRAFT_ENDING);
  try {
    writeFileSync(temporary, data, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** It may be guessable: `writeAtomic` refuses an existing name. */
function temporaryPath(path: string, ending: string): string {
  return `${path}.${process.pid}.${Math.random().toString(36).slice(2)}${ending}`;
}
