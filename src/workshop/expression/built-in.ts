import { isDate } from "./calendar.ts";
import { isTrue, rounded, textOf } from "./arithmetic.ts";

const MS_PER_DAY = 86_400_000;

/** The functions that are always available and take values; those with conditions on items are in the evaluator. */
export const BUILT_IN: Readonly<Record<string, (...given: unknown[]) => unknown>> = {
  days: (from, to) => {
    const [start, end] = [dayOf(from), dayOf(to)];
    return start === undefined || end === undefined ? null : (end - start) / MS_PER_DAY;
  },
  round: (value, decimals) => {
    const places = typeof decimals === "number" ? Math.min(Math.max(Math.trunc(decimals), 0), 10) : 0;
    return typeof value === "number" ? rounded(value, places) : null;
  },
  if: (condition, value, other = null) => (isTrue(condition) ? value : other),
  min: (...given) => extreme(given, (a, b) => a < b),
  max: (...given) => extreme(given, (a, b) => a > b),
  join: (list, text) =>
    listOf(list)
      .map(textOf)
      .join(typeof text === "string" ? text : ", "),
  contains: (list, value) => listOf(list).includes(value),
  lower: (text) => (typeof text === "string" ? text.toLowerCase() : null),
  upper: (text) => (typeof text === "string" ? text.toUpperCase() : null),
};

/** Null is an empty list, and a single value is a list of one. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function dayOf(value: unknown): number | undefined {
  const [day] = (typeof value === "string" && /^\d{4}-\d{2}-\d{2}(?=$|T)/.exec(value)) || [];
  return day !== undefined && isDate(day) ? Date.parse(`${day}T00:00:00Z`) : undefined;
}

/** Of numbers or of texts; null values are ignored. */
function extreme(given: readonly unknown[], wins: (a: number, b: number) => boolean): unknown {
  const values = given.flatMap(listOf).filter((value) => typeof value === "number" || typeof value === "string");
  if (values.some((value) => typeof value !== typeof values[0])) return null;
  // Both are numbers or both are texts; < works for either.
  return values.reduce<unknown>((best, value) => {
    return best === null || wins(value as number, best as number) ? value : best;
  }, null);
}
