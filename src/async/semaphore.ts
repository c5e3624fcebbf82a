import { unlessAborted } from "./unless-aborted.ts";

/** Hands out a limited number of permits; callers wait in line if there is none. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  get hasFree(): boolean {
    return this.#free > 0;
  }

  /** Rejects with CANCELLED when the signal is aborted first. */
  async acquire(signal?: AbortSignal): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
  }

  release(): void {
    const [next] = this.#waiting;
    if (!next) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    let admit: () => void = () => {};
    const turn = new Promise<void>((resolve) => (admit = resolve));
    this.#waiting.add(admit);
    try {
      await unlessAborted(turn, signal);
    } catch (error) {
      // It may have received the permit at the same moment: pass it on.
      if (!this.#waiting.delete(admit)) this.release();
      throw error;
    }
  }
}
