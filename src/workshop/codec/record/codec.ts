import type { Deviation } from "./deviations.ts";

/** How values of one type look upstream, both ways: what was encoded is decoded to the same value. */
export interface Codec {
  /** Fields that are absent or null are left out; a value that cannot be written is ARGUMENTS_INVALID, naming the field. */
  encode(value: Record<string, unknown>): string;
  /** Throws where the document cannot be read at all; anything less is a deviation. */
  decode(body: Uint8Array | string): Decoded;
}

export interface Decoded {
  /** Lists and constants are always there; other fields only if they were right. */
  value: Record<string, unknown>;
  deviations: Deviation[];
}
