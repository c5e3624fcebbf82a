import { isRecord } from "../../json/is-record.ts";
import { changedRuns } from "../../text/text-difference.ts";

export type PathStep = string | number;

/** A value that differs between two trees; undefined on one side if it was added or removed. */
export interface Leaf {
  /** Numbers are list indexes: in the newer list, or for removed items in the older. */
  path: PathStep[];
  before: unknown;
  after: unknown;
}

/** Maps whose order was chosen and may be visible upstream or to readers. */
const ORDERED: ReadonlySet<PathStep | undefined> = new Set(["fields", "query", "headers", "codes", "steps"]);

/** All places where two trees differ, as deep as both exist. A part that only one has is one place. */
export function differingLeaves(before: unknown, after: unknown, path: PathStep[] = []): Leaf[] {
  if (Array.isArray(before) && Array.isArray(after)) return inLists(before, after, path);
  if (isRecord(before) && isRecord(after)) return [...inMembers(before, after, path), ...inOrder(before, after, path)];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

function inMembers(before: Record<string, unknown>, after: Record<string, unknown>, path: PathStep[]): Leaf[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // A field may be called "constructor" or "toString".
  const own = (tree: Record<string, unknown>, name: string) => (Object.hasOwn(tree, name) ? tree[name] : undefined);
  return names.flatMap((name) => differingLeaves(own(before, name), own(after, name), [...path, name]));
}

/** Distinguishes unchanged entries from changed ones, even if they moved. */
function inLists(before: readonly unknown[], after: readonly unknown[], path: PathStep[]): Leaf[] {
  const text = (entry: unknown) => JSON.stringify(entry) ?? "";
  return changedRuns(before.map(text), after.map(text)).flatMap(({ before: was, after: is }) => {
    const both = Math.min(was.to - was.from, is.to - is.from);
    const leaves: Leaf[] = [];
    for (let index = 0; index < both; index++) {
      leaves.push(...differingLeaves(before[was.from + index], after[is.from + index], [...path, is.from + index]));
    }
    for (let index = was.from + both; index < was.to; index++) {
      leaves.push({ path: [...path, index], before: before[index], after: undefined });
    }
    for (let index = is.from + both; index < is.to; index++) {
      leaves.push({ path: [...path, index], before: undefined, after: after[index] });
    }
    return leaves;
  });
}

function inOrder(before: Record<string, unknown>, after: Record<string, unknown>, path: PathStep[]): Leaf[] {
  const [old, now] = [Object.keys(before), Object.keys(after)];
  const kept = old.filter((name) => Object.hasOwn(after, name));
  const added = now.filter((name) => !Object.hasOwn(before, name));
  const isSame = ORDERED.has(path.at(-1))
    ? same([...kept, ...added], now)
    : same(
        kept,
        now.filter((name) => Object.hasOwn(before, name)),
      );
  return isSame ? [] : [{ path: [...path, "(order)"], before: old, after: now }];
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** `tools.find.errors[2].say`. */
export function pathText(path: readonly PathStep[]): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}
