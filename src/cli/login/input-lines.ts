import { createInterface } from "node:readline";
import type { CancelSignal } from "../../async/cancellation.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";

/** The lines of standard input, one at a time. */
export class InputLines implements Disposable {
  readonly #reader = createInterface({ input: process.stdin, terminal: false });
  readonly #lines = this.#reader[Symbol.asyncIterator]();

  /** Undefined at the end of the input. */
  async next(signal: CancelSignal | undefined): Promise<string | undefined> {
    const { value, done } = await unlessAborted(this.#lines.next(), signal);
    return done ? undefined : value;
  }

  [Symbol.dispose](): void {
    this.#reader.close();
    // An open input would keep the program running.
    process.stdin.destroy();
  }
}
