/** About 50 ms. Usual arguments take a few hundred. */
const STEPS = 2_000_000;

/** Limits the work of all patterns of one document or call. */
export class StepBudget {
  #left = STEPS;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsExceeded("checking patterns takes too long for this much text");
  }

  /** Nothing more can be found out: what is still to be checked need not be tried. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** Resets it for the next call. */
  renew(): void {
    this.#left = STEPS;
  }
}

/** The budget was too small to find out whether a pattern matches. */
export class StepsExceeded extends Error {
  override readonly name = "StepsExceeded";
}
