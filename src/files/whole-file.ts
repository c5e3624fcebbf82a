// Loaded when they are used, unlike "node:fs/promises", for which a short command has no time.
import { promises as fs } from "node:fs";
import { dirname } from "node:path";

/** What a file is made of. */
export type FileContent = string | Uint8Array | AsyncIterable<string>;

/**
 * Writes a file as a whole or not at all; nobody but its owner may list its folder, if that is new. `ready` is called
 * right before the file takes the place of an older one, and prevents that by throwing.
 */
export async function writeWhole(
  path: string,
  data: FileContent,
  mode: number,
  ready?: () => Promise<void>,
): Promise<void> {
  await fs.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Taken names are refused by the flag, so a guess that nobody can make is not needed.
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
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
