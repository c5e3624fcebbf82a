import type { Leaf } from "../review/leaves.ts";
import type { VersionChangeKind } from "./version-number.ts";

/** What one change means for callers. */
export type Meaning = Exclude<VersionChangeKind, "none">;

export type CallSide = "input" | "output";

export function worst(meanings: readonly Meaning[]): Meaning {
  if (meanings.includes("breaking")) return "breaking";
  return meanings.includes("widened") ? "widened" : "wording";
}

export function isAdded({ before, after }: Leaf): boolean {
  return before === undefined && after !== undefined;
}

export function isRemoved({ before, after }: Leaf): boolean {
  return before !== undefined && after === undefined;
}

/** Whether a limit became larger. */
export function isRaised({ before, after }: Leaf): boolean {
  return typeof before === "number" && typeof after === "number" && after > before;
}
