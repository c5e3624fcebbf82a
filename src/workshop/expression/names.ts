import type { Expression } from "./expression.ts";
import { signatureOf } from "./functions.ts";

/**
 * The names that an expression needs: while one of them is absent, a rule is not checked. Not included: lists that are
 * counted or summed (absent is empty), names that are compared with null or used alone with `and`, `or` and `not`, and
 * names in conditions on items.
 */
export function namesIn(expression: Expression): string[] {
  return [...new Set(needed(expression, true))];
}

/** `asked`: only the presence of the value matters. */
function needed(expression: Expression, asked = false): string[] {
  switch (expression.kind) {
    case "literal":
      return [];
    case "name":
      return asked ? [] : [expression.name];
    case "member":
    case "item":
    case "spread":
      return needed(expression.of, asked);
    case "not":
      return needed(expression.of, true);
    case "minus":
      return needed(expression.of);
    case "call":
      return expression.given
        .slice(0, signatureOf(expression.name)?.each ? 1 : undefined)
        .flatMap((given, index) => needed(given, index === 0 && takesList(expression.name)));
    case "binary": {
      const { operator, left, right } = expression;
      const isAsked = operator === "and" || operator === "or" || isNull(left) || isNull(right);
      return [...needed(left, isAsked), ...needed(right, isAsked)];
    }
  }
}

function takesList(name: string): boolean {
  return signatureOf(name)?.each === true || name === "join" || name === "contains";
}

function isNull(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === null;
}

/** All names in an expression, needed or not. */
export function mentioned(expression: Expression): string[] {
  return expression.kind === "name" ? [expression.name] : innerOf(expression).flatMap(mentioned);
}

/** Whether an expression uses the function with that name. */
export function callsIn(expression: Expression, name: string): boolean {
  if (expression.kind === "call" && expression.name === name) return true;
  return innerOf(expression).some((inner) => callsIn(inner, name));
}

/** The expressions that an expression is directly made of. */
export function innerOf(expression: Expression): readonly Expression[] {
  if (expression.kind === "call") return expression.given;
  if (expression.kind === "binary") return [expression.left, expression.right];
  return "of" in expression ? [expression.of] : [];
}
