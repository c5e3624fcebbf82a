import { open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";

/** A place in a log that is turned over: which file it was, and how far it was read. */
interface LogPosition {
  /** Undefined where there is no file yet. */
  inode: number | undefined;
  bytes: number;
}

const LOOK_EVERY_MS = 200;

/** The last lines of a server's log, the older file included, and where reading may go on. */
export async function lastLines(file: string, count: number): Promise<{ lines: string[]; end: LogPosition }> {
  const older = await textOf(`${file}.1`);
  const inode = await inodeOf(file);
  const newer = await textOf(file);
  const lines = Buffer.concat([older, newer]).toString("utf8").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return { lines: count === 0 ? [] : lines.slice(-count), end: { inode, bytes: newer.length } };
}

export interface Following {
  from: LogPosition;
  onLine: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Tells each line that is added, until the signal fires. It looks again and again: systems differ in what they tell of
 * a file that is renamed, and one that another machine writes to tells nothing.
 */
export async function followLog(file: string, { from, onLine, signal }: Following): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let position = from;
  let partial = "";
  const take = (bytes: Buffer) => {
    const pieces = (partial + decoder.write(bytes)).split(/\r?\n/);
    partial = pieces.pop() ?? "";
    for (const line of pieces) onLine(line);
  };
  while (!signal.aborted) {
    const inode = await inodeOf(file);
    if (position.inode !== undefined && inode !== undefined && inode !== position.inode) {
      // It was turned over: what was added to the old file before that comes first.
      take(await readFrom(`${file}.1`, position.bytes));
      position = { inode, bytes: 0 };
    }
    if (inode !== undefined) {
      const added = await readFrom(file, position.bytes);
      take(added);
      position = { inode, bytes: position.bytes + added.length };
    }
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function textOf(file: string): Promise<Buffer> {
  return readFile(file).catch(() => Buffer.alloc(0));
}

async function inodeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ ino }) => ino,
    () => undefined,
  );
}

async function readFrom(file: string, start: number): Promise<Buffer> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    if (size <= start) return Buffer.alloc(0);
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  }
}
