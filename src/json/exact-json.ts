import { randomUUID } from "node:crypto";
import { isExact } from "./exact-number.ts";
import { decimalText } from "./decimal-text.ts";

/** A number with this many digits may not be exact as a double. */
const LONG = /\d{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** The most digits of a double; longer numbers are read as infinite. */
const MOST_DIGITS = 309;

/** Parses JSON; whole numbers that a double cannot hold exactly become bigints. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!mayHaveLongNumbers(text)) return value;
  // Random, so that nothing in the text can be mistaken for it.
  const mark = randomUUID();
  const marked = outsideOfTexts(text, (numbers) =>
    numbers.replaceAll(NUMBER, (token) => (isLong(token) ? JSON.stringify(mark + wholeDigits(token)) : token)),
  );
  if (marked === text) return value;
  return JSON.parse(marked, (_, member: unknown) =>
    typeof member === "string" && member.startsWith(mark) ? BigInt(member.slice(mark.length)) : member,
  );
}

/** Whether `parseExactJson` may give bigints for this text. */
export function mayHaveLongNumbers(text: string): boolean {
  return LONG.test(text);
}

/** Writes JSON; bigints become numbers with all their digits. */
export function exactJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  const mark = randomUUID();
  const text = JSON.stringify(value, (_, member: unknown) =>
    typeof member === "bigint" ? `${mark}${member}` : member,
  );
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** Writes JSON; whole numbers that a double cannot hold exactly become strings of their digits. */
export function exactText(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value, (_, member: unknown) => plainMember(member)) ?? "nothing";
}

/** The same value with the digits of bigints as strings, for readers of plain JSON. */
export function withoutBigints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBigints);
  if (typeof value !== "object" || value === null) return plainMember(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutBigints(member)]));
}

/** Whether a whole number keeps its digits as a double, when it is read and written again. */
export function survives(value: bigint): boolean {
  return decimalText(Number(value)) === String(value);
}

/** The same for a number as text. Fractions always keep enough digits. */
export function survivesAsNumber(text: string): boolean {
  const whole = wholeNumber(text);
  return whole === undefined ? Number.isFinite(Number(text)) : survives(whole);
}

/** The whole number in a text; undefined if it is not one, or has more digits than any double. */
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

/** Rewrites the parts of a JSON document outside strings. */
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

/** The position after the closing quote, in valid JSON. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
