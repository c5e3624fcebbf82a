import { NexusError } from "../../errors/nexus-error.ts";
import { own, type Fields } from "./own.ts";
import { depthOf, pathOf, type Place } from "./place.ts";
import { Mismatch } from "./scalar.ts";
import { unwritable } from "./write-xml.ts";
import { keyOf, type NodePlan, type LeafPlan, type ListPlan, type RecordPlan } from "./record-plan.ts";
import type { XmlElement } from "./xml-tree.ts";

const MAX_DEPTH = 50;

/** What is being written: the record and the objects in it, by scope. */
interface Source {
  plan: RecordPlan;
  scopes: (Fields | undefined)[];
  place: Place | undefined;
}

/** A record as its element. Fields that are absent or null are left out, and so is what would stand around nothing. */
export function encodeXml(plan: RecordPlan, value: Fields, place?: Place): XmlElement {
  if (depthOf(place) > MAX_DEPTH) throw unsuitable(place, "", "is nested too deep");
  const source: Source = { plan, scopes: [value], place };
  for (let index = 1; index < plan.scopes.length; index++) {
    const { parent, field, path } = plan.scopes[index] ?? { parent: 0, field: "", path: "" };
    const holder = source.scopes[parent];
    source.scopes.push(holder && asFields(own(holder, field), () => unsuitable(place, path, "must be an object")));
  }
  const { root } = plan;
  return build(root, source) ?? emptyElement(root);
}

/** Nothing where there is nothing to write. */
function build(plan: NodePlan, source: Source): XmlElement | undefined {
  if (plan.nested) return buildNested(plan.nested, source);
  const element: XmlElement = { name: plan.name, namespace: plan.namespace, attributes: [], children: [], text: "" };
  let isThere = plan.opens.some((scope) => source.scopes[scope] !== undefined);
  for (const fixed of plan.fixed) {
    if (!plan.attributes.has(keyOf(fixed.name, fixed.namespace))) element.attributes.push(fixed);
  }
  for (const { name, namespace, leaves } of plan.attributes.values()) {
    const found = firstOf(leaves, source);
    if (!found) continue;
    element.attributes.push({ name, namespace, value: found.text });
    isThere ||= found.counts;
  }
  for (const leaf of plan.presence) {
    if (textOf(leaf, source) !== undefined) isThere = true;
  }
  const own = firstOf(plan.text, source);
  if (own) {
    element.text = own.text;
    isThere ||= own.counts;
  }
  for (const child of plan.children) {
    if (child.list) {
      const items = itemsOf(child.list, source);
      if (items) addItems(child.list, items, { element, source });
      if (items && (items.length > 0 || child.list.keepEmpty)) isThere = true;
    } else {
      const built = build(child, source);
      if (!built) continue;
      element.children.push(built);
      isThere = true;
    }
  }
  return isThere ? element : undefined;
}

function buildNested({ scope, field, plan }: NonNullable<NodePlan["nested"]>, source: Source): XmlElement | undefined {
  const holder = source.scopes[scope];
  const path = pathIn(source, scope, field);
  const value = holder && asFields(own(holder, field), () => unsuitable(source.place, path, "must be an object"));
  return value && encodeXml(plan(), value, { within: source.place, list: path, index: -1 });
}

function itemsOf({ scope, field }: ListPlan, source: Source): readonly unknown[] | undefined {
  const holder = source.scopes[scope];
  if (!holder) return undefined;
  const value = own(holder, field);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw unsuitable(source.place, pathIn(source, scope, field), "must be a list");
  return value as unknown[];
}

function addItems(list: ListPlan, items: readonly unknown[], into: { element: XmlElement; source: Source }): void {
  const plan = list.plan();
  const { place } = into.source;
  const path = pathIn(into.source, list.scope, list.field);
  for (let index = 0; index < items.length; index++) {
    const at = { within: place, list: path, index };
    const item = items[index];
    const record = list.isRecord ? asFields(item, () => unsuitable(at, "", "must be an object")) : { "": item };
    if (!record || item === undefined || item === null) throw unsuitable(at, "", "is missing");
    into.element.children.push(encodeXml(plan, record, at));
  }
}

/** What stands at one place: of several fields there, the first that has a value. */
function firstOf(leaves: readonly LeafPlan[], source: Source): { text: string; counts: boolean } | undefined {
  for (const leaf of leaves) {
    const text = textOf(leaf, source);
    // A constant that may be left out is no reason for an element; it goes along with others.
    if (text !== undefined) return { text, counts: leaf.constant === undefined || !leaf.optional };
  }
  return undefined;
}

function textOf(leaf: LeafPlan, source: Source): string | undefined {
  const holder = source.scopes[leaf.scope];
  if (!holder) return undefined;
  if (leaf.constant) return leaf.constant.text;
  const value = own(holder, leaf.field);
  if (value === undefined || value === null) return undefined;
  if (leaf.type === "presence" && value === false) return undefined;
  const text = leaf.scalar.write(value);
  const problem = text instanceof Mismatch ? text.problem : unwritable(text);
  if (problem !== undefined) throw unsuitable(source.place, pathIn(source, leaf.scope, leaf.field), problem);
  return text as string;
}

function pathIn({ plan }: Source, scope: number, field: string): string {
  const path = plan.scopes[scope]?.path ?? "";
  return path === "" ? field : `${path}.${field}`;
}

function emptyElement({ name, namespace, fixed }: NodePlan): XmlElement {
  return { name, namespace, attributes: [...fixed], children: [], text: "" };
}

function asFields(value: unknown, problem: () => NexusError): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw problem();
  return value as Fields;
}

function unsuitable(place: Place | undefined, path: string, problem: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${pathOf(place, path)} ${problem}`, { mayHaveReached: false });
}
