import { isRecord } from "../../protocol/json-rpc.ts";

/** A value that differs between two trees; absent on one side where it was added or removed. */
export interface Leaf {
  path: string[];
  before: unknown;
  after: unknown;
}

/** Every place where two trees differ, as deep as it goes. Members in another order differ too: on the wire they may. */
export function differingLeaves(before: unknown, after: unknown, path: string[] = []): Leaf[] {
  if (!isRecord(before) || !isRecord(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const leaves = names.flatMap((name) => differingLeaves(before[name], after[name], [...path, name]));
  if (leaves.length > 0 || Object.keys(before).join("\n") === Object.keys(after).join("\n")) return leaves;
  return [{ path: [...path, "(order)"], before: Object.keys(before), after: Object.keys(after) }];
}
