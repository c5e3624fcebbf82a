import { ITSELF } from "./member-path.ts";
import type { RecordPath } from "../record/record-path.ts";
import type { LeafPlan, ListPlan, NodePlan, RecordPlan } from "../record/record-plan.ts";
import { type Fields, RecordSource } from "../record/record-source.ts";
import type { Scalar } from "../record/scalar.ts";

/** A record as a JSON value. Absent and null fields are left out. */
export function encodeJson(plan: RecordPlan, value: Fields, place?: RecordPath): unknown {
  return build(plan.root, new RecordSource(plan, value, place)) ?? {};
}

/** Undefined if there is nothing to write. */
function build(plan: NodePlan, source: RecordSource): unknown {
  if (plan.nested) {
    const inner = source.nestedOf(plan.nested);
    return inner && encodeJson(plan.nested.plan(), inner.record, inner.place);
  }
  if (plan.list) return buildList(plan.list, source);
  const leaf = firstOf(plan.text, source) ?? firstOf(plan.presence, source);
  if (leaf !== undefined) return leaf;
  // Without a prototype, because a member may be named __proto__.
  const object = Object.create(null) as Fields;
  let isThere = plan.opens.some((scope) => source.has(scope));
  for (const child of plan.children) {
    const value = build(child, source);
    if (value === undefined) continue;
    if (child.name === ITSELF) return value;
    object[child.name] = value;
    isThere = true;
  }
  return isThere ? object : undefined;
}

function buildList(list: ListPlan, source: RecordSource): unknown[] | undefined {
  const items = source.itemsOf(list);
  if (!items || !(list.keepEmpty || source.isGiven(list))) return undefined;
  const plan = list.plan();
  return items.map(({ record, place }) => encodeJson(plan, record, place));
}

function firstOf(leaves: readonly LeafPlan[], source: RecordSource): unknown {
  for (const leaf of leaves) {
    const { constant } = leaf;
    const value =
      constant && source.has(leaf.scope) ? constant.json : constant ? undefined : source.valueOf(leaf, writeMember);
    if (value !== undefined) return value;
  }
  return undefined;
}

function writeMember(this: Scalar, value: unknown): unknown {
  return this.writeJson(value);
}
