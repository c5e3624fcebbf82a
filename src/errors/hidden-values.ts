import { NexusError } from "./nexus-error.ts";

const HIDDEN = "•••";
/** Shorter ones stand everywhere by chance, and hiding them would hide what is wrong. */
const MIN_LENGTH = 6;

/** Values that must not be seen, such as secrets that were filled in: they can be taken out of a text, and not be read back. */
export class HiddenValues {
  /** The longest first: one may be a part of another. */
  readonly #forms: readonly string[];

  constructor(values: Iterable<string>) {
    const forms = [...values].flatMap(formsOf).filter((form) => form.length >= MIN_LENGTH);
    this.#forms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  in(text: string): string {
    return this.#forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
  }

  /** The same failure without the values, in all that people see of it. */
  inError(error: NexusError): NexusError {
    if (this.#forms.length === 0) return error;
    const { cause: _cause, ...details } = error.details;
    const shown = new NexusError(error.code, this.in(error.message), this.#inAll(details) as NexusError["details"]);
    if (error.stack) shown.stack = this.in(error.stack);
    return shown;
  }

  /** For text that comes in pieces: what may be the beginning of a value is kept until the rest is there. */
  pieces(): { next(text: string): string; rest(): string } {
    let kept = "";
    return {
      next: (text) => {
        const all = this.in(kept + text);
        const end = all.length - this.#begunAtEndOf(all);
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

  #begunAtEndOf(text: string): number {
    const lengths = this.#forms.map((form) => {
      for (let length = Math.min(form.length - 1, text.length); length > 0; length--) {
        if (text.endsWith(form.slice(0, length))) return length;
      }
      return 0;
    });
    return Math.max(0, ...lengths);
  }

  #inAll(value: unknown): unknown {
    if (typeof value === "string") return this.in(value);
    if (Array.isArray(value)) return value.map((item) => this.#inAll(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#inAll(item)]));
  }
}

/** As it may come back: as it is, line by line, inside of JSON or of an address. */
function formsOf(value: string): string[] {
  return [value, ...value.split(/\r?\n/), JSON.stringify(value).slice(1, -1), inAddress(value)];
}

function inAddress(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half of a character cannot stand in an address.
    return value;
  }
}
