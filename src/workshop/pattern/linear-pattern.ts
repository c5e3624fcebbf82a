import { parsePattern } from "./parse-pattern.ts";
import { compilePattern } from "./pattern-program.ts";
import { Scanner } from "./scanner.ts";
import type { StepBudget } from "./step-budget.ts";

/** A compiled pattern of a tool file. */
export interface LinearPattern {
  /** Whether it matches anywhere in the text; throws StepsExceeded if the budget is too small. */
  test(text: string, budget: StepBudget): boolean;
}

/**
 * Compiles a pattern whose tests take linear time. JavaScript's own engine backtracks, which can take forever for some
 * patterns and texts, and cannot be stopped. Throws UnusablePattern.
 */
export function linearPattern(source: string): LinearPattern {
  const scanner = new Scanner(compilePattern(parsePattern(source)));
  return { test: (text, budget) => scanner.finds(text, budget) };
}
