// Not "node:fs/promises": `promises` of "node:fs" is loaded on first use, which makes short commands faster.
import { promises as fs } from "node:fs";
import { type FileContent, writeAtomic } from "./atomic-write.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { readRegularFile } from "./regular-file.ts";

const MAX_BYTES = 64 * 1024 * 1024;

/** Like `writeAtomic`; only its owner can read the file. */
export async function writeOwnerOnly(path: string, data: FileContent, ready?: () => Promise<void>): Promise<void> {
  await writeAtomic(path, data, 0o600, ready);
}

/** Reads a file that only its owner can have read or written; undefined if there is none. */
export async function readOwnerOnly(path: string, platform: NodeJS.Platform): Promise<Buffer | undefined> {
  try {
    checkOwnerOnly(path, await fs.stat(path), platform);
    const found = readRegularFile(path, MAX_BYTES);
    if (found.kind === "missing") return undefined;
    if (found.kind === "read") return found.bytes;
    throw unusable(path, found.kind === "too-large" ? `is larger than ${MAX_BYTES} bytes` : "is not a regular file");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error instanceof NexusError ? error : unreadable(path, error);
  }
}

/** Throws if others than its owner can read or change the file. */
export function checkOwnerOnly(path: string, { mode }: { mode: number }, platform: NodeJS.Platform): void {
  // Windows has no such bits: folders in the user's profile are private.
  if (platform === "win32" || (mode & 0o077) === 0) return;
  throw new NexusError("PERMISSION_DENIED", `Other users can read or change ${path}, so Nexus does not use it`, {
    phase: "config",
    source: { file: path },
    hint: `Check that its content is unchanged, then run: chmod 600 ${path}`,
    mayHaveReached: false,
  });
}

function unusable(path: string, problem: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${path} ${problem}, so Nexus does not use it`, {
    phase: "config",
    source: { file: path },
    hint: "Move the file to another place. Nexus creates a new one.",
    mayHaveReached: false,
  });
}

/** Wraps what Node reports about a file or folder that exists and cannot be read. */
export function unreadable(path: string, cause: unknown): NexusError {
  const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
  return new NexusError("PERMISSION_DENIED", `${path} cannot be read (${code})`, {
    phase: "config",
    source: { file: path },
    hint: "Check that the file and its folders belong to you, and that none of these folders is a file.",
    cause,
    mayHaveReached: false,
  });
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code;
}
