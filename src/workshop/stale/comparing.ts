import type { Evidence } from "../documents/api-facts.ts";

/** One step from a whole document to a part of it. */
export interface TrailStep {
  kind: "document" | "server" | "security" | "operation" | "parameter" | "message" | "schema";
  /** Where it is said in the older document. */
  evidence: readonly Evidence[];
  /** The name of a parameter, a property or a security scheme. */
  name?: string;
}

/** Something that two versions of a document say differently. */
export interface FactChange {
  /** The innermost step is the last one. */
  trail: readonly TrailStep[];
  /** The place that differs: in the older document, or in the newer one if it is new. */
  at: Evidence;
  /** What differs there, such as `required` or `enum`; undefined if the whole place is new or gone. */
  member?: string;
  change: "changed" | "gone" | "new";
  before?: unknown;
  after?: unknown;
}
