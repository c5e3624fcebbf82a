// Not "node:fs/promises": `promises` of "node:fs" is loaded on first use, which makes short commands faster.
import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import { Turns } from "../../async/turns.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Writes a server's stderr to a file that only its owner can read, each line after the time at which it began; one older
 * file is kept.
 */
export class ServerLog {
  readonly file: string;
  readonly #writing = new Turns();
  #waiting = "";
  /** Whether the last text ended within a line. */
  #isInLine = false;

  constructor(file: string) {
    this.file = file;
  }

  write(text: string): void {
    if (text === "") return;
    // Limits the memory for a server that writes too much: what cannot be written in time is cut at the front.
    const isWriting = this.#waiting !== "";
    this.#waiting = (this.#waiting + this.#withTimes(text)).slice(-MAX_BYTES);
    if (!isWriting) void this.#writing.run(() => this.#flush());
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.#writing.ended();
  }

  #withTimes(text: string): string {
    const time = `${new Date().toISOString()} `;
    const first = this.#isInLine ? "" : time;
    this.#isInLine = !text.endsWith("\n");
    const lines = this.#isInLine ? text : text.slice(0, -1);
    return `${first}${lines.replaceAll("\n", `\n${time}`)}${this.#isInLine ? "" : "\n"}`;
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
