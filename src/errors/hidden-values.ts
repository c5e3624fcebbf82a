import { partsInBase64 } from "../text/base64-parts.ts";
import { decodeText, decodeWithPositions, withoutHalfEncoded } from "../text/decoded-text.ts";
import { MASK, SHORT_SECRET } from "../text/mask-secrets.ts";
import { NexusError } from "./nexus-error.ts";

/** Shorter values are not secrets; masking them would hide the cause of errors. */
const MIN_LENGTH = 3;
/** A line that ends with this many characters of a value may have been broken there. */
const MIN_BROKEN_OFF = 6;
/** How many values that were added later are kept: a connection that lives for months has had many tokens. */
const MAX_ADDED = 20;

/** Details that an error has by itself; no hidden value can be in them. */
const OWN_DETAILS: ReadonlySet<string> = new Set(["server", "phase", "method", "signal", "source"]);

/** Values that must not be seen, such as resolved secrets: they can be masked in a text, but not read back. */
export class HiddenValues {
  readonly #values: Set<string>;
  /** Values that were added later, the oldest first. */
  readonly #added: (readonly string[])[] = [];
  /** The forms to look for in decoded text, the longest first, because one may be part of another. */
  #known: readonly string[] | undefined;

  constructor(values: Iterable<string>) {
    this.#values = new Set(wholeAndLines(values));
  }

  /** Hides these as well from now on; of values that are added one after the other, only the newest stay hidden. */
  add(values: Iterable<string>): void {
    const own = wholeAndLines(values).filter((value) => !this.#values.has(value));
    if (own.length === 0) return;
    this.#added.push(own);
    for (const value of own) this.#values.add(value);
    if (this.#added.length > MAX_ADDED) for (const value of this.#added.shift() ?? []) this.#values.delete(value);
    this.#known = undefined;
  }

  /** These and the others. */
  with(others: HiddenValues | undefined): HiddenValues {
    return others ? new HiddenValues([...this.#values, ...others.#values]) : this;
  }

  /**
   * The text with the values masked: plain, and as encoded in URLs, forms, JSON, Base64 and hexadecimal digits, in any case,
   * also across line breaks and with characters in between that cannot be seen.
   */
  in(text: string): string {
    if (this.#values.size === 0) return text;
    const plain = inOneCase(decodeText(text));
    const found = this.#forms.filter((form) => plain.includes(form));
    return found.length === 0 ? text : without(text, found);
  }

  /** The same error with the values masked in all its parts. */
  inError(error: NexusError): NexusError {
    if (this.#values.size === 0) return error;
    const { cause, ...details } = error.details;
    const shown = Object.entries(details).map(([key, value]) => {
      return [key, OWN_DETAILS.has(key) ? value : this.#inAll(value)] as const;
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

  /** Never serialised. */
  toJSON(): undefined {
    return undefined;
  }

  get #forms(): readonly string[] {
    return (this.#known ??= [...new Set([...this.#values].flatMap(formsOf))].sort((a, b) => b.length - a.length));
  }

  /** The position where the text may have begun a value; its length if it has not. */
  #beginningAtEndOf(text: string): number {
    if (this.#values.size === 0) return text.length;
    // An encoded form is at most this many times as long.
    const from = Math.max(0, text.length - 6 * (this.#forms[0]?.length ?? 0));
    const { text: decoded, startOf } = decodeWithPositions(withoutHalfEncoded(text.slice(from)));
    const plain = inOneCase(decoded);
    let earliest = text.length;
    for (const form of this.#forms) {
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

  /** The code of a cause is kept, because programs often read it. */
  #inCause(cause: unknown): unknown {
    if (cause instanceof NexusError) return this.inError(cause);
    if (!(cause instanceof Error)) return this.#inAll(cause);
    const hidden = new Error(this.in(cause.message));
    hidden.name = cause.name;
    if (cause.stack) hidden.stack = this.in(cause.stack);
    return "code" in cause ? Object.assign(hidden, { code: cause.code }) : hidden;
  }

  #inAll(value: unknown): unknown {
    if (typeof value === "string") return this.in(value);
    if (Array.isArray(value)) return value.map((item) => this.#inAll(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.in(key), this.#inAll(item)]));
  }
}

/** Each value, and each of its lines. */
function wholeAndLines(values: Iterable<string>): string[] {
  const all = [...values].flatMap((value) => [value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())]);
  return all.filter(({ length }) => length >= MIN_LENGTH);
}

function without(text: string, forms: readonly string[]): string {
  const { text: decoded, startOf, endOf } = decodeWithPositions(text);
  const plain = inOneCase(decoded);
  const spans: { start: number; end: number }[] = [];
  for (const form of forms) {
    for (let at = plain.indexOf(form); at !== -1; at = plain.indexOf(form, at + form.length)) {
      const end = at + form.length;
      if (form.length < SHORT_SECRET && !standsAlone(plain, at, end)) continue;
      spans.push({ start: startOf(at), end: endOf(end - 1) });
    }
  }
  let shown = "";
  let done = 0;
  for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
    if (start >= done) shown += text.slice(done, start) + MASK;
    done = Math.max(done, end);
  }
  return shown + text.slice(done);
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, start - 2), start)) && !/^[\p{L}\p{N}]/u.test(text.slice(end));
}

/** The forms of a value in decoded text. Nested JSON has a form of its own for values that look encoded. */
function formsOf(value: string): string[] {
  const asText = [value, inJson(value), inJson(inJson(value)), inAddress(value)].map(decodeText);
  const encoded = value.length < SHORT_SECRET ? [] : [Buffer.from(value).toString("hex")];
  const inBase64 = partsInBase64(value).map(decodeText);
  return [...asText, ...encoded, ...inBase64].filter(({ length }) => length >= MIN_LENGTH).map(inOneCase);
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
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
  return text.replaceAll("\u0130", "i").toLowerCase().replaceAll("\u03c2", "\u03c3");
}
