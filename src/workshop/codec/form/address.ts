import { NexusError } from "../../../errors/nexus-error.ts";
import { percentEncoded, type Pair } from "./form-text.ts";

/** A query without the question mark. */
export function encodeQuery(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${percentEncoded(name, name)}=${percentEncoded(value, name)}`).join("&");
}

/**
 * Fills values into `museums/{id}`. A value stays within its segment; slashes are refused although they could be
 * encoded, because servers disagree about encoded ones.
 */
export function encodePath(template: string, valueOf: (field: string) => string | undefined): string {
  return template.replace(/\{([^{}]+)\}/g, (_, field: string) => {
    const value = valueOf(field);
    if (value === undefined || value === "") throw unsuitable(field, "is missing, and the address needs it");
    // Encoding does not change dots, and these two segments shorten an address.
    if (value === "." || value === "..") throw unsuitable(field, `must not be "${value}"`);
    // oxlint-disable-next-line no-control-regex
    if (/[/\\\u0000-\u001f\u007f]/.test(value)) {
      throw unsuitable(field, "must not contain slashes or control characters: it is a part of the address");
    }
    return percentEncoded(value, field);
  });
}

/** The value of a header: one line of visible ASCII. */
export function headerText(text: string, field: string): string {
  if (/[^\x20-\x7e]/.test(text)) throw unsuitable(field, "contains characters that a header cannot hold");
  return text.trim();
}

export function unsuitable(field: string, problem: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${field} ${problem}`, { mayHaveReached: false });
}
