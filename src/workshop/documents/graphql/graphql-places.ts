import type { Evidence } from "../api-facts.ts";

/** Where the parts of a schema are described. */
export interface GraphqlPlaces {
  readonly whole: Evidence;
  /** `path`: a type, then a field, input field or value, then an argument. */
  of(type: string, ...path: readonly string[]): Evidence;
}
