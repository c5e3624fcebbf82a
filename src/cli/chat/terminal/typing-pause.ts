import { setImmediate } from "node:timers/promises";

/** A person who has typed nothing for so long has seen what is on the screen. */
const PAUSE_MS = 700;

/** Knows when the last key was pressed, so that no question comes in the middle of a word or of a pasted text. */
export class TypingPause {
  #lastKeyAt = -Infinity;
  #onKey = () => {};

  keyPressed(): void {
    this.#lastKeyAt = performance.now();
    this.#onKey();
  }

  /** What was typed was an answer that is complete: the next question need not wait. */
  lineEnded(): void {
    this.#lastKeyAt = -Infinity;
    this.#onKey();
  }

  /** Waits until no key was pressed for a while and `isBusy` is false after a key; or until the signal is aborted. */
  async wait(isBusy: () => boolean, signal?: AbortSignal): Promise<void> {
    // Keys that were typed before are in the buffer of the terminal, and are read first.
    await setImmediate();
    for (;;) {
      const leftMs = isBusy() ? Infinity : this.#lastKeyAt + PAUSE_MS - performance.now();
      if (leftMs <= 0 || signal?.aborted) return;
      await this.#nextKey(leftMs, signal);
    }
  }

  async #nextKey(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    await new Promise<void>((resolve) => {
      this.#onKey = onAbort = resolve;
      if (withinMs !== Infinity) timer = setTimeout(resolve, withinMs);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
