/** The pause between two runs, so that a run that causes the next one does not repeat without a break. */
const PAUSE_MS = 20;

/** Runs one function, never twice at a time: calls during a run share the next one. */
export class CoalescedRuns {
  readonly #work: () => Promise<void>;
  #now: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when a run that began after this call has ended. */
  run(): Promise<void> {
    if (this.#next) return this.#next;
    if (!this.#now) return this.#begin();
    this.#next = this.#now
      .then(() => new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS)))
      .then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    this.#now = this.#work().finally(() => (this.#now = undefined));
    return this.#now;
  }
}
