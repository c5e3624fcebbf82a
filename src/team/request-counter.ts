import type { ExceededLimit } from "../gateway/operation/allowance.ts";

/** Counts requests against one limit: so many in a window, which starts with the first one. */
export interface RequestCounter {
  readonly limit: ExceededLimit;
  /** Counts as many of these requests as the limit allows, and says how many that are. */
  take(requests: number): number | Promise<number>;
  /** The window in which it counts now. */
  readonly window: number;
  /** Takes back what was counted in a window for requests that another limit refused. Nothing where that window is over. */
  giveBack(requests: number, window: number): void;
  /** When the window ends. */
  readonly retryAfterMs: number;
  /** Another number for the same window. */
  setMax(max: number): void;
  close(): Promise<void>;
}

/** A counter of one process. */
export class WindowCounter implements RequestCounter {
  limit: ExceededLimit;
  readonly #now: () => number;
  #used = 0;
  #endsAt = -Infinity;

  constructor(limit: ExceededLimit, now: () => number = () => performance.now()) {
    this.limit = limit;
    this.#now = now;
  }

  take(requests: number): number {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#used = 0;
      this.#endsAt = now + this.limit.windowMs;
    }
    const taken = Math.max(0, Math.min(requests, this.limit.max - this.#used));
    this.#used += taken;
    return taken;
  }

  get window(): number {
    return this.#endsAt;
  }

  giveBack(requests: number, window: number): void {
    if (window === this.#endsAt) this.#used -= requests;
  }

  get retryAfterMs(): number {
    return Math.max(1, Math.ceil(this.#endsAt - this.#now()));
  }

  setMax(max: number): void {
    this.limit = { ...this.limit, max };
  }

  async close(): Promise<void> {}
}
