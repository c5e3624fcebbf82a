import { MASK } from "../../errors/masked-secrets.ts";
import { secretPattern } from "./secret-forms.ts";

/** Takes credentials out of everything that leaves: as they are, and in every form that they were sent or may come back in. */
export class Redaction {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;

  /** From now on this value is hidden, if there is anything to see. A changed secret is hidden in both its values: old answers may still hold the first. */
  hide(value: string): void {
    if (value.trim() === "" || this.#values.has(value)) return;
    this.#values.add(value);
    this.#pattern = undefined;
  }

  in(text: string): string {
    if (this.#values.size === 0) return text;
    this.#pattern ??= secretPattern(this.#values);
    return text.replace(this.#pattern, MASK);
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
