import { isTrue } from "./arithmetic.ts";
import { listOf, evaluate } from "./evaluate.ts";
import type { Scope } from "./expression.ts";
import { parseExpression } from "./parse.ts";

/** Maximum number of repetitions of one item, which a caller may set. */
const MAX_TIMES = 1_000;

/**
 * `{each, as, when?, times?, give}`: a list with one `give`, or `times` of it, for every item for which `when` is true.
 */
interface Repetition {
  each: string;
  as: string;
  when?: string;
  times?: string;
  give: unknown;
}

/**
 * A value in which texts that begin with `=` are computed and repetitions become lists; in a list, the items of a
 * repetition are inserted. Null members are left out.
 */
export function fillTemplate(value: unknown, scope: Scope): unknown {
  const computed = expressionIn(value);
  if (computed !== undefined) return evaluate(parseExpression(computed), scope);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      const filled = fillTemplate(item, scope);
      return repetitionIn(item) ? filled : [filled];
    });
  }
  if (typeof value !== "object" || value === null) return value;
  const repetition = repetitionIn(value);
  if (repetition) return repeated(repetition, scope);
  const members = Object.entries(value).map(([key, member]) => [key, fillTemplate(member, scope)] as const);
  // fromEntries defines members, so a key named __proto__ stays a key.
  return Object.fromEntries(members.filter(([, member]) => member !== null && member !== undefined));
}

/** The expression of a text in a template, if it is one. */
export function expressionIn(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith("=") ? value.slice(1) : undefined;
}

export function repetitionIn(value: unknown): Repetition | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (!Object.hasOwn(value, "each") || !Object.hasOwn(value, "give")) return undefined;
  const { each, as, when, times, give } = value as Record<string, unknown>;
  if (typeof each !== "string") return undefined;
  const condition = typeof when === "string" ? { when: expressionIn(when) ?? when } : {};
  const often = typeof times === "string" ? { times: expressionIn(times) ?? times } : {};
  return { each: expressionIn(each) ?? each, as: typeof as === "string" ? as : "item", ...condition, ...often, give };
}

function repeated({ each, as, when, times, give }: Repetition, scope: Scope): unknown[] {
  const condition = when === undefined ? undefined : parseExpression(when);
  const often = times === undefined ? undefined : parseExpression(times);
  return listOf(evaluate(parseExpression(each), scope))
    .map((item): Scope => ({ ...scope, [as]: item }))
    .filter((inner) => !condition || isTrue(evaluate(condition, inner)))
    .flatMap((inner) => {
      const count = often === undefined ? 1 : timesOf(evaluate(often, inner));
      return Array.from({ length: count }, () => fillTemplate(give, inner));
    });
}

function timesOf(value: unknown): number {
  return typeof value === "number" ? Math.min(Math.max(Math.trunc(value), 0), MAX_TIMES) : 0;
}
