import { NexusError } from "../../../errors/nexus-error.ts";
import { percentEncoded, type Pair } from "./form-text.ts";

/** A query without the question mark. */
export function encodeQuery(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${percentEncoded(name, name)}=${percentEncoded(value, name)}`).join("&");
}

/** The value of a header: one line of visible ASCII. */
export function headerText(text: string, field: string): string {
  if (/[^\x20-\x7e]/.test(text)) throw unsuitable(field, "contains characters that a header cannot hold");
  return text.trim();
}

export function unsuitable(field: string, problem: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${field} ${problem}`, { mayHaveReached: false });
}
