import type { WindowUse } from "./stored-counter.ts";

/** A part that is used up faster is too small. */
const QUICK_MS = 100;

/** Of what is left, a process takes no larger part: of a window of its own, and of one that others use as well. */
const LARGEST = { alone: 1 / 4, shared: 1 / 32 };

/**
 * How many requests a process counts ahead where a write in the database takes the time of some calls. Slow callers are counted
 * one by one, and the parts of fast ones are doubled, so that a call costs no more with large limits. The last requests
 * of a window are counted one by one again: what one process holds and does not use is missing for the others.
 */
export class GrowingPart {
  #size = 1;
  #askedAt = -Infinity;

  /** The size of the next one. */
  next({ free, isShared, now }: WindowUse): number {
    const took = now - this.#askedAt;
    if (took < QUICK_MS) this.#size *= 2;
    else if (took >= 10 * QUICK_MS) this.#size = 1;
    this.#askedAt = now;
    this.#size = Math.max(1, Math.min(this.#size, Math.floor(free * (isShared ? LARGEST.shared : LARGEST.alone))));
    return this.#size;
  }
}
