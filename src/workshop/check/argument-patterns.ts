import { linearPattern } from "../pattern/linear-pattern.ts";
import { StepBudget, StepsExceeded } from "../pattern/step-budget.ts";

/** The patterns of one tool's arguments. All texts of a call share one budget. */
export class ArgumentPatterns {
  readonly #budget = new StepBudget();
  #isExceeded = false;

  /** For the next call. */
  renew(): void {
    this.#budget.renew();
    this.#isExceeded = false;
  }

  /** Whether some text of this call was not checked: what was said about patterns means nothing then. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** As the validator uses it. */
  compile(source: string): { test(text: string): boolean; toString(): string } {
    const pattern = linearPattern(source);
    return {
      test: (text) => {
        try {
          return pattern.test(text, this.#budget);
        } catch (error) {
          if (!(error instanceof StepsExceeded)) throw error;
          this.#isExceeded = true;
          return false;
        }
      },
      // The validator tells patterns apart by it.
      toString: () => source,
    };
  }
}
