import { partsInBase64 } from "../../../text/base64-parts.ts";
import { withoutInvisible } from "../../../text/invisible.ts";
import { SHORT_SECRET } from "../../../text/mask-secrets.ts";

const NOTHING = "(?!)";
const ENTITIES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const ESCAPES: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" };

/**
 * Matches these secrets in a text: unchanged, and in every form in which they were sent or may come back. Writers
 * differ in which characters they encode, so each character may be written in any way: as in addresses, forms, markup
 * and JSON, also encoded twice. The case of letters does not matter: hosts, headers and error messages change it. The
 * longest come first, because one may be part of another. `isLong`: without short forms, which occur by chance.
 */
export function secretPattern(values: Iterable<string>, { isLong = false } = {}): RegExp {
  const forms = new Set([...values].flatMap(formsOf).filter(({ length }) => !isLong || length >= SHORT_SECRET));
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  const sources = sorted.map(sourceOf);
  // Only short forms need classes of Unicode, and a search without the flag takes half the time.
  const isUnicode = sorted.some(({ length }) => length < SHORT_SECRET);
  return new RegExp(sources.length === 0 ? NOTHING : sources.join("|"), isUnicode ? "giu" : "gi");
}

/**
 * Blanks around it are not secret, and readers may remove them. Hexadecimal digits of a short one occur by chance, and so
 * do its letters in Base64.
 */
function formsOf(value: string): string[] {
  const whole = value.trim();
  const base64 = Buffer.from(value).toString("base64");
  const always = [whole, base64, base64.replace(/=+$/, ""), Buffer.from(value).toString("base64url")];
  if (whole.length < SHORT_SECRET) return always.filter((form) => form !== "");
  const seen = withoutInvisible(whole);
  return [...always, seen, Buffer.from(whole).toString("hex"), ...partsInBase64(whole)].filter(
    (form) => form === whole || form.length >= SHORT_SECRET,
  );
}

function sourceOf(form: string): string {
  const source = form.replaceAll(/\s+|[^]/gu, (part) => (/^\s/.test(part) ? blanks(part) : character(part)));
  return form.length < SHORT_SECRET ? String.raw`(?<![\p{L}\p{N}])${source}(?![\p{L}\p{N}])` : source;
}

/** Several blanks may come back as one, and forms write a plus. */
function blanks(text: string): string {
  const ways = [...new Set(`${text} `.split(""))].map(character);
  return `(?:${ways.join("|")}|\\+)+`;
}

/** Letters and digits are the same in every encoding. */
function character(text: string): string {
  return /^[\w~-]$/.test(text)
    ? text
    : `(?:${[...inMarkup(text), ...inAddress(text), ...inJson(text)].join("|")}|${literal(text)})`;
}

function inMarkup(text: string): string[] {
  const code = text.codePointAt(0) ?? 0;
  const name = ENTITIES[text];
  const ways = [`#0*${code}`, `#[xX]0*${anyCase(code.toString(16))}`, ...(name === undefined ? [] : [name])];
  return [`&(?:amp;)*(?:${ways.join("|")});`];
}

/** In UTF-8, and in the encoding that older servers assume. */
function inAddress(text: string): string[] {
  const code = text.codePointAt(0) ?? 0;
  const bytes = (found: Iterable<number>) =>
    Array.from(found, (byte) => `%(?:25)*${anyCase(byte.toString(16).padStart(2, "0"))}`).join("");
  return [bytes(Buffer.from(text)), ...(code > 0x7f && code <= 0xff ? [bytes([code])] : [])];
}

function inJson(text: string): string[] {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, "0"));
  const short = ESCAPES[text] ?? (/["\\/']/.test(text) ? literal(text) : undefined);
  return [units.map((unit) => `\\\\+u${anyCase(unit)}`).join(""), ...(short === undefined ? [] : [`\\\\+${short}`])];
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
