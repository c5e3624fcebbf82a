import { concatBytes, encodeUtf8, toBase64, toBase64Url, toHex } from "../text/bytes.ts";
import { type ReadText, readEncoded, readWithPositions, withoutHalfEncoded } from "./read-encoded.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { replaceSpans, type Span } from "./find-secrets.ts";
import { MASK } from "./mask-words.ts";

/** Shorter secrets may be part of other words by chance: they are hidden only where they are whole words. */
export const SHORT_SECRET = 6;
/** Shorter values that were not entered as secrets are none; masking them would hide the cause of errors. */
const MIN_LENGTH = 3;
/** Shorter parts of Base64 text are not recognised: they occur by chance. */
const MIN_IN_BASE64 = 8;
/** A line that ends with this many characters of a value may have been broken there. */
const MIN_BROKEN_OFF = 6;
/** How many values that are replaced often are kept: a connection that lives for months has had many tokens. */
const MAX_PASSING = 20;
/** Shorter runs of letters and digits are in many texts. */
const MIN_RUN = 14;
/** An encoded form is at most this many times as long. */
const MAX_GROWTH = 10;

/** Details that an error has by itself; no hidden value can be in them. */
const OWN_DETAILS: ReadonlySet<string> = new Set(["server", "phase", "method", "signal", "source"]);

/** How values may be written in a text after decoding. */
interface Forms {
  /** With a long run of letters and digits, as most encoded ones have. Hardly any text has such a run. */
  runs: readonly string[];
  /** The length of the shortest of these runs. */
  shortestRun: number;
  others: readonly string[];
}

/**
 * Values that must not be seen, such as resolved secrets: they can be masked in a text, but not read back.
 *
 * They are found plain, and as encoded in URLs, forms, JSON, markup, Base64 (also twice) and hexadecimal digits, in any case,
 * also across line breaks and with characters in between that cannot be seen: whoever reads the text first undoes the
 * encoding of single characters, whichever those are.
 */
export class HiddenValues {
  readonly #values: Set<string>;
  /** Values that are replaced often, those that were used longest ago first. */
  readonly #passing = new Map<string, readonly string[]>();
  #known: ReturnType<typeof knownForms> | undefined;
  /** No text that is shorter has one of the values: every other form is longer. */
  #shortest = Infinity;
  /** Whether a value may occur by chance, so that it is masked only where it is a whole word. */
  hasShort = false;

  constructor(values: Iterable<string> = []) {
    this.#values = new Set(wholeAndLines(values));
    this.#changed();
  }

