import { unlessAborted } from "./unless-aborted.ts";

/** A start that takes longer makes room for another, as long as few do. */
const SLOW_MS = 5_000;

export interface Urgency {
  /** Gives the start up while it waits in line. */
  signal?: AbortSignal | undefined;
  /** Fires when somebody waits for it. */
  wanted?: AbortSignal | undefined;
}

/**
 * Lets a number of servers start at the same time; the others wait in line. Starts that somebody waits for have as many
 * places again: a call does not wait for servers that hang, and that it does not need.
 */
export class StartGate {
  readonly #anyStart: StartLine;
  readonly #wantedStart: StartLine;

  constructor(atOnce: number) {
    this.#anyStart = new StartLine(atOnce);
    this.#wantedStart = new StartLine(atOnce);
  }

  async through<T>(run: () => Promise<T>, urgency: Urgency = {}): Promise<T> {
    const line = await this.#enter(urgency);
    return line.hold(run);
  }

  async #enter({ signal, wanted }: Urgency): Promise<StartLine> {
    if (!wanted?.aborted) {
      const leaving = [signal, wanted].filter((each) => each !== undefined);
      try {
        return await this.#anyStart.enter(AbortSignal.any(leaving));
      } catch (error) {
        if (!wanted?.aborted || signal?.aborted) throw error;
      }
    }
    return (this.#anyStart.hasPlace ? this.#anyStart : this.#wantedStart).enter(signal);
  }
}

/**
 * So many places, and those who wait for one. A start that is slow, or hangs, gives its place to the next, but never more
 * of them than there are places: at most twice as many are starting.
 */
class StartLine {
  readonly #waiting = new Set<() => void>();
  #free: number;
  #freeForSlow: number;

  constructor(places: number) {
    this.#free = this.#freeForSlow = places;
  }

  get hasPlace(): boolean {
    return this.#free > 0;
  }

  /** Takes a place; `hold` gives it back. */
  async enter(signal: AbortSignal | undefined): Promise<this> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    return this;
  }

  async hold<T>(run: () => Promise<T>): Promise<T> {
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
