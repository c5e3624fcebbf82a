import { ExactDecimal, isDoubleText, keepsDigits } from "./exact-decimal.ts";
import { isExact } from "./exact-number.ts";
import { decimalText } from "./decimal-text.ts";

/** A number with this many digits, or with a large exponent, may not be exact as a double. */
const LONG = /(?:^|[\s:,[])-?\d(?:\d{15}|[\d.]{16}|[\d.]{0,16}[eE][+-]?\d{3})/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** The most digits of a double; longer numbers are read as infinite. */
const MOST_DIGITS = 309;

/** Parses JSON; numbers that a double cannot hold exactly become bigints if they are whole, else ExactDecimals. */
export function parseExactJson(text: string): unknown {
  return parsed(text, (token) => (isLong(token) ? wholeDigits(token) : keepsDigits(token) ? undefined : token));
}

/** Parses JSON; only whole numbers that a double cannot hold become something else: bigints. */
export function parseExactWholes(text: string): unknown {
  return parsed(text, (token) => (isLong(token) ? wholeDigits(token) : undefined));
}

/** `exactly` gives the digits of a number that a double cannot hold. */
function parsed(text: string, exactly: (token: string) => string | undefined): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG.test(text)) return value;
  const mark = newMark();
  const marked = outsideOfTexts(text, (numbers) =>
    numbers.replaceAll(NUMBER, (token) => {
      const digits = exactly(token);
      return digits === undefined ? token : JSON.stringify(mark + digits);
    }),
  );
  if (marked === text) return value;
  return JSON.parse(marked, (_, member: unknown) =>
    typeof member === "string" && member.startsWith(mark) ? exactNumberOf(member.slice(mark.length)) : member,
  );
}

/** Random, so that nothing in a text can be mistaken for it; short, because a text can have very many. */
function newMark(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
}

function exactNumberOf(digits: string): bigint | ExactDecimal {
  return /^-?\d+$/.test(digits) && digits.length <= MOST_DIGITS + 2 ? BigInt(digits) : new ExactDecimal(digits);
}

/** Writes JSON; bigints and ExactDecimals become numbers with all their digits. */
export function exactJson(value: unknown): string {
  return plainJson(value) ?? markedJson(value);
}

/** JSON as it is given to another thread: bytes are not copied, and need no memory of this one. */
export interface PackedJson {
  bytes: Uint8Array<ArrayBuffer>;
  /** Whether there are numbers in it that a double cannot hold. */
  isExact: boolean;
}

export function packJson(value: unknown): PackedJson {
  const plain = plainJson(value);
  return { bytes: new TextEncoder().encode(plain ?? markedJson(value)), isExact: plain === undefined };
}

export function unpackJson({ bytes, isExact }: PackedJson): unknown {
  const text = new TextDecoder().decode(bytes);
  // To look for exact numbers takes longer than to read all others.
  return isExact ? parseExactJson(text) : JSON.parse(text);
}

/** Undefined if there are exact numbers. */
function plainJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function markedJson(value: unknown): string {
  const mark = newMark();
  const text = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === "bigint") return `${mark}${member}`;
    return member instanceof ExactDecimal ? mark + member.text : member;
  });
  return text.replaceAll(new RegExp(`"${mark}([^"]+)"`, "g"), "$1");
}

/** Writes JSON; numbers that a double cannot hold exactly become strings of their digits. */
export function exactText(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (value instanceof ExactDecimal) return value.text;
  return JSON.stringify(value, (_, member: unknown) => plainMember(member)) ?? "nothing";
}

/** The same value with the digits of exact numbers as strings, for readers of plain JSON. */
export function withPlainNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (typeof value !== "object" || value === null || value instanceof ExactDecimal) return plainMember(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]));
}

/** Whether a whole number keeps its digits as a double, when it is read and written again. */
export function survives(value: bigint): boolean {
  return decimalText(Number(value)) === String(value);
}

/** The same for a number as text, which may have decimals. */
export function survivesAsNumber(text: string): boolean {
  const whole = wholeNumber(text);
  return whole === undefined ? keepsDigits(text) : survives(whole);
}

/** The same for a number that a person wrote, who may write more digits of a double than it needs. */
export function isExactAsNumber(text: string): boolean {
  const whole = wholeNumber(text);
  return whole === undefined ? isDoubleText(text) : survives(whole);
}

/** The whole number in a text; undefined if it is not one, or has more digits than any double. */
export function wholeNumber(text: string): bigint | undefined {
  return /^[+-]?\d+(?:\.0*)?$/.test(text) && text.length <= MOST_DIGITS + 2 ? BigInt(wholeDigits(text)) : undefined;
}

function plainMember(value: unknown): unknown {
  if (value instanceof ExactDecimal) return isDoubleText(value.text) ? Number(value.text) : value.text;
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
