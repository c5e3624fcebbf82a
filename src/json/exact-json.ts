import { randomUUID } from "node:crypto";
import { isExact } from "./exact-number.ts";
import { decimalText } from "./decimal-text.ts";

/** A number with so many digits may not be exact as a double. */
const LONG = /\d{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** The longest that a double has; what is longer is read as infinite. */
const MOST_DIGITS = 309;

/** A value of JSON in which whole numbers that no double holds exactly are bigints. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG.test(text)) return value;
  // Whoever wrote the text cannot know it, so nothing in the text is taken for it, in whatever way it is written there.
  const mark = randomUUID();
  const marked = outsideOfTexts(text, (numbers) =>
    numbers.replaceAll(NUMBER, (token) => (isLong(token) ? JSON.stringify(mark + wholeDigits(token)) : token)),
  );
  if (marked === text) return value;
  return JSON.parse(marked, (_, member: unknown) =>
    typeof member === "string" && member.startsWith(mark) ? BigInt(member.slice(mark.length)) : member,
  );
}

/** As JSON, with the digits of whole numbers that no double holds exactly as text. */
export function exactText(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value, (_, member: unknown) => plainMember(member)) ?? "nothing";
}

/** The same value for everybody who knows JSON alone: the digits of a bigint are text. */
export function withoutBigints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBigints);
  if (typeof value !== "object" || value === null) return plainMember(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutBigints(member)]));
}

/** Whether a whole number has the same digits as a double: whoever reads it and writes it again gets what was written. */
export function survives(value: bigint): boolean {
  return decimalText(Number(value)) === String(value);
}

/** The same of a number as it is written. Of fractions a double always keeps enough digits. */
export function survivesAsNumber(text: string): boolean {
  const whole = wholeNumber(text);
  return whole === undefined ? Number.isFinite(Number(text)) : survives(whole);
}

/** The whole number that a text says; undefined where it says another, or one of more digits than any double has. */
export function wholeNumber(text: string): bigint | undefined {
  return /^[+-]?\d+(?:\.0*)?$/.test(text) && text.length <= MOST_DIGITS + 2 ? BigInt(wholeDigits(text)) : undefined;
}

function plainMember(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function isLong(token: string): boolean {
  return !isExact(token) && wholeNumber(token) !== undefined;
}

function wholeDigits(text: string): string {
  return text.replace(/^\+/, "").replace(/\.0*$/, "");
}

/** Rewrites what stands between the texts of a JSON document. */
function outsideOfTexts(json: string, rewrite: (part: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', at)) {
    parts.push(rewrite(json.slice(at, start)));
    at = endOfText(json, start);
    parts.push(json.slice(start, at));
  }
  return [...parts, rewrite(json.slice(at))].join("");
}

/** Of valid JSON: behind the quote that no backslash escapes. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
