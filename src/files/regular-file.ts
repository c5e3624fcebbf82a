import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";

/** The result of reading a file. */
export type FileRead =
  | { kind: "read"; bytes: Buffer }
  | { kind: "missing" }
  /** A folder, a pipe, a socket or a device. */
  | { kind: "not-a-file" }
  | { kind: "too-large" };

const CHUNK_BYTES = 64 * 1024;
/** Opening a pipe without a writer would block forever. Windows has neither this flag nor such pipes. */
const NON_BLOCKING = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0);

/**
 * Reads a regular file of at most `maxBytes`, and nothing else: a pipe or a device in a folder from another person
 * could block the program or fill its memory. Other failures are thrown as Node reports them.
 */
export function readRegularFile(path: string, maxBytes: number): FileRead {
  // Checked before opening, because opening a device can have effects, and after, because the file may have been
  // replaced.
  const facts = factsOf(path);
  if (!facts) return { kind: "missing" };
  if (!facts.isFile()) return { kind: "not-a-file" };
  if (facts.size > maxBytes) return { kind: "too-large" };
  const file = openSync(path, NON_BLOCKING);
  try {
    return fstatSync(file).isFile() ? readOpened(file, facts.size, maxBytes) : { kind: "not-a-file" };
  } finally {
    closeSync(file);
  }
}

/** The text of such a file; undefined if it cannot be read for any reason. */
export function findRegularText(path: string, maxBytes: number): string | undefined {
  try {
    const found = readRegularFile(path, maxBytes);
    return found.kind === "read" ? found.bytes.toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Also undefined if a folder of the path is not accessible. */
function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The size is a guess: the file may grow, and system files report none. */
function readOpened(file: number, size: number, maxBytes: number): FileRead {
  const chunks: Buffer[] = [];
  let total = 0;
  for (let room = size + 1; ; room = CHUNK_BYTES) {
    const chunk = Buffer.allocUnsafe(Math.min(room, maxBytes + 1 - total));
    const length = readSync(file, chunk);
    if (length === 0)
      return { kind: "read", bytes: chunks.length === 1 ? (chunks[0] ?? chunk) : Buffer.concat(chunks) };
    total += length;
    if (total > maxBytes) return { kind: "too-large" };
    chunks.push(chunk.subarray(0, length));
  }
}
