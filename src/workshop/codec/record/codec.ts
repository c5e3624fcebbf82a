import type { Deviation } from "./deviations.ts";

/** Converts values of one type to the upstream format and back: decoding an encoded value gives the same value. */
export interface Codec {
  /** Absent and null fields are left out; throws ARGUMENTS_INVALID with the name of a field that cannot be written. */
  encode(value: Record<string, unknown>): string;
  /** Throws if the document cannot be read at all; anything less is a deviation. */
  decode(body: Uint8Array | string): Decoded;
}

export interface Decoded {
  /** Lists and constants are always present; other fields only if they were valid. */
  value: Record<string, unknown>;
  deviations: Deviation[];
  /** `value` as JSON.stringify writes it, if the document was exactly that. */
  json?: string | undefined;
}
