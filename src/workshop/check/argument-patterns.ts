import { linearPattern } from "../pattern/linear-pattern.ts";
import { StepBudget, StepsExceeded } from "../pattern/step-budget.ts";

/** The patterns of one tool's arguments. All texts of a call share one budget. */
export class ArgumentPatterns {
  readonly #budget = new StepBudget();
  #isExceeded = false;

  /** Resets the budget for the next call. */
  renew(): void {
    this.#budget.renew();
    this.#isExceeded = false;
  }

  /** Whether some text of this call was not checked: then the results of patterns are meaningless. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** For the validator. */
  compile(source: string): { test(text: string): boolean; toString(): string } {
    const pattern = linearPattern(source);
    return {
      test: (text) => {
        if (this.#isExceeded) return false;
        try {
          return pattern.test(text, this.#budget);
        } catch (error) {
          if (!(error instanceof StepsExceeded)) throw error;
          this.#isExceeded = true;
          return false;
        }
      },
      // The validator distinguishes patterns by it.
      toString: () => source,
    };
  }
}
