/** About 50 ms. Ordinary arguments take a few hundred. */
const STEPS = 2_000_000;

/** How much work the patterns of one document or one call may take, all together. */
export class StepBudget {
  #left = STEPS;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new StepsExceeded("checking patterns takes too long for this much text");
  }

  /** For the next call. */
  renew(): void {
    this.#left = STEPS;
  }
}

/** Whether a pattern matches was not found out. */
export class StepsExceeded extends Error {
  override readonly name = "StepsExceeded";
}
