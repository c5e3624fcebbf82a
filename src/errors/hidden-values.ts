import { decodeText, decodeWithPositions, withoutHalfEncoded } from "../text/decoded-text.ts";
import { MASK, SHORT_SECRET } from "../text/mask-secrets.ts";
import { NexusError } from "./nexus-error.ts";

/** Shorter ones are no secrets, and hiding them would hide what is wrong. */
const MIN_LENGTH = 3;
/** The shortest part of encoded text that is told from others. */
const MIN_IN_BASE64 = 8;
/** A line that ends with so much of a value may have been broken there. */
const MIN_BROKEN_OFF = 6;

/** What an error says about itself, and no value can have brought in. */
const OWN_DETAILS: ReadonlySet<string> = new Set(["server", "phase", "method", "signal", "source"]);

/** Values that must not be seen, such as secrets that were filled in: they can be taken out of a text, and not be read back. */
export class HiddenValues {
  readonly #values: ReadonlySet<string>;
  /** What to look for in decoded text, the longest first: one may be a part of another. */
  #known: readonly string[] | undefined;

  constructor(values: Iterable<string>) {
    const whole = [...values].flatMap((value) => [value.trim(), ...value.split(/\r?\n/).map((line) => line.trim())]);
    this.#values = new Set(whole.filter(({ length }) => length >= MIN_LENGTH));
  }

  /** These and others. */
  with(others: HiddenValues | undefined): HiddenValues {
    return others ? new HiddenValues([...this.#values, ...others.#values]) : this;
  }

  /** Without the values: as they are, and as addresses, forms, JSON and Base64 write them, also broken into lines. */
  in(text: string): string {
    if (this.#values.size === 0) return text;
    const plain = decodeText(text);
    const found = this.#forms.filter((form) => plain.includes(form));
    return found.length === 0 ? text : without(text, found);
  }

  /** The same failure without the values, in all that is known of it. */
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

  /** For text that comes in pieces: what may be the beginning of a value is kept until the rest is there. */
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

  /** Nothing of it is ever written down. */
  toJSON(): undefined {
    return undefined;
  }

  get #forms(): readonly string[] {
    return (this.#known ??= [...new Set([...this.#values].flatMap(formsOf))].sort((a, b) => b.length - a.length));
  }

  /** Where a text may have begun to write one of them; its length where it has not. */
  #beginningAtEndOf(text: string): number {
    if (this.#values.size === 0) return text.length;
    // What is encoded is at most so many times as long.
    const from = Math.max(0, text.length - 6 * (this.#forms[0]?.length ?? 0));
    const { text: plain, startOf } = decodeWithPositions(withoutHalfEncoded(text.slice(from)));
    let earliest = text.length;
    for (const form of this.#forms) {
      const first = form[0] ?? "";
      for (let at = Math.max(0, plain.length - form.length + 1); (at = plain.indexOf(first, at)) !== -1; at++) {
        if (!form.startsWith(plain.slice(at))) continue;
        const start = from + startOf(at);
        // Otherwise the end of many a line would wait for the next one.
        const isWhole = plain.length - at >= MIN_BROKEN_OFF || !/[\r\n]/.test(text.slice(start));
        if (isWhole) earliest = Math.min(earliest, start);
        if (isWhole) break;
      }
    }
    return earliest;
  }

  /** What lies behind it is often looked at by its code. */
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

function without(text: string, forms: readonly string[]): string {
  const { text: plain, startOf, endOf } = decodeWithPositions(text);
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

/** As a value reads in decoded text. JSON inside of JSON has its own, for values that look encoded themselves. */
function formsOf(value: string): string[] {
  const asText = [value, inJson(value), inJson(inJson(value)), inAddress(value)].map(decodeText);
  return [...asText, ...insideBase64(value)].filter(({ length }) => length >= MIN_LENGTH);
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function inAddress(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half of a character cannot stand in an address.
    return value;
  }
}

/** What is the same wherever a value stands in encoded text: it may be a part of it, as in `user:password`. */
function insideBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    if (own.length < MIN_IN_BASE64) return [];
    return [own, own.replaceAll("-", "+").replaceAll("_", "/")].map(decodeText);
  });
}
