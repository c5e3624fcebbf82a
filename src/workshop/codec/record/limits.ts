import type { ScalarShape } from "../../file/model/tool-file.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { StepsExceeded, type StepBudget } from "../../pattern/step-budget.ts";

/** `budget`: for all texts of the same document. */
export type Limit = (value: unknown, budget: StepBudget) => string | undefined;

/** Checks the limits of a shape. Values of answers that break them are kept and reported. */
export function limitsOf(shape: ScalarShape): Limit | undefined {
  const limits = [...ofNumbers(shape), ...ofTexts(shape)];
  if (limits.length === 0) return undefined;
  return (value, budget) => {
    for (const limit of limits) {
      const problem = limit(value, budget);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function ofNumbers(shape: ScalarShape): Limit[] {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = shape;
  if (shape.type !== "integer" && shape.type !== "number") return [];
  const limits: Limit[] = [];
  // An exact number may be text.
  const isBelow = (value: unknown, limit: number) => Number(value) < limit;
  const isAbove = (value: unknown, limit: number) => Number(value) > limit;
  if (above !== undefined) limits.push((value) => (isAbove(value, above) ? undefined : `expected more than ${above}`));
  if (below !== undefined) limits.push((value) => (isBelow(value, below) ? undefined : `expected less than ${below}`));
  if (multipleOf !== undefined)
    limits.push((value) => (isMultiple(value, multipleOf) ? undefined : `expected a multiple of ${multipleOf}`));
  if (minimum !== undefined)
    limits.push((value) => (isBelow(value, minimum) ? `expected at least ${minimum}` : undefined));
  if (maximum !== undefined)
    limits.push((value) => (isAbove(value, maximum) ? `expected at most ${maximum}` : undefined));
  return limits;
}

/** By decimal digits: 0.3 is a multiple of 0.1, although the doubles are not. Text is not checked. */
function isMultiple(value: unknown, of: number): boolean {
  if (typeof value !== "number" || of <= 0) return true;
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function ofTexts({ type, minLength, maxLength, pattern }: ScalarShape): Limit[] {
  if (type === "integer" || type === "number") return [];
  const limits: Limit[] = [];
  // Characters as people and JSON Schema count them; a text never has more of them than UTF-16 units.
  const isLonger = (text: string, limit: number) => text.length > limit && Array.from(text).length > limit;
  const isShorter = (text: string, limit: number) => text.length < limit || Array.from(text).length < limit;
  if (minLength !== undefined) {
    limits.push((value) =>
      typeof value === "string" && isShorter(value, minLength)
        ? `expected at least ${minLength} characters`
        : undefined,
    );
  }
  if (maxLength !== undefined) {
    limits.push((value) =>
      typeof value === "string" && isLonger(value, maxLength) ? `expected at most ${maxLength} characters` : undefined,
    );
  }
  if (pattern !== undefined) limits.push(ofPattern(pattern));
  return limits;
}

const NOT_CHECKED = "was not checked against its pattern: there is too much text";

function ofPattern(source: string): Limit {
  const pattern = linearPattern(source);
  return (value, budget) => {
    if (typeof value !== "string") return undefined;
    // An error for each of a million texts would take half a minute.
    if (budget.isExceeded) return NOT_CHECKED;
    try {
      return pattern.test(value, budget) ? undefined : `expected text that matches ${JSON.stringify(source)}`;
    } catch (error) {
      if (error instanceof StepsExceeded) return NOT_CHECKED;
      throw error;
    }
  };
}
