import { MASK, SHORT_SECRET } from "../../../text/mask-secrets.ts";
import { isDate, isDateTime } from "../../expression/calendar.ts";
import { textOf } from "../../expression/arithmetic.ts";
import { secretPattern } from "./secret-forms.ts";

/**
 * Writes a value without secrets. What the caller gave, and what is a number, a date or all of a declared field, is not hidden by
 * a short secret. `value` is what the text was written from, where that is something else.
 */
export type Show = (text: string, value?: unknown) => string;

/** Takes credentials out of everything that leaves: as they are, and in every form that they were sent or may come back in. */
export class Redaction {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;
  #longPattern: RegExp | undefined;
  /** Short secrets themselves. */
  readonly #short = new Set<string>();

  /** From now on this value is hidden, if there is anything to see. A changed secret is hidden in both its values: old answers may still hold the first. */
  hide(value: string): void {
    if (value.trim() === "" || this.#values.has(value)) return;
    this.#values.add(value);
    if (value.trim().length < SHORT_SECRET) this.#short.add(value.trim());
    this.#pattern = this.#longPattern = undefined;
  }

  in(text: string): string {
    if (this.#values.size === 0) return text;
    this.#pattern ??= secretPattern(this.#values);
    return text.replace(this.#pattern, MASK);
  }

  /**
   * Without those secrets alone that cannot stand in it by chance. For words of the tool file and of callers: a PIN of 675 is not
   * the 675 in a price, and to hide that would ruin the text and tell the PIN.
   */
  inOwnWords(text: string): string {
    if (this.#values.size === 0) return text;
    this.#longPattern ??= secretPattern(this.#values, { isLong: true });
    return text.replace(this.#longPattern, MASK);
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

/** What upstream cannot write freely. */
function isTyped(value: unknown): boolean {
  if (typeof value !== "string") return typeof value !== "object";
  return isDate(value) || isDateTime(value);
}

function textsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) textsIn(item, found);
  return found;
}
