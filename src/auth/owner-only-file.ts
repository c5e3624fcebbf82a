import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";

/** Writes a file as a whole or not at all; nobody but its owner may read it, nor list its folder if that is new. */
export async function writeOwnerOnly(path: string, data: string | Uint8Array): Promise<void> {
  await beside(path, data, (temporary) => rename(temporary, path));
}

/** As `writeOwnerOnly`, but a file that is there already, or comes to be meanwhile, is left. */
export async function createOwnerOnly(path: string, data: string | Uint8Array): Promise<void> {
  await beside(path, data, async (temporary) => {
    try {
      await link(temporary, path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    await rm(temporary, { force: true });
  });
}

/** Reads a file that only its owner can have written or read; undefined where there is none. */
export async function readOwnerOnly(path: string, platform: NodeJS.Platform): Promise<Buffer | undefined> {
  try {
    // Windows has no such bits: folders of the user's profile are his own there.
    if (platform !== "win32" && ((await stat(path)).mode & 0o077) !== 0) {
      throw new NexusError("PERMISSION_DENIED", `${path} can be read or changed by others, so it is not used`, {
        phase: "config",
        source: { file: path },
        hint: `Make sure that nobody changed it, then: chmod 600 ${path}`,
        mayHaveReached: false,
      });
    }
    return await readFile(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function beside(
  path: string,
  data: string | Uint8Array,
  finish: (temporary: string) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Taken names are refused by the flag, so a guess that nobody can make is not needed.
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    await writeFile(temporary, data, { mode: 0o600, flag: "wx", flush: true });
    // The mode of a new file is subject to the umask.
    await chmod(temporary, 0o600);
    await finish(temporary);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code;
}
