import type { TypeSpec } from "../model/tool-file.ts";

/** Types with the fields and rules of the types that they include. */
export interface WholeTypes {
  types: Record<string, TypeSpec>;
  /** The names of all types that others include. */
  included: ReadonlySet<string>;
  /** The type in which a field is written. */
  ownerOf(type: string, field: string): string;
}
