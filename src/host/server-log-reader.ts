import { open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";

/** A position in a rotated log: the file and the number of bytes read. */
interface LogPosition {
  /** Undefined if there is no file yet. */
  inode: number | undefined;
  bytes: number;
}

const LOOK_EVERY_MS = 200;

/** The last lines of a server's log, including the older file, and the position after them. */
export async function lastLines(file: string, count: number): Promise<{ lines: string[]; end: LogPosition }> {
  const older = await textOf(`${file}.1`);
  const inode = await inodeOf(file);
  const newer = await textOf(file);
  const lines = Buffer.concat([older, newer]).toString("utf8").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return { lines: count === 0 ? [] : lines.slice(-count), end: { inode, bytes: newer.length } };
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) /;

/** A line of the log and the time at which it was written; older versions wrote none. */
export function timedLine(text: string): { line: string; time: string | undefined } {
  const [prefix = "", time] = TIME.exec(text) ?? [];
  return { line: text.slice(prefix.length), time };
}

interface Following {
  from: LogPosition;
  onLine: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Reports each new line until the signal is aborted. Polls, because file watchers differ between systems when a file is
 * renamed, and report nothing for a file on another machine.
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
      // The log was rotated: the rest of the old file comes first.
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
