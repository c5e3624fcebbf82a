import { MASK } from "../../errors/masked-secrets.ts";

/** Shorter ones stand in other words by chance: they are hidden only where they stand alone. */
const SHORT = 6;

/** Takes credentials out of everything that leaves: as they are, and in every form that they were sent or may come back in. */
export class Redaction {
  readonly #values = new Set<string>();
  #patterns: RegExp | undefined;

  /** From now on this value is hidden. A changed secret is hidden in both its values: old answers may still hold the first. */
  hide(value: string): void {
    if (value === "" || this.#values.has(value)) return;
    this.#values.add(value);
    this.#patterns = undefined;
  }

  in(text: string): string {
    if (this.#values.size === 0) return text;
    this.#patterns ??= patternOf(this.#values);
    return text.replace(this.#patterns, MASK);
  }

  /** The same for every text inside of a value, names of members included. */
  inAll(value: unknown): unknown {
    if (typeof value === "string") return this.in(value);
    if (Array.isArray(value)) return value.map((item) => this.inAll(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.in(key), this.inAll(item)]));
  }

  /** Nothing of it is ever written down. */
  toJSON(): undefined {
    return undefined;
  }
}

/** The longest first: one may be a part of another. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const forms = new Set([...values].flatMap(formsOf));
  const sources = [...forms].sort((a, b) => b.length - a.length).map(sourceOf);
  return new RegExp(sources.join("|"), "gu");
}

function sourceOf(form: string): string {
  const source = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return form.length < SHORT ? String.raw`(?<![\p{L}\p{N}])${source}(?![\p{L}\p{N}])` : source;
}

function formsOf(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  const inAddress = percentEncoded(value);
  return [
    value,
    inAddress,
    inAddress.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    // Forms write blanks so, and encode more than addresses do.
    new URLSearchParams([["", value]]).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    inMarkup(value),
    base64,
    base64.replace(/=+$/, ""),
    Buffer.from(value).toString("base64url"),
  ].filter((form) => form !== "");
}

function percentEncoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half of a character cannot stand in an address.
    return value;
  }
}

function inMarkup(value: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
