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

/** What could not be done is tried again after this time. */
const AGAIN_MS = 400;

export interface RepeatedRunsOptions {
  /** Called for the first of several failures in a row. */
  onFailure: (error: unknown) => void;
}

/** The same for a function that may reject: then it is run again after a pause, until it succeeds. */
export class RepeatedRuns {
  readonly #work: () => Promise<void>;
  readonly #options: RepeatedRunsOptions;
  readonly #runs = new CoalescedRuns(() => this.#runOnce());
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(work: () => Promise<void>, options: RepeatedRunsOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** Resolves when a run that began after this call has ended, whether or not it succeeded. */
  run(): Promise<void> {
    return this.#runs.run();
  }

  /** No run begins after this. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #runOnce(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    try {
      await this.#work();
      this.#isFailing = false;
    } catch (error) {
      if (this.#isClosed) return;
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
      this.#timer = setTimeout(() => void this.run(), AGAIN_MS).unref();
    }
  }
}
