import { isExact } from "../../../json/exact-number.ts";

/** Thrown where the text is not simple YAML: the library reads it, or says what is wrong. */
export class NotSimple extends Error {}

const NUMBER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The value of a plain scalar by the core schema. Numbers that JSON or a double cannot hold are texts. */
export function plainValue(text: string): unknown {
  switch (text) {
    case "":
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
  }
  const first = text.charCodeAt(0);
  // Digits, plus, minus and dot.
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!mayBeNumber || NOT_FINITE.test(text) || !NUMBER.test(text)) return text;
  const value = Number(text);
  return isExact(text) || Number.isSafeInteger(value) ? value : text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  "\t": "\t",
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** What is after the backslash at `at`, and where it ends. */
export function escapeAt(text: string, at: number): { value: string; end: number } {
  const sign = text[at + 1] ?? "";
  const digits = HEX_DIGITS[sign];
  if (digits !== undefined) {
    const hex = text.slice(at + 2, at + 2 + digits);
    const code = /^[\da-fA-F]+$/.test(hex) && hex.length === digits ? parseInt(hex, 16) : Infinity;
    if (code > 0x10ffff) throw new NotSimple();
    return { value: String.fromCodePoint(code), end: at + 2 + digits };
  }
  const value = ESCAPES[sign];
  if (value === undefined) throw new NotSimple();
  return { value, end: at + 2 };
}

export interface BlockHeader {
  isFolded: boolean;
  chomping: "clip" | "strip" | "keep";
}

/** The text of a block scalar from its lines without indentation; lines without text are empty. */
export function blockText(lines: readonly string[], { isFolded, chomping }: BlockHeader): string {
  let text = "";
  let empty = 0;
  let hasContent = false;
  let wasIndented = false;
  for (const line of lines) {
    if (line === "") {
      empty++;
      continue;
    }
    const isIndented = line[0] === " " || line[0] === "\t";
    if (!isFolded || isIndented || wasIndented) text += "\n".repeat(hasContent ? empty + 1 : empty);
    else if (empty > 0) text += "\n".repeat(empty);
    else if (hasContent) text += " ";
    wasIndented = isIndented;
    hasContent = true;
    empty = 0;
    text += line;
  }
  if (chomping === "keep") return text + "\n".repeat(hasContent ? empty + 1 : empty);
  return chomping === "clip" && hasContent ? `${text}\n` : text;
}

export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning to this name would change the prototype.
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
