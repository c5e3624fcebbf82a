import { RecentMap } from "../../../async/recent-map.ts";
import { MASK, SHORT_SECRET } from "../../../text/mask-secrets.ts";
import { hasInvisible, replaceInvisibly, withoutInvisible } from "../../../text/invisible.ts";
import { isDate, isDateTime } from "../../expression/calendar.ts";
import { textOf } from "../../expression/arithmetic.ts";
import { partsInBase64 } from "../../../text/base64-parts.ts";

/**
 * Writes a value with secrets masked. Short secrets are not masked in the caller's own values, numbers, dates and
 * complete declared fields. `value` is the source of the text, if it is different.
 */
export type Show = (text: string, value?: unknown) => string;

const MOST_TOKENS = 16;

export interface HiddenSecrets {
  values: readonly string[];
  tokens: readonly string[];
}

/**
 * Masks credentials in everything that leaves: unchanged, and in every form in which they were sent or may come back: encoded
 * as in addresses, markup, JSON and Base64, in any case, and with characters in between that cannot be seen. From six
 * characters on, also in hexadecimal digits and inside of a longer text in Base64.
 *
 * `HiddenValues` does not replace it. It decodes a text before it searches: that finds values across line breaks, inside
 * Base64 and in pieces of a stream, as processes print them, but not in markup, and it takes six times as long. Every
 * tool call passes here, and needs the rules for short secrets below.
 */
export class Redaction {
  readonly #values = new Set<string>();
  /** Values that are replaced often, such as access tokens. */
  readonly #passing = new RecentMap<string, true>({ most: MOST_TOKENS });
  #pattern: RegExp | undefined;
  #longPattern: RegExp | undefined;
  /** The short secrets. */
  readonly #short = new Set<string>();
  /** No text that is shorter has one of the values: every other form is longer. */
  #shortest = Infinity;

  /**
   * Masks this value from now on. After a change of a secret both values are masked: old answers may contain the first.
   */
  hide(value: string): void {
    if (value.trim() === "" || this.#values.has(value)) return;
    this.#values.add(value);
    this.#passing.delete(value);
    this.#changed(value);
  }

  /**
   * The same for a token: only the most recently used ones are masked. A server that runs for weeks gets thousands of
   * them, and searching for all would take longer with each.
   */
  hideToken(value: string): void {
    if (value.trim() === "" || this.#values.has(value)) return;
    const isNew = !this.#passing.has(value);
    this.#passing.set(value, true);
    if (isNew) this.#changed(value);
  }

  #changed(added: string): void {
    const value = added.trim();
    const seen = withoutInvisible(value);
    if (value.length < SHORT_SECRET) this.#short.add(value);
    // Several blanks may come back as one.
    this.#shortest = Math.min(this.#shortest, (seen || value).replaceAll(/\s+/g, " ").length);
    this.#pattern = this.#longPattern = undefined;
  }

  in(text: string): string {
    if (text.length < this.#shortest) return text;
    return masked(text, this.#searched());
  }

  #searched(): RegExp {
    return (this.#pattern ??= secretPattern([...this.#values, ...this.#passing.keys()]));
  }

  /**
   * Whether `in` certainly changes no text of the value with this JSON, as JSON.stringify writes it: the escapes there
   * are among the forms that are searched. A short secret depends on the characters beside it, which escapes change.
   */
  isAbsentFrom(json: string): boolean {
    if (json.length < this.#shortest) return true;
    if (this.#short.size > 0) return false;
    if (json.search(this.#searched()) !== -1) return false;
    return !hasInvisible(json) || withoutInvisible(json).search(this.#searched()) === -1;
  }

  /**
   * Masks only secrets that cannot occur by chance. For texts of the tool file and of callers: a PIN of 675 is not the
   * 675 in a price, and masking that would spoil the text and reveal the PIN.
   */
  inOwnWords(text: string): string {
    if (text.length < this.#shortest) return text;
    return masked(
      text,
      (this.#longPattern ??= secretPattern([...this.#values, ...this.#passing.keys()], { isLong: true })),
    );
  }

  /** How values are shown in a call with this input. */
  showing(input: unknown): Show {
    if (this.#short.size === 0) return (text) => this.in(text);
    const given = textsIn(input);
    const show: Show = (text, value = text) => {
      if (Array.isArray(value)) return value.map((item) => show(textOf(item), item)).join(", ");
      const isOwn = isTyped(value) || given.has(text) || this.#short.has(text.trim());
      return isOwn ? this.inOwnWords(text) : this.in(text);
    };
    return show;
  }

  /** The same for all texts inside a value, including names of members. */
  inAll(value: unknown): unknown {
    if (typeof value === "string") return this.in(value);
    if (Array.isArray(value)) return value.map((item) => this.inAll(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.in(key), this.inAll(item)]));
  }

  /** What is hidden, for a thread that reads an answer. */
  hidden(): HiddenSecrets {
    return { values: [...this.#values], tokens: [...this.#passing.keys()] };
  }

  static of({ values, tokens }: HiddenSecrets): Redaction {
    const redaction = new Redaction();
    for (const value of values) redaction.hide(value);
    for (const token of tokens) redaction.hideToken(token);
    return redaction;
  }

  /** Never serialised. */
  toJSON(): undefined {
    return undefined;
  }
}

/** Hardly any text has a secret, and to search for one takes less time than to replace none. */
function masked(text: string, pattern: RegExp): string {
  const shown = text.search(pattern) === -1 ? text : text.replace(pattern, MASK);
  return hasInvisible(shown) ? replaceInvisibly(shown, pattern, MASK) : shown;
}

/** Whether upstream cannot write free text there. */
function isTyped(value: unknown): boolean {
  if (typeof value !== "string") return typeof value !== "object";
  return isDate(value) || isDateTime(value);
}

function textsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) textsIn(item, found);
  return found;
}

const NOTHING = "(?!)";
const ENTITIES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const ESCAPES: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" };

/**
 * Matches these secrets in a text: unchanged, and in every form in which they were sent or may come back. Writers
 * differ in which characters they encode, so each character may be written in any way: as in addresses, forms, markup
 * and JSON, also encoded twice. The case of letters does not matter: hosts, headers and error messages change it. The
 * longest come first, because one may be part of another. `isLong`: without short forms, which occur by chance.
 */
function secretPattern(values: Iterable<string>, { isLong = false } = {}): RegExp {
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
