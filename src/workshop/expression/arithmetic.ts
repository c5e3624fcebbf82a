import { isDeepStrictEqual } from "node:util";
import type { Operator } from "./expression.ts";

/** Amounts of money come out as people compute them: 0.1 + 0.2 is 0.3. */
const DECIMALS = 10;

/** Of two values; nothing where one is nothing, or where they cannot be computed with. */
export function compute(operator: Operator, left: unknown, right: unknown): unknown {
  if (operator === "==") return isSame(left, right);
  if (operator === "!=") return !isSame(left, right);
  if (left === null || right === null) return isOrder(operator) ? false : null;
  if (isOrder(operator)) return isOrdered(operator, left, right);
  if (operator === "+" && (typeof left === "string" || typeof right === "string")) return textOf(left) + textOf(right);
  if (typeof left !== "number" || typeof right !== "number") return null;
  return finite(rounded(calculate(operator, left, right), DECIMALS));
}

/** Halves away from zero, on the digits that are written: 1.005 becomes 1.01. */
export function rounded(value: number, decimals: number): number {
  if (Number.isSafeInteger(value)) return value + 0;
  const magnitude = Math.abs(value);
  // Numbers that are written with an exponent have no digits to look at.
  if (String(magnitude).includes("e")) return Number(value.toFixed(decimals));
  const moved = Math.round(Number(`${magnitude}e${decimals}`));
  // So large that the result would be written with an exponent: it has fewer decimals than that.
  if (moved >= 1e21) return Number.isInteger(value) ? value : Number(value.toPrecision(15));
  const result = Number(`${moved}e-${decimals}`);
  return value < 0 && result !== 0 ? -result : result;
}

/** Nothing, false, zero, empty text and empty lists are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== false && value !== 0 && value !== "";
}

/** As text stands in an answer for people: lists with commas, nothing as nothing. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "function") return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
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
