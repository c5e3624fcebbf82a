import { randomBytes } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { checkOwnerOnly, writeOwnerOnly } from "./owner-only-file.ts";

/** Receives the new lines of a file. */
interface LineListener {
  /** Called when the file was replaced: earlier lines no longer count. */
  restart(): void;
  /** One complete line, and its position in the file in bytes. */
  line(text: string, at: number): void;
}

const CHUNK_BYTES = 256 * 1024;
const LINE_BYTES = 4 * 1024;

/**
 * An owner-only file of lines to which other processes also append: only new lines are read. The first line is its
 * name, by which a rewritten file is recognised.
 */
export class LineFile {
  readonly #path: string;
  readonly #platform: NodeJS.Platform;
  #name = "";
  /** The position after the last complete line that was read. */
  #read = 0;
  /** Whether a process died while writing: its incomplete line does not count. */
  #isTorn = false;

  constructor(path: string, platform: NodeJS.Platform) {
    this.#path = path;
    this.#platform = platform;
  }

  /** One call at a time. */
  async readOn(reader: LineListener): Promise<void> {
    await using file = await existing(this.#path);
    const size = file ? await this.#checkedSize(file) : 0;
    const name = file ? await nameOf(file, size) : "";
    if (name !== this.#name || size < this.#read) {
      reader.restart();
      this.#read = 0;
    }
    this.#name = name;
    if (file) await this.#readLines(file, size, reader);
    this.#isTorn = this.#read < size;
  }

  /** The name of the file that was last read; positions are valid only in this file. */
  get name(): string {
    return this.#name;
  }

  /** The line at this position; undefined if the file of that name is gone. */
  async lineAt(at: number, name: string): Promise<string | undefined> {
    await using file = await existing(this.#path);
    if (!file) return undefined;
    const size = await this.#checkedSize(file);
    if ((await nameOf(file, size)) !== name) return undefined;
    let line: Buffer = Buffer.alloc(0);
    for (let length = LINE_BYTES; ; length = CHUNK_BYTES) {
      const bytes = await bytesOf(file, at + line.length, Math.min(length, size - at - line.length));
      const end = bytes.indexOf("\n");
      line = Buffer.concat([line, end === -1 ? bytes : bytes.subarray(0, end)]);
      if (end !== -1) return line.toString("utf8");
      if (bytes.length === 0) return undefined;
    }
  }

  /** For the holder of the lock, right after `readOn`. */
  async append(line: string): Promise<void> {
    const before = this.#name === "" ? newName() : this.#isTorn ? "\n" : "";
    await using file: FileHandle = await open(this.#path, "a", 0o600);
    await file.writeFile(`${before}${line}\n`);
    // A power failure must not undo what was recorded.
    await file.datasync();
  }

  /** Replaces the file by these lines, unless `ready` throws. */
  async rewrite(lines: AsyncIterable<string>, ready: () => Promise<void>): Promise<void> {
    await writeOwnerOnly(this.#path, namedText(lines), ready);
  }

  /** Every complete line that was read, from the beginning. */
  async *lines(): AsyncGenerator<{ text: string; at: number }> {
    await using file = await existing(this.#path);
    if (file) yield* linesIn(file, 0, this.#read);
  }

  async #readLines(file: FileHandle, size: number, reader: LineListener): Promise<void> {
    for await (const { text, at, end } of linesIn(file, this.#read, size)) {
      reader.line(text, at);
      this.#read = end;
    }
  }

  async #checkedSize(file: FileHandle): Promise<number> {
    const { size, mode } = await file.stat();
    checkOwnerOnly(this.#path, { mode }, this.#platform);
    return size;
  }
}

/** Complete lines only. Positions are in bytes, because a cut may be inside a character. */
async function* linesIn(
  file: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<{ text: string; at: number; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let at = from;
  while (at + rest.length < to) {
    const bytes = await bytesOf(file, at + rest.length, Math.min(CHUNK_BYTES, to - at - rest.length));
    if (bytes.length === 0) return;
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    let start = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", start)) {
      yield { text: rest.toString("utf8", start, end), at: at + start, end: at + end + 1 };
      start = end + 1;
    }
    rest = rest.subarray(start);
    at += start;
  }
}

/** In parts that are large enough to be written. */
async function* namedText(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let part = newName();
  for await (const line of lines) {
    part += `${line}\n`;
    if (part.length < CHUNK_BYTES) continue;
    yield part;
    part = "";
  }
  yield part;
}

function newName(): string {
  return `${JSON.stringify({ file: randomBytes(16).toString("hex") })}\n`;
}

const NAME_BYTES = newName().length;

async function nameOf(file: FileHandle, size: number): Promise<string> {
  return (await bytesOf(file, 0, Math.min(NAME_BYTES, size))).toString("utf8");
}

async function existing(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function bytesOf(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
