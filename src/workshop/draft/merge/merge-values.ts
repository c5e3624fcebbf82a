import { isDeepStrictEqual } from "node:util";
import { canonicalJson } from "../../../json/canonical-json.ts";
import { isRecord } from "../../../json/is-record.ts";
import type { ToolFileChange } from "../../file/edit-tool-file.ts";

/** A value that both the person and the document changed, in different ways. */
export interface Conflict {
  path: readonly string[];
  /** Undefined: it is not there. */
  mine: unknown;
  theirs: unknown;
}

/**
 * Compares three versions of a value: the old draft, the file, and the new draft. What only the document changed is a
 * change to make; what both changed is a conflict. Lists are whole values.
 */
export function mergeValues(
  { base, mine, theirs }: { base: unknown; mine: unknown; theirs: unknown },
  path: readonly string[] = [],
): { changes: ToolFileChange[]; conflicts: Conflict[] } {
  const nothing = { changes: [], conflicts: [] };
  if (isDeepStrictEqual(mine, theirs) || isDeepStrictEqual(base, theirs)) return nothing;
  if (path[0] === "questions" && Array.isArray(mine) && Array.isArray(theirs)) {
    return { changes: [{ path, value: mergeItems(Array.isArray(base) ? base : [], mine, theirs) }], conflicts: [] };
  }
  const isInside = isRecord(mine) && isRecord(theirs) && (base === undefined || isRecord(base));
  if (!isInside) {
    if (!isDeepStrictEqual(base, mine)) return { changes: [], conflicts: [{ path, mine, theirs }] };
    return { changes: [theirs === undefined ? { path, remove: true } : { path, value: theirs }], conflicts: [] };
  }
  const names = [...new Set([...Object.keys(base ?? {}), ...Object.keys(theirs)])];
  const inner = names.map((name) =>
    mergeValues({ base: own(base ?? {}, name), mine: own(mine, name), theirs: own(theirs, name) }, [...path, name]),
  );
  return { changes: inner.flatMap(({ changes }) => changes), conflicts: inner.flatMap(({ conflicts }) => conflicts) };
}

/**
 * Answered questions stay away, new ones are asked, and those that the document answers now are not. A question whose
 * lines only moved is the same question.
 */
function mergeItems(base: readonly unknown[], mine: readonly unknown[], theirs: readonly unknown[]): unknown[] {
  const [inBase, inMine, inTheirs] = [byQuestion(base), byQuestion(mine), byQuestion(theirs)];
  const kept = [...inMine].flatMap(([key, item]) => {
    if (!inBase.has(key)) return [item];
    return inTheirs.has(key) ? [isDeepStrictEqual(item, inBase.get(key)) ? inTheirs.get(key) : item] : [];
  });
  const added = [...inTheirs].flatMap(([key, item]) => (inBase.has(key) || inMine.has(key) ? [] : [item]));
  return [...kept, ...added];
}

function byQuestion(list: readonly unknown[]): Map<string, unknown> {
  return new Map(
    list.map((item) => [canonicalJson(isRecord(item) ? [item["about"], item["ask"]] : item), item] as const),
  );
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
