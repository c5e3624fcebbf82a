import type { Shape } from "../file/model/tool-file.ts";
import type { Leaf, PathStep } from "../review/leaves.ts";
import { isAdded, isRaised, isRemoved, type Meaning, type CallSide } from "./meaning.ts";

const UPPER_LIMITS: ReadonlySet<PathStep> = new Set([
  "maximum",
  "exclusiveMaximum",
  "maxLength",
  "maxItems",
  "maxEntries",
]);
const LOWER_LIMITS: ReadonlySet<PathStep> = new Set([
  "minimum",
  "exclusiveMinimum",
  "minLength",
  "minItems",
  "minEntries",
]);

/**
 * Judges a change inside a shape. `place`: the rest of the path; `whole`: the older shape.
 *
 * Arguments may only be allowed more. Results may have other limits, because upstream decides what it answers, but not
 * another type, and what had a name keeps it.
 */
export function shapeMeaning(
  leaf: Leaf,
  [member, ...rest]: readonly PathStep[],
  { side, whole }: { side: CallSide; whole: Shape | undefined },
): Meaning {
  if (member === undefined || !whole) return "breaking";
  if (UPPER_LIMITS.has(member)) return isRemoved(leaf) || isRaised(leaf) || side === "output" ? "widened" : "breaking";
  if (LOWER_LIMITS.has(member)) {
    const isLowered = isRaised({ ...leaf, before: leaf.after, after: leaf.before });
    return isRemoved(leaf) || isLowered || side === "output" ? "widened" : "breaking";
  }
  switch (member) {
    case "format":
      return "wording";
    case "pattern":
    case "multipleOf":
    case "uniqueItems":
    case "only":
      return isRemoved(leaf) ? "widened" : "breaking";
    case "enum":
      return enumMeaning(leaf, rest, side);
    case "codes":
      return codeMeaning(leaf, rest, whole);
    case "of":
      return whole.kind === "union"
        ? variantMeaning(leaf, rest, whole)
        : whole.kind === "list" || whole.kind === "map"
          ? shapeMeaning(leaf, rest, { side, whole: whole.of })
          : "breaking";
    case "discriminator":
      return rest.length === 2 && rest[0] === "values" && isAdded(leaf) ? "widened" : "breaking";
    default:
      return "breaking";
  }
}

function enumMeaning(leaf: Leaf, rest: readonly PathStep[], side: CallSide): Meaning {
  if (rest.length === 0) return isRemoved(leaf) && side === "input" ? "widened" : "breaking";
  return rest.length === 1 && isAdded(leaf) ? "widened" : "breaking";
}

/** A code with a name that another one has could be the one that is sent. */
function codeMeaning(leaf: Leaf, rest: readonly PathStep[], whole: Shape): Meaning {
  const names = whole.kind === "scalar" && whole.codes ? Object.values(whole.codes) : undefined;
  if (rest.length !== 1 || !isAdded(leaf) || !names) return "breaking";
  return names.includes(String(leaf.after)) ? "breaking" : "widened";
}

/** One more alternative is told from the others by its discriminator, or not at all. */
function variantMeaning(leaf: Leaf, rest: readonly PathStep[], whole: Extract<Shape, { kind: "union" }>): Meaning {
  return rest.length === 1 && isAdded(leaf) && whole.discriminator ? "widened" : "breaking";
}
