// Loaded when they are used, unlike "node:fs/promises", for which a short command has no time.
import { mkdirSync, promises as fs, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type FileContent = string | Uint8Array | AsyncIterable<string>;

/**
 * Writes a file as a whole or not at all; only its owner may list its folder, if that is new. `ready` is called right
 * before the file replaces an older one, and prevents that by throwing.
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
 * The same for a small file that only its owner may read, without a thread and without flushing it to the disk. Such a
 * file may get lost, but must not delay a start. Other processes may write it as well: the last one wins.
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

/** It does not have to be impossible to guess: `writeAtomic` refuses a name that is taken. */
function temporaryPath(path: string, ending: string): string {
  return `${path}.${process.pid}.${Math.random().toString(36).slice(2)}${ending}`;
}
