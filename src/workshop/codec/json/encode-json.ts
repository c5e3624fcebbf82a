import { ITSELF } from "./member-path.ts";
import { type RecordPath, unsuitable } from "../record/record-path.ts";
import type { LeafPlan, ListPlan, NodePlan, RecordPlan, ValueCodec, ValuePlan } from "../record/record-plan.ts";
import { type Fields, RecordSource } from "../record/record-source.ts";
import type { Scalar } from "../record/scalar.ts";

/** A record as a JSON value. Absent fields are left out, and null if it is not a value of the field. */
export function encodeJson(plan: RecordPlan, value: Fields, place?: RecordPath): unknown {
  const written = build(plan.root, new RecordSource(plan, value, place));
  if (plan.additional) return withAdditional(plan, plan.additional, { value, place, written: written ?? {} });
  return written === undefined ? {} : written;
}

/** The members beside the fields, by their names upstream. */
function withAdditional(
  { names, root }: RecordPlan,
  codec: ValueCodec,
  { value, place, written }: { value: Fields; place: RecordPath | undefined; written: unknown },
): unknown {
  const object = Object.assign(Object.create(null), written) as Fields;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (names.has(name) || member === undefined || member === null) continue;
    const path = { within: place, list: name, index: -1 };
    if (root.byName.has(name)) throw unsuitable(path, "is the name that another field has upstream");
    object[name] = codec.encode(member, path);
  }
  return object;
}

/** Undefined if there is nothing to write. */
function build(plan: NodePlan, source: RecordSource): unknown {
  if (plan.nested) {
    const inner = source.nestedOf(plan.nested);
    return inner && encodeJson(plan.nested.plan(), inner.record, inner.place);
  }
  if (plan.list) return buildList(plan.list, source);
  if (plan.value) return buildValue(plan.value, source);
  const leaf = firstOf(plan.text, source) ?? firstOf(plan.presence, source);
  if (leaf !== undefined) return leaf;
  // An object without a prototype takes several times as long; only a member named __proto__ needs one.
  const object: Fields = plan.children.some(({ name }) => name === "__proto__") ? (Object.create(null) as Fields) : {};
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

function buildValue(plan: ValuePlan, source: RecordSource): unknown {
  const { value, place } = source.givenOf(plan);
  if (value === null) return plan.isNullable ? null : undefined;
  return value === undefined ? undefined : plan.codec.encode(value, place);
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
