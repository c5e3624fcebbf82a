import { Semaphore } from "../../async/semaphore.ts";

/** A slow start makes room for another one, up to a limit. */
const SLOW_MS = 5_000;

export interface Urgency {
  /** Cancels the start while it waits in the queue. */
  signal?: AbortSignal | undefined;
  /** Aborted when a caller waits for the start. */
  wanted?: AbortSignal | undefined;
}

/**
 * Limits the number of servers that start at the same time; the others wait. Starts that a caller waits for have as
 * many permits again, so a call does not wait for servers that hang and that it does not need.
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
    return (this.#anyStart.hasFree ? this.#anyStart : this.#wantedStart).enter(signal);
  }
}

/**
 * Permits for starts. A start that is slow or hangs passes its permit on, but at most as many as there are permits: at
 * most twice the number are starting.
 */
class StartLine {
  readonly #permits: Semaphore;
  #freeForSlow: number;

  constructor(permits: number) {
    this.#permits = new Semaphore(permits);
    this.#freeForSlow = permits;
  }

  get hasFree(): boolean {
    return this.#permits.hasFree;
  }

  /** `hold` returns the permit. */
  async enter(signal: AbortSignal | undefined): Promise<this> {
    await this.#permits.acquire(signal);
    return this;
  }

  async hold<T>(run: () => Promise<T>): Promise<T> {
    let isSlow = false;
    const timer = setInterval(() => {
      if (this.#freeForSlow === 0) return;
      clearInterval(timer);
      isSlow = true;
      this.#freeForSlow--;
      this.#permits.release();
    }, SLOW_MS);
    try {
      return await run();
    } finally {
      clearInterval(timer);
      if (isSlow) this.#freeForSlow++;
      else this.#permits.release();
    }
  }
}
