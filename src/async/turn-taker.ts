/** Between two turns: one whose end causes the next would go round without a breath. */
const PAUSE_MS = 20;

/** Does something one turn at a time: who wants it during a turn gets the next, and all who do share that one. */
export class TurnTaker {
  readonly #turn: () => Promise<void>;
  #now: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `turn` never rejects. */
  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  /** Settles when a turn that began after this was called is over. */
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
    this.#now = this.#turn().finally(() => (this.#now = undefined));
    return this.#now;
  }
}
