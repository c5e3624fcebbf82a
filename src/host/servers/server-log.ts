// Loaded when they are used, unlike "node:fs/promises", for which a short command has no time.
import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import { Turns } from "../../async/turns.ts";

const MAX_BYTES = 1024 * 1024;

/** What a server writes to stderr, kept in a file that only its owner can read; one older file is kept beside it. */
export class ServerLog {
  readonly file: string;
  readonly #writing = new Turns();
  #waiting = "";

  constructor(file: string) {
    this.file = file;
  }

  write(text: string): void {
    // A server that floods must not fill the memory: what cannot be written in time is cut at the front.
    const isWriting = this.#waiting !== "";
    this.#waiting = (this.#waiting + text).slice(-MAX_BYTES);
    if (!isWriting) void this.#writing.run(() => this.#flush());
  }

  /** Everything written so far is in the file. */
  settled(): Promise<void> {
    return this.#writing.ended();
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    await fs.mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    const size = await fs.stat(this.file).then(
      (found) => found.size,
      () => 0,
    );
    if (size + text.length > MAX_BYTES) await fs.rename(this.file, `${this.file}.1`).catch(() => {});
    await fs.appendFile(this.file, text, { mode: 0o600 });
  }
}
