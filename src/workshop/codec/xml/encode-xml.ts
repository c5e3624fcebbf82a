import type { RecordPath } from "../record/record-path.ts";
import type { LeafPlan, NodePlan, RecordPlan } from "../record/record-plan.ts";
import { type Fields, RecordSource } from "../record/record-source.ts";
import { Mismatch, type Scalar } from "../record/scalar.ts";
import { unwritable } from "./write-xml.ts";
import { isSameName, XSI_NAMESPACE, type XmlAttribute, type XmlElement } from "../record/xml-tree.ts";

/** A record as an element. Absent and null fields are left out, and so are elements without content. */
export function encodeXml(plan: RecordPlan, value: Fields, place?: RecordPath): XmlElement {
  const { root } = plan;
  const { name, namespace, fixed } = root;
  return (
    build(root, new RecordSource(plan, value, place)) ?? {
      name,
      namespace,
      attributes: [...fixed],
      children: [],
      text: "",
    }
  );
}

const NIL: XmlAttribute = { name: "nil", namespace: XSI_NAMESPACE, value: "true" };

/** Undefined if there is nothing to write. */
function build(plan: NodePlan, source: RecordSource): XmlElement | undefined {
  if (plan.nil && source.isNull(plan.nil)) {
    const { name, namespace, fixed } = plan;
    return { name, namespace, attributes: [...fixed, NIL], children: [], text: "" };
  }
  if (plan.nested) {
    const inner = source.nestedOf(plan.nested);
    return inner && encodeXml(plan.nested.plan(), inner.record, inner.place);
  }
  const attributes: XmlAttribute[] = [];
  const children: XmlElement[] = [];
  let isThere = plan.opens.some((scope) => source.has(scope));
  for (const fixed of plan.fixed) {
    if (!plan.attributes.some((each) => isSameName(each, fixed))) attributes.push(fixed);
  }
  for (const { name, namespace, leaves } of plan.attributes) {
    const found = firstOf(leaves, source);
    if (!found) continue;
    attributes.push({ name, namespace, value: found.text });
    isThere ||= found.counts;
  }
  if (firstOf(plan.presence, source)) isThere = true;
  const text = firstOf(plan.text, source);
  if (text?.counts) isThere = true;
  for (const child of plan.children) {
    if (buildChild(child, children, source)) isThere = true;
  }
  return isThere
    ? { name: plan.name, namespace: plan.namespace, attributes, children, text: text?.text ?? "" }
    : undefined;
}

/** Returns whether the surrounding element is needed because of it. */
function buildChild(plan: NodePlan, children: XmlElement[], source: RecordSource): boolean {
  if (!plan.list) {
    const built = build(plan, source);
    if (built) children.push(built);
    return built !== undefined;
  }
  const items = source.itemsOf(plan.list);
  if (!items) return false;
  const inner = plan.list.plan();
  for (const { record, place } of items) children.push(encodeXml(inner, record, place));
  return items.length > 0 || plan.list.keepEmpty;
}

/** The value of one place: of several fields, the first with a value. */
function firstOf(leaves: readonly LeafPlan[], source: RecordSource): { text: string; counts: boolean } | undefined {
  for (const leaf of leaves) {
    const { constant } = leaf;
    // An optional constant alone does not need an element; it is written together with others.
    if (constant && source.has(leaf.scope)) return { text: constant.text, counts: !leaf.optional };
    const text = constant ? undefined : source.valueOf(leaf, writeXmlText);
    if (text !== undefined) return { text, counts: true };
  }
  return undefined;
}

function writeXmlText(this: Scalar, value: unknown): string | Mismatch {
  const text = this.write(value);
  const problem = text instanceof Mismatch ? undefined : unwritable(text);
  return problem === undefined ? text : new Mismatch(problem);
}
