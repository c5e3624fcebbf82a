import { unlessAborted } from "./unless-aborted.ts";

/** How long a start keeps others waiting: one that hangs must not hold its place for ever. */
const HOLD_MS = 1_500;

/** Lets so many start at a time; the others wait in line. */
export class StartGate {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async through<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    const leave = once(() => this.#leave());
    const timer = setTimeout(leave, HOLD_MS);
    try {
      return await run();
    } finally {
      clearTimeout(timer);
      leave();
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

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}
