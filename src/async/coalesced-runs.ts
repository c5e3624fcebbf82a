/** Between two runs: one whose end causes the next would repeat without a pause. */
const PAUSE_MS = 20;

/** Runs one function, never twice at a time: those who ask for it during a run share the next one. */
export class CoalescedRuns {
  readonly #work: () => Promise<void>;
  #now: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Settles when a run that began after this was called is over. */
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
