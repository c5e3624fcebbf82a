import { NexusError } from "../../../errors/nexus-error.ts";
import { isJsonObject } from "../../../json/exact-decimal.ts";
import type { Deviations } from "../record/deviations.ts";
import { exactText } from "../../../json/exact-json.ts";
import { ITSELF } from "./member-path.ts";
import { depthOf, pathOf, type RecordPath } from "../record/record-path.ts";
import type { ListPlan, NodePlan, RecordPlan, ValueCodec, ValuePlan } from "../record/record-plan.ts";
import { RecordReading } from "../record/record-reading.ts";
import type { Fields } from "../record/record-source.ts";

const MAX_DEPTH = 100;

/** The record in a JSON value. Deviations are recorded, and their values left out. Null counts as absent, except
 * in fields that can be null. */
export function decodeJson(plan: RecordPlan, value: unknown, found: Deviations, place?: RecordPath): Fields {
  if (depthOf(place) > MAX_DEPTH) {
    throw new NexusError("PROTOCOL_VIOLATION", `The JSON cannot be read: it is nested deeper than ${MAX_DEPTH}`);
  }
  const reading = new RecordReading(plan, found, place);
  visit(plan.root, value, reading, WHOLE);
  return reading.finish();
}

/** The object that a node belongs to, and the path from there, for unknown members that are kept. */
interface Holder {
  scope: number;
  path: string;
}

const WHOLE: Holder = { scope: 0, path: "" };

function visit(plan: NodePlan, value: unknown, reading: RecordReading, holder: Holder): void {
  if (plan.value) return readValue(plan.value, value, reading);
  if (value === null || value === undefined || plan.isIgnored) return;
  const { text, presence, nested, list } = plan;
  if (list) return readList(list, value, reading);
  if (nested) {
    if (!isJsonObject(value)) return reading.spoil(nested, "expected an object", shown(value, reading.found));
    const place = reading.placeOf(nested, -1);
    return reading.set(nested.slot, decodeJson(nested.plan(), value, reading.found, place));
  }
  for (const leaf of text) reading.take(leaf, leaf.scalar.readJson(value), shown(value));
  for (const leaf of presence) reading.set(leaf.slot, leaf.scalar.readJson(value));
  if (text.length === 0 && presence.length === 0) readMembers(plan, value, reading, holder);
}

function readMembers(plan: NodePlan, value: unknown, reading: RecordReading, outer: Holder): void {
  const [itself] = plan.byName.get(ITSELF) ?? [];
  for (const scope of plan.opens) if (itself || isJsonObject(value)) reading.meet(scope);
  if (itself) return visit(itself, value, reading, outer);
  if (!isJsonObject(value)) return notObject(plan, value, reading);
  const isKept = reading.found.unknown === "keep";
  const [scope] = plan.opens;
  const holder = scope === undefined ? outer : { scope, path: "" };
  for (const name of Object.keys(value)) {
    const [known] = plan.byName.get(name) ?? [];
    if (!known) readUnknown(plan, { name, value: value[name] }, reading, holder);
    else visit(known, value[name], reading, isKept ? { ...holder, path: `${holder.path}${name}.` } : WHOLE);
  }
}

function readUnknown(
  plan: NodePlan,
  { name, value }: { name: string; value: unknown },
  reading: RecordReading,
  { scope, path }: Holder,
): void {
  if (plan === reading.plan.root && reading.plan.additional) {
    return readAdditional(reading.plan.additional, { name, value }, reading);
  }
  const { unknown } = reading.found;
  if (unknown === "ignore" || (unknown === "keep" && reading.keep(scope, `${path}${name}`, value))) return;
  reading.tell(plan.path === "" ? name : `${plan.path}/${name}`, "unknown member", shown(value, reading.found));
}

function readValue({ slot, path, codec, isNullable }: ValuePlan, value: unknown, reading: RecordReading): void {
  if (value === undefined) return;
  if (value === null) return isNullable ? reading.set(slot, null) : undefined;
  const decoded = codec.decode(value, reading.found, { within: reading.place, list: path, index: -1 });
  if (decoded === undefined) reading.drop(slot);
  else reading.set(slot, decoded);
}

function readAdditional(
  codec: ValueCodec,
  { name, value }: { name: string; value: unknown },
  reading: RecordReading,
): void {
  if (value === null || value === undefined) return;
  const decoded = codec.decode(value, reading.found, { within: reading.place, list: name, index: -1 });
  if (decoded === undefined) return;
  if (reading.plan.names.has(name) || !reading.keep(0, name, decoded)) {
    reading.tell(name, "has the name of a field that is written differently", shown(value, reading.found));
  }
}

function notObject({ opens, path }: NodePlan, value: unknown, reading: RecordReading): void {
  const [first] = opens.map((scope) => reading.plan.scopes[scope]);
  if (!first) return reading.tell(path, "expected an object", shown(value, reading.found));
  reading.spoil(first, "expected an object", shown(value, reading.found));
}

function readList(list: ListPlan, value: unknown, reading: RecordReading): void {
  if (!Array.isArray(value)) return reading.spoil(list, "expected a list", shown(value, reading.found));
  const plan = list.plan();
  const items = reading.items(list.slot);
  for (const [index, each] of (value as unknown[]).entries()) {
    const place = reading.placeOf(list, index);
    if (list.isRecord && !isJsonObject(each) && !plan.root.byName.has(ITSELF)) {
      reading.found.add(reading.found.isFull ? "" : pathOf(place), "expected an object", shown(each, reading.found));
      continue;
    }
    const record = decodeJson(plan, each, reading.found, place);
    const item = list.isRecord ? record : record[""];
    if (item !== undefined) items.push(item);
  }
}

export function shown(value: unknown, found?: Deviations): string {
  if (found?.isFull) return "";
  // JSON.parse returns Infinity for numbers that are too large.
  return typeof value === "string" || typeof value === "number" ? String(value) : exactText(value);
}