  /** Hides a secret of any length from now on. After a change both are hidden: old texts may contain the first. */
  hide(secret: string): void {
    const value = secret.trim();
    if (value === "" || this.#values.has(value)) return;
    this.#values.add(value);
    this.#passing.delete(value);
    this.#changed();
  }

  /**
   * Hides what is replaced often, such as a token and its parts: only the most recently used ones stay hidden. A server that
   * runs for weeks gets thousands of them, and searching for all would take longer with each.
   */
  add(values: Iterable<string>): void {
    const own = wholeAndLines(values).filter((value) => !this.#values.has(value));
    const [key] = own;
    if (key === undefined) return;
    const isKnown = this.#passing.delete(key);
    this.#passing.set(key, own);
    if (isKnown) return;
    for (const oldest of this.#passing.keys()) if (this.#passing.size > MAX_PASSING) this.#passing.delete(oldest);
    this.#changed();
  }

  /** These and the others. */
  with(others: HiddenValues | undefined): HiddenValues {
    return others ? new HiddenValues([...this.#all(), ...others.#all()]) : this;
  }

  /** The text with the values masked. */
  in(text: string): string {
    return text.length < this.#shortest ? text : masked(text, this.#forms.all);
  }

  /**
   * Masks only values that cannot occur by chance. For texts of the tool file and of callers: a PIN of 675 is not the
   * 675 in a price, and masking that would spoil the text and reveal the PIN.
   */
  inOwnWords(text: string): string {
    return text.length < this.#shortest ? text : masked(text, this.#forms.long);
  }

  /** Whether this is one of the values that may occur by chance. */
  isShort(text: string): boolean {
    return text.length < SHORT_SECRET && this.#values.has(text);
  }

  /**
   * Whether `in` certainly changes no text of the value with this JSON, as JSON.stringify writes it: its escapes are read as
   * well. A short value depends on the characters beside it, which escapes change.
   */
  isAbsentFrom(json: string): boolean {
    return json.length < this.#shortest || (!this.hasShort && formsIn(json, this.#forms.all).length === 0);
  }

  /** The same for all texts inside a value, including names of members. */
  inAll(value: unknown, mask = (text: string) => this.in(text)): unknown {
    if (typeof value === "string") return mask(value);
    if (Array.isArray(value)) return value.map((item) => this.inAll(item, mask));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), this.inAll(item, mask)]));
  }

  /** The same error with the values masked in all its parts. */
  inError(error: NexusError): NexusError {
    if (this.#shortest === Infinity) return error;
    const { cause, ...details } = error.details;
    const shown = Object.entries(details).map(([key, value]) => {
      return [key, OWN_DETAILS.has(key) ? value : this.inAll(value)] as const;
    });
    const hidden = new NexusError(error.code, this.in(error.message), {
      ...(Object.fromEntries(shown) as NexusError["details"]),
      ...(cause === undefined ? {} : { cause: this.#inCause(cause) }),
    });
    if (error.stack) hidden.stack = this.in(error.stack);
    return hidden;
  }

  /** For text that arrives in pieces: a possible beginning of a value is kept until the rest arrives. */
  pieces(): { next(text: string): string; rest(): string } {
    let kept = "";
    return {
      next: (text) => {
        const all = this.in(kept + text);
        const end = this.#beginningAtEndOf(all);
        kept = all.slice(end);
        return all.slice(0, end);
      },
      rest: () => {
        const last = kept;
        kept = "";
        return last;
      },
    };
  }

  /** All values, for a thread of this process that masks them as well. */
  values(): readonly string[] {
    return this.#all();
  }

  /** Never serialised. */
  toJSON(): undefined {
    return undefined;
  }

  /** The code of a cause is kept, because programs often read it. */
  #inCause(cause: unknown): unknown {
    if (cause instanceof NexusError) return this.inError(cause);
    if (!(cause instanceof Error)) return this.inAll(cause);
    const hidden = new Error(this.in(cause.message));
    hidden.name = cause.name;
    if (cause.stack) hidden.stack = this.in(cause.stack);
    return "code" in cause ? Object.assign(hidden, { code: cause.code }) : hidden;
  }

  #all(): string[] {
    return [...this.#values, ...[...this.#passing.values()].flat()];
  }

  #changed(): void {
    this.#known = undefined;
    this.#shortest = Math.min(...this.#all().map((value) => readEncoded(value).length || value.length));
    this.hasShort = this.#shortest < SHORT_SECRET;
  }

  get #forms() {
    return (this.#known ??= knownForms(this.#all()));
  }

  /** The position where the text may have begun a value; its length if it has not. */
  #beginningAtEndOf(text: string): number {
    if (this.#shortest === Infinity) return text.length;
    const { runs, others } = this.#forms.all;
    const forms = [...runs, ...others];
    const from = Math.max(0, text.length - MAX_GROWTH * Math.max(...forms.map(({ length }) => length)));
    const { text: decoded, startOf } = readWithPositions(withoutHalfEncoded(text.slice(from)));
    const plain = inOneCase(decoded);
    let earliest = text.length;
    for (const form of forms) {
      const first = form[0] ?? "";
      for (let at = Math.max(0, plain.length - form.length + 1); (at = plain.indexOf(first, at)) !== -1; at++) {
        if (!form.startsWith(plain.slice(at))) continue;
        const start = from + startOf(at);
        // Otherwise the end of many lines would wait for the next one.
        const isWhole = plain.length - at >= MIN_BROKEN_OFF || !/[\r\n]/.test(text.slice(start));
        if (isWhole) earliest = Math.min(earliest, start);
        if (isWhole) break;
      }
    }
    return earliest;
  }
}

/** Each value, and each of its lines. */
function wholeAndLines(values: Iterable<string>): string[] {
  const all = [...values].flatMap((value) => [value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())]);
  return all.filter(({ length }) => length >= MIN_LENGTH);
}

function masked(text: string, forms: Forms): string {
  const found = formsIn(text, forms);
  if (found.length === 0) return text;
  const asWritten = { text, startOf: (index: number) => index, endOf: (index: number) => index + 1 };
  const spans = [readWithPositions(text), asWritten].flatMap((read) => spansOf(text, read, found));
  return replaceSpans(text, spans, MASK);
}

/** The forms that occur in the text: none in hardly any, and that is found out faster than where. */
function formsIn(text: string, forms: Forms): string[] {
  const read = readEncoded(text);
  const found = plainFormsIn(read, forms);
  // As it is written as well: before a value, "\\t" is not a blank.
  return read === text ? found : [...plainFormsIn(text, forms), ...found];
}

function plainFormsIn(text: string, { runs, shortestRun, others }: Forms): string[] {
  const plain = inOneCase(text);
  const found: string[] = [];
  for (const form of others) if (plain.includes(form)) found.push(form);
  if (runs.length === 0 || !hasRun(plain, shortestRun)) return found;
  for (const form of runs) if (plain.includes(form)) found.push(form);
  return found;
}

/** A run of this length is at one of the positions that are as far apart, so only these are looked at. */
function hasRun(text: string, length: number): boolean {
  for (let at = length - 1; at < text.length; at += length) {
    if (!isLetter(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (start > 0 && isLetter(text, start - 1)) start--;
    while (end - start < length && isLetter(text, end)) end++;
    if (end - start >= length) return true;
  }
  return false;
}

/** Also a digit. */
function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function spansOf(text: string, { text: decoded, startOf, endOf }: ReadText, forms: readonly string[]): Span[] {
  const plain = inOneCase(decoded);
  const spans: Span[] = [];
  for (const form of forms) {
    for (let at = plain.indexOf(form); at !== -1; at = plain.indexOf(form, at + form.length)) {
      const span = { start: startOf(at), end: endOf(at + form.length - 1) };
      const isWhole = standsAlone(plain, at, at + form.length) || standsAlone(text, span.start, span.end);
      // A line break between two numbers is not in the middle of one.
      if (form.length < SHORT_SECRET && !(isWhole && !text.slice(span.start, span.end).includes("\n"))) continue;
      spans.push(span);
    }
  }
  return spans;
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, start - 2), start)) && !/^[\p{L}\p{N}]/u.test(text.slice(end));
}

