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
  switch (expression.kind) {
    case "literal":
      return [];
    case "name":
      return [expression.name];
    case "member":
    case "item":
    case "spread":
    case "not":
    case "minus":
      return mentioned(expression.of);
    case "call":
      return expression.given.flatMap(mentioned);
    case "binary":
      return [...mentioned(expression.left), ...mentioned(expression.right)];
  }
}

/** Whether an expression uses the function with that name. */
export function callsIn(expression: Expression, name: string): boolean {
  switch (expression.kind) {
    case "literal":
    case "name":
      return false;
    case "member":
    case "item":
    case "spread":
    case "not":
    case "minus":
      return callsIn(expression.of, name);
    case "call":
      return expression.name === name || expression.given.some((given) => callsIn(given, name));
    case "binary":
      return callsIn(expression.left, name) || callsIn(expression.right, name);
  }
}
