import { groupedBy } from "../../../text/grouped-by.ts";
import type { Selectable } from "./selectors.ts";

/** More than this many tools are too many to choose from. */
export const MOST_LISTED = 40;

/**
 * The tools in the order in which they should be listed, the most central first: one of each group of the API after
 * the other, in each group short paths before long ones and reads before writes.
 */
export function byImportance<T extends Selectable>(items: readonly T[]): T[] {
  const groups = [...groupedBy(items, groupOf).values()].map((group) => group.toSorted((a, b) => cost(a) - cost(b)));
  // Large groups are what the API is about.
  groups.sort((a, b) => weight(b) - weight(a));
  const ordered: T[] = [];
  const most = groups.reduce((longest, group) => Math.max(longest, group.length), 0);
  for (let round = 0; round < most; round++) {
    for (const group of groups) {
      const item = group[round];
      if (item) ordered.push(item);
    }
  }
  return ordered;
}

/** A group of many is not many times as important. */
function weight(group: readonly unknown[]): number {
  return Math.min(group.length, 12);
}

function groupOf({ operation: { tags, path } }: Selectable): string {
  return tags[0] ?? path.split("/").find((step) => step !== "" && !/^(?:api|v\d+)$/i.test(step)) ?? "";
}

const OF_EFFECTS = { read: 0, write: 4, destructive: 7 };

function cost({ operation, effect }: Selectable): number {
  const steps = operation.path.split("/").filter((step) => step !== "").length;
  const required = operation.parameters.filter((parameter) => parameter.required).length;
  return steps * 2 + required + OF_EFFECTS[effect] + (operation.deprecated ? 50 : 0) + (operation.body ? 1 : 0);
}
