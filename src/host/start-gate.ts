import { unlessAborted } from "./unless-aborted.ts";

/** A start that takes longer makes room for another, as long as few do. */
const SLOW_MS = 5_000;

/**
 * Lets a number of servers start at the same time; the others wait in line. A start that is slow, or hangs, gives its
 * place to the next, but never more of them than there are places: at most twice as many are starting.
 */
export class StartGate {
  readonly #waiting = new Set<() => void>();
  #free: number;
  #freeForSlow: number;

  constructor(atOnce: number) {
    this.#free = this.#freeForSlow = atOnce;
  }

  async through<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let isSlow = false;
    const timer = setInterval(() => {
      if (this.#freeForSlow === 0) return;
      clearInterval(timer);
      isSlow = true;
      this.#freeForSlow--;
      this.#leave();
    }, SLOW_MS);
    try {
      return await run();
    } finally {
      clearInterval(timer);
      if (isSlow) this.#freeForSlow++;
      else this.#leave();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    let enter: () => void = () => {};
    const turn = new Promise<void>((resolve) => (enter = resolve));
    this.#waiting.add(enter);
    try {
      await unlessAborted(turn, signal);
    } catch (error) {
      // Its turn may have come at the same moment: then it is the next one's.
      if (!this.#waiting.delete(enter)) this.#leave();
      throw error;
    }
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (!next) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
