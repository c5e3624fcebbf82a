import { isDeepStrictEqual } from "node:util";
import type { Operator } from "./expression.ts";

/** Results are rounded as people expect: 0.1 + 0.2 is 0.3. */
const DECIMALS = 10;

/** Computes with two values; null if one is null or they cannot be combined. */
export function compute(operator: Operator, left: unknown, right: unknown): unknown {
  if (operator === "==") return isSame(left, right);
  if (operator === "!=") return !isSame(left, right);
  if (left === null || right === null) return isOrder(operator) ? false : null;
  if (isOrder(operator)) return isOrdered(operator, left, right);
  if (operator === "+" && (typeof left === "string" || typeof right === "string")) return textOf(left) + textOf(right);
  if (typeof left !== "number" || typeof right !== "number") return null;
  return finite(rounded(calculate(operator, left, right), DECIMALS));
}

/** Rounds half away from zero by the written digits: 1.005 becomes 1.01. */
export function rounded(value: number, decimals: number): number {
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

/** Null, false, zero, empty text and empty lists are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== false && value !== 0 && value !== "";
}

/** A value as text for people: lists with commas, null as nothing. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "function") return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
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
