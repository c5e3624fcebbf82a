import { parsePattern } from "./parse-pattern.ts";
import { compilePattern } from "./pattern-program.ts";
import { Scanner } from "./scanner.ts";
import type { StepBudget } from "./step-budget.ts";

/** A pattern that was not written here. */
export interface LinearPattern {
  /** Whether it matches somewhere in the text; throws StepsExceeded where the budget does not allow to find out. */
  test(text: string, budget: StepBudget): boolean;
}

/**
 * Compiles a pattern so that a test takes time in proportion to the length of the text. JavaScript's own engine tries one
 * way after the other, which for some patterns and texts takes for ever, and cannot be stopped. Throws UnusablePattern.
 */
export function linearPattern(source: string): LinearPattern {
  const scanner = new Scanner(compilePattern(parsePattern(source)));
  return { test: (text, budget) => scanner.finds(text, budget) };
}
