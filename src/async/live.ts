import { messageOf } from "../errors/nexus-error.ts";
import type { Logger } from "../text/logger.ts";
import { CoalescedRuns } from "./coalesced-runs.ts";

/** What could not be read is read again after this time. */
const AGAIN_MS = 400;

/** Calls the listener after each change, also by other processes. Returns a function that stops it. */
export type Changes = (changed: () => void) => Promise<() => void>;

export interface LiveOptions<T> {
  changes: Changes;
  /** Gets the value that was read before. */
  read: (before: T) => Promise<T>;
  /** Called with each value that is read again. Where it rejects, the value is read once more. */
  apply?: (value: T) => void | Promise<void>;
  /** For the warning: "changes of sets". */
  what: string;
  logger: Logger;
}

/**
 * A value that is kept in memory and read again after each change: never twice at a time, and again after a pause where
 * it could not be read. Until then the value stays what it was.
 */
export class Live<T> implements Disposable {
  readonly #options: LiveOptions<T>;
  readonly #runs = new CoalescedRuns(() => this.#readAgain());
  /** As it was read last. */
  value: T;
  #stop: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(initial: T, options: LiveOptions<T>) {
    this.value = initial;
    this.#options = options;
  }

  /** Follows changes, and reads the value. Rejects where either fails; then it is closed. */
  async open(): Promise<void> {
    try {
      // Before anything is read, so that no change in between is missed.
      await this.follow();
      this.value = await this.#options.read(this.value);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Follows changes without reading the value now. */
  async follow(): Promise<void> {
    if (this.#stop) return;
    this.#stop = await this.#options.changes(() => void this.refresh());
    if (this.#isClosed) this.#stop();
  }

  /** Resolves when a reading that began after this call has ended, whether or not it succeeded. */
  refresh(): Promise<void> {
    return this.#runs.run();
  }

  /** Nothing is read after this. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stop?.();
  }

  async #readAgain(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    const { read, apply, what, logger } = this.#options;
    try {
      this.value = await read(this.value);
      await apply?.(this.value);
      this.#isFailing = false;
    } catch (error) {
      if (this.#isClosed) return;
      if (!this.#isFailing) logger.warn(`${what} could not be read: ${messageOf(error)}`);
      this.#isFailing = true;
      this.#timer = setTimeout(() => void this.refresh(), AGAIN_MS).unref();
    }
  }
}
