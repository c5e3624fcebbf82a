import { isTrue } from "./arithmetic.ts";
import { listOf } from "./built-in.ts";
import { evaluate } from "./evaluate.ts";
import type { Scope } from "./expression.ts";
import { parseExpression } from "./parse.ts";

/** `{each, as, when?, give}`: a list with one `give` for every item that `when` is true for. */
export interface Repetition {
  each: string;
  as: string;
  when?: string;
  give: unknown;
}

/**
 * A value in which texts that begin with `=` are computed, and repetitions are lists; in a list, a repetition's items
 * join the others. Members that come out as nothing are left out.
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
  // fromEntries defines members: a key named __proto__ stays a key.
  return Object.fromEntries(members.filter(([, member]) => member !== null && member !== undefined));
}

/** The expression that a text of a template is, if it is one. */
export function expressionIn(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith("=") ? value.slice(1) : undefined;
}

export function repetitionIn(value: unknown): Repetition | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (!Object.hasOwn(value, "each") || !Object.hasOwn(value, "give")) return undefined;
  const { each, as, when, give } = value as Record<string, unknown>;
  if (typeof each !== "string") return undefined;
  const condition = typeof when === "string" ? { when: expressionIn(when) ?? when } : {};
  return { each: expressionIn(each) ?? each, as: typeof as === "string" ? as : "item", ...condition, give };
}

function repeated({ each, as, when, give }: Repetition, scope: Scope): unknown[] {
  const condition = when === undefined ? undefined : parseExpression(when);
  return listOf(evaluate(parseExpression(each), scope))
    .map((item): Scope => ({ ...scope, [as]: item }))
    .filter((inner) => !condition || isTrue(evaluate(condition, inner)))
    .map((inner) => fillTemplate(give, inner));
}
