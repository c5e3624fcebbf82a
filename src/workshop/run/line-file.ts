import { randomBytes } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { checkOwnerOnly, writeOwnerOnly } from "../../auth/owner-only-file.ts";

/** What was found since the last look. */
export interface NewLines {
  /** The file is another one than before: what was known of it does not count. */
  isAnew: boolean;
  lines: string[];
}

/**
 * A file of lines for its owner alone, which others append to as well: only what is new is read. The first line is its name,
 * by which a file that was written anew is known.
 */
export class LineFile {
  readonly #path: string;
  readonly #platform: NodeJS.Platform;
  #name = "";
  /** How far it was read: the end of the last whole line. */
  #read = 0;
  /** Somebody died while writing: the rest of his line is there, and does not count. */
  #isTorn = false;

  constructor(path: string, platform: NodeJS.Platform) {
    this.#path = path;
    this.#platform = platform;
  }

  /** One at a time. */
  async next(): Promise<NewLines> {
    await using file = await existing(this.#path);
    if (!file) return this.#take("", Buffer.alloc(0));
    const { size, mode } = await file.stat();
    checkOwnerOnly(this.#path, { mode }, this.#platform);
    const name = (await bytesOf(file, 0, Math.min(NAME_BYTES, size))).toString("utf8");
    const isKnown = name === this.#name && size >= this.#read;
    const from = isKnown ? this.#read : 0;
    return this.#take(name, await bytesOf(file, from, size - from), isKnown);
  }

  /** For whoever holds the lock, right after `next`. */
  async append(line: string): Promise<void> {
    const before = this.#name === "" ? newName() : this.#isTorn ? "\n" : "";
    await using file: FileHandle = await open(this.#path, "a", 0o600);
    await file.writeFile(`${before}${line}\n`);
    // Nothing may happen that a power failure makes forgotten.
    await file.datasync();
  }

  /** All of it, in another file under the same path. */
  async rewrite(lines: readonly string[]): Promise<void> {
    await writeOwnerOnly(this.#path, `${newName()}${lines.map((line) => `${line}\n`).join("")}`);
  }

  /** Counted in bytes: what was cut off may end within a character. */
  #take(name: string, bytes: Buffer, isKnown = false): NewLines {
    const end = bytes.lastIndexOf("\n") + 1;
    this.#name = name;
    this.#read = (isKnown ? this.#read : 0) + end;
    this.#isTorn = end < bytes.length;
    return { isAnew: !isKnown, lines: bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1) };
  }
}

function newName(): string {
  return `${JSON.stringify({ file: randomBytes(16).toString("hex") })}\n`;
}

const NAME_BYTES = newName().length;

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
