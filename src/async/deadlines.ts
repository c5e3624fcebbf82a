import type { NexusError } from "../errors/nexus-error.ts";

/** Something whose time runs out unless it is removed first. */
export interface Timed {
  /** How long it still has; infinite while its clock stands. */
  readonly remainingMs: number;
  expire(): void;
  stop(error: NexusError): void;
  /** Where it stands in the list; kept by Deadlines. */
  slot: number;
}

/**
 * Watches the time of many calls with one timer. A timer of its own would cost a call more than its matching and
 * parsing together; this one is armed for the earliest deadline and looks around when it fires.
 */
export class Deadlines {
  readonly #watched: Timed[] = [];
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;

  add(timed: Timed): void {
    timed.slot = this.#watched.length;
    this.#watched.push(timed);
    this.wakeWithin(timed.remainingMs);
  }

  remove(timed: Timed): void {
    if (this.#watched[timed.slot] !== timed) return;
    const last = this.#watched.pop();
    if (!last || last === timed) return;
    this.#watched[timed.slot] = last;
    last.slot = timed.slot;
  }

  /** Makes sure of a look around in that time, or sooner. */
  wakeWithin(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#wakeAt) return;
    this.#wakeAt = at;
    clearTimeout(this.#timer);
    // It is the connection that keeps a process alive for its calls, not this.
    this.#timer = setTimeout(this.#wake, Math.max(1, Math.min(ms, LONGEST_MS))).unref();
  }

  /** Everything that still runs is over. */
  stopAll(error: NexusError): void {
    clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
    for (const timed of this.#watched.slice()) timed.stop(error);
  }

  readonly #wake = () => {
    this.#wakeAt = Infinity;
    let next = Infinity;
    // A copy: whoever expires leaves the list.
    for (const timed of this.#watched.slice()) {
      const left = timed.remainingMs;
      if (left <= 0) timed.expire();
      else next = Math.min(next, left);
    }
    if (next !== Infinity) this.wakeWithin(next);
  };
}

/** The longest that setTimeout can wait. */
const LONGEST_MS = 2 ** 31 - 1;
