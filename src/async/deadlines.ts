import type { NexusError } from "../errors/nexus-error.ts";
import { inBackground, keepProcess } from "./event-loop.ts";

/** Something that expires unless it is removed first. */
export interface Timed {
  /** The remaining time; infinite while its clock is paused. */
  readonly remainingMs: number;
  expire(): void;
  stop(error: NexusError): void;
  /** Its index in the list; set by Deadlines. */
  slot: number;
}

/**
 * Watches the deadlines of many calls with one timer. A timer for each call would cost more than matching and parsing
 * its messages; this one is set to the earliest deadline and checks all when it fires.
 */
export class Deadlines {
  readonly #watched: Timed[] = [];
  readonly #keepsProcess: boolean;
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;

  /** `keepsProcess`: the process stays alive while something can expire, because nothing else would keep it alive. */
  constructor({ keepsProcess = false } = {}) {
    this.#keepsProcess = keepsProcess;
  }

  add(timed: Timed): void {
    timed.slot = this.#watched.length;
    this.#watched.push(timed);
    this.wakeWithin(timed.remainingMs);
  }

  remove(timed: Timed): void {
    if (this.#watched[timed.slot] !== timed) return;
    const last = this.#watched.pop();
    if (last && last !== timed) {
      this.#watched[timed.slot] = last;
      last.slot = timed.slot;
    }
    this.review();
  }

  /** Call this when something that is watched no longer expires. What never expires keeps no process alive. */
  review(): void {
    if (!this.#keepsProcess) return;
    keepProcess(
      this.#timer,
      this.#watched.some(({ remainingMs }) => remainingMs !== Infinity),
    );
  }

  /** Checks all deadlines in that time, or sooner. */
  wakeWithin(ms: number): void {
    const at = performance.now() + ms;
    if (at < this.#wakeAt) {
      this.#wakeAt = at;
      clearTimeout(this.#timer);
      // Usually the connection keeps the process alive for its calls, not this timer.
      this.#timer = inBackground(setTimeout(this.#wake, Math.max(1, Math.min(ms, LONGEST_MS))));
    }
    this.review();
  }

  /** Stops everything that is still running. */
  stopAll(error: NexusError): void {
    clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
    for (const timed of this.#watched.slice()) timed.stop(error);
  }

  readonly #wake = () => {
    this.#wakeAt = Infinity;
    let next = Infinity;
    // A copy: what expires is removed from the list.
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
