import { isDeepStrictEqual } from "node:util";
import { NexusError } from "../../errors/nexus-error.ts";
import { isTrue, textOf } from "./arithmetic.ts";
import { isSpread, type Expression, type Scope, type Operator } from "./expression.ts";
import { signatureOf } from "./functions.ts";
import { isDate } from "./calendar.ts";

/** Results are rounded as people expect: 0.1 + 0.2 is 0.3. */
const DECIMALS = 10;

const MS_PER_DAY = 86_400_000;
/** The functions that are always available and take values; those with conditions on items are in the evaluator. */
const BUILT_IN: Readonly<Record<string, (...given: unknown[]) => unknown>> = {
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

/** Limits the steps for one value, because nested lists multiply. */
const MAX_STEPS = 1_000_000;

/**
 * The value of an expression. Absent values are null; only own members of plain values can be read. `functions`: those
 * that are not always available; default: the functions in the scope.
 */
export function evaluate(expression: Expression, scope: Scope, functions: object = scope): unknown {
  return new Evaluation(scope, functions).value(expression, []);
}

class Evaluation {
  readonly #scope: Scope;
  readonly #functions: Scope;
  #steps = 0;

  constructor(scope: Scope, functions: object) {
    this.#scope = scope;
    this.#functions = functions as Scope;
  }

  /** `items`: the current items of `count(list, condition)` and similar functions, innermost first. */
  value(expression: Expression, items: readonly unknown[]): unknown {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw new NexusError("CONFIG_INVALID", "An expression takes too long to compute");
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "name":
        return this.#named(expression.name, items);
      case "member":
        return this.#member(expression, items);
      case "item":
        return plain(listOf(this.value(expression.of, items))[expression.index]);
      case "spread":
        return listOf(this.value(expression.of, items));
      case "not":
        return !isTrue(this.value(expression.of, items));
      case "minus":
        return compute("-", 0, this.value(expression.of, items));
      case "call":
        return this.#call(expression, items);
      case "binary":
        return this.#binary(expression, items);
    }
  }

  #named(name: string, items: readonly unknown[]): unknown {
    const holder = items.find((item) => hasMember(item, name));
    if (holder !== undefined) return memberOf(holder, name);
    if (name === "item" && items.length > 0) return plain(items[0]);
    return memberOf(this.#scope, name);
  }

  #member({ of, name }: Extract<Expression, { kind: "member" }>, items: readonly unknown[]): unknown {
    const value = this.value(of, items);
    if (!isSpread(of)) return memberOf(value, name);
    return listOf(value).flatMap((item) => {
      this.#steps += 1;
      return listOf(memberOf(item, name));
    });
  }

  #binary({ operator, left, right }: Extract<Expression, { kind: "binary" }>, items: readonly unknown[]): unknown {
    if (operator === "and") return isTrue(this.value(left, items)) && isTrue(this.value(right, items));
    if (operator === "or") return isTrue(this.value(left, items)) || isTrue(this.value(right, items));
    return compute(operator, this.value(left, items), this.value(right, items));
  }

  #call({ name, given }: Extract<Expression, { kind: "call" }>, items: readonly unknown[]): unknown {
    if (signatureOf(name)?.each) return this.#overItems(name, given, items);
    const values = given.map((argument) => this.value(argument, items));
    const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
    if (builtIn) return builtIn(...values);
    const provided = Object.hasOwn(this.#functions, name) ? this.#functions[name] : undefined;
    if (typeof provided !== "function") throw new NexusError("CONFIG_INVALID", `${name}() is not available here`);
    // Functions of the scope are ours; their results are checked like any value.
    return plain((provided as (...given: unknown[]) => unknown)(...values));
  }

  #overItems(name: string, [list, each]: readonly Expression[], items: readonly unknown[]): unknown {
    const all = list ? listOf(this.value(list, items)) : [];
    const ofItem = (item: unknown) => (each ? this.value(each, [item, ...items]) : plain(item));
    if (name === "first") return plain(all.find((item) => !each || isTrue(ofItem(item))));
    if (name === "count") return each ? all.filter((item) => isTrue(ofItem(item))).length : all.length;
    const numbers = all.map(ofItem).filter((value) => typeof value === "number");
    return numbers.reduce((sum, value) => rounded(sum + value, 10), 0);
  }
}

function hasMember(value: unknown, name: string): boolean {
  // Only plain objects: lists and texts have members that are not data.
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name);
}

function memberOf(value: unknown, name: string): unknown {
  return hasMember(value, name) ? plain((value as Record<string, unknown>)[name]) : null;
}

/** Functions are not values, and absent is null. */
function plain(value: unknown): unknown {
  return value === undefined || typeof value === "function" ? null : value;
}

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

/** Computes with two values; null if one is null or they cannot be combined. */
function compute(operator: Operator, left: unknown, right: unknown): unknown {
  if (operator === "==") return isSame(left, right);
  if (operator === "!=") return !isSame(left, right);
  if (left === null || right === null) return isOrder(operator) ? false : null;
  if (isOrder(operator)) return isOrdered(operator, left, right);
  if (operator === "+" && (typeof left === "string" || typeof right === "string")) return textOf(left) + textOf(right);
  if (typeof left !== "number" || typeof right !== "number") return null;
  return finite(rounded(calculate(operator, left, right), DECIMALS));
}

/** Rounds half away from zero by the written digits: 1.005 becomes 1.01. */
function rounded(value: number, decimals: number): number {
  if (Number.isSafeInteger(value)) return value + 0;
  const magnitude = Math.abs(value);
  // Numbers with an exponent have no digits to round.
  if (String(magnitude).includes("e")) return Number(value.toFixed(decimals));
  const moved = Math.round(Number(`${magnitude}e${decimals}`));
  // A number this large has no decimals left to round.
  if (moved >= 1e21) return Number.isInteger(value) ? value : Number(value.toPrecision(15));
  const result = Number(`${moved}e-${decimals}`);
  return value < 0 && result !== 0 ? -result : result;
}

function isSame(left: unknown, right: unknown): boolean {
  return typeof left === "object" && left !== null ? isDeepStrictEqual(left, right) : left === right;
}

function isOrder(operator: Operator): boolean {
  return operator === "<" || operator === "<=" || operator === ">" || operator === ">=";
}

/** Dates are text, and their order as text is their order in time. */
function isOrdered(operator: Operator, left: unknown, right: unknown): boolean {
  const alike = typeof left === typeof right && (typeof left === "number" || typeof left === "string");
  if (!alike) return false;
  const [a, b] = [left as number, right as number];
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

function calculate(operator: Operator, left: number, right: number): number {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  return operator === "*" ? left * right : left / right;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