/** `long`: those that cannot occur by chance. */
function knownForms(values: readonly string[]) {
  const all = [...new Set(values.flatMap(formsOf))];
  const long = all.filter(({ length }) => length >= SHORT_SECRET);
  return { all: toForms(all), long: toForms(long) };
}

function toForms(texts: readonly string[]): Forms {
  const runOf = (text: string) => Math.max(...text.split(/[^a-z0-9]+/).map(({ length }) => length));
  const runs = texts.filter((text) => runOf(text) >= MIN_RUN);
  const others = texts.filter((text) => runOf(text) < MIN_RUN);
  return { runs, shortestRun: Math.min(...runs.map(runOf)), others };
}

/** How it may be written; in an address, characters that are not of ASCII are several bytes, which are read one by one. */
function formsOf(value: string): string[] {
  const bytes = encodeUtf8(value);
  const [base64, base64url] = [toBase64(bytes), toBase64Url(bytes)];
  const inOneLine = value.replaceAll(/\s+/g, " ");
  const whole = [value, inOneLine, inAddress(value), base64, base64.replace(/=+$/, ""), base64url];
  const once = partsInBase64(value);
  const inside = value.length < SHORT_SECRET ? [] : [toHex(bytes), ...once, ...once.flatMap(partsInBase64)];
  return (
    [...whole, ...inside]
      // As it is written as well: what is before it may be read with its first characters.
      .flatMap((form) => [form, readEncoded(form)])
      .filter((form) => form !== "")
      .map(inOneCase)
  );
}

/**
 * How a value is written inside of a longer text in Base64, as in `user:password`: for each position, the letters that do
 * not depend on what is beside it. With the letters of URLs as well, where they differ.
 */
function partsInBase64(value: string): string[] {
  const bytes = encodeUtf8(value);
  return [0, 1, 2].flatMap((before) => {
    const text = toBase64Url(concatBytes([new Uint8Array(before), bytes]));
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    if (own.length < MIN_IN_BASE64) return [];
    return [...new Set([own, own.replaceAll("-", "+").replaceAll("_", "/")])];
  });
}

function inAddress(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half of a surrogate pair cannot be encoded in a URL.
    return value;
  }
}

/** Without the difference between large and small letters; every character stays at its place. */
function inOneCase(text: string): string {
  const lower = text.includes("\u0130") ? text.replaceAll("\u0130", "i").toLowerCase() : text.toLowerCase();
  return lower.includes("\u03c2") ? lower.replaceAll("\u03c2", "\u03c3") : lower;
}
