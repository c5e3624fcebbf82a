import type { Deviations } from "../record/deviations.ts";
import type { RecordPath } from "../record/record-path.ts";
import type { ListPlan, NestedPlan, NodePlan, RecordPlan } from "../record/record-plan.ts";
import { RecordReading } from "../record/record-reading.ts";
import { isSameName, XML_NAMESPACE, XMLNS_NAMESPACE, XSI_NAMESPACE, type XmlElement } from "../record/xml-tree.ts";
import type { Fields } from "../record/record-source.ts";

/** Attributes of these namespaces say how a message is written (SOAP 1.1, sections 4 and 5), and not what is in it. */
const ABOUT_THE_MESSAGE: ReadonlySet<string> = new Set([
  XMLNS_NAMESPACE,
  XSI_NAMESPACE,
  XML_NAMESPACE,
  "http://schemas.xmlsoap.org/soap/envelope/",
  "http://schemas.xmlsoap.org/soap/encoding/",
  "http://www.w3.org/2003/05/soap-envelope",
  "http://www.w3.org/2003/05/soap-encoding",
]);

/** The record in an element. Deviations are recorded, and their values left out. */
export function decodeXml(plan: RecordPlan, element: XmlElement, found: Deviations, place?: RecordPath): Fields {
  const reading = new RecordReading(plan, found, place);
  visit(plan.root, element, reading);
  return reading.finish();
}

function visit(plan: NodePlan, element: XmlElement, reading: RecordReading): void {
  if (element.attributes.length > 0) readAttributes(plan, element, reading);
  for (const scope of plan.opens) reading.meet(scope);
  for (const leaf of plan.presence) reading.set(leaf.slot, true);
  if (plan.text.length > 0) readText(plan, element, reading);
  else if (!isBlank(element.text)) reading.tell(plan.path, "text where none belongs", element.text.trim());
  if (element.children.length > 0) readChildren(plan, element, reading);
}

function readAttributes(plan: NodePlan, { attributes }: XmlElement, reading: RecordReading): void {
  for (const attribute of attributes) {
    const { name, namespace, value } = attribute;
    const known = plan.attributes.find((each) => isSameName(each, attribute));
    if (known) {
      for (const leaf of known.leaves) reading.take(leaf, leaf.scalar.read(value), value);
    } else if (!ABOUT_THE_MESSAGE.has(namespace)) {
      const isFixed = plan.fixed.some((each) => isSameName(each, attribute));
      if (!isFixed) reading.tell(joined(plan.path, `@${name}`), "unknown attribute", value);
    }
  }
}

function readText(plan: NodePlan, { text }: XmlElement, reading: RecordReading): void {
  const holdsMore = plan === reading.plan.root || plan.attributes.length > 0 || plan.children.length > 0;
  for (const leaf of plan.text) {
    // In an element with other content, empty text counts as absent.
    if (holdsMore && leaf.optional && isBlank(text)) continue;
    reading.take(leaf, leaf.scalar.read(text), text);
  }
}

function readChildren(plan: NodePlan, { children }: XmlElement, reading: RecordReading): void {
  const seen: boolean[] = [];
  // Most documents have the order of the file: comparing with the next plan is cheaper than a lookup.
  let next = plan.children[0];
  for (const child of children) {
    const known = next && isOnly(next, child) ? next : choose(plan.byName.get(child.name), child);
    if (known) next = known.list ? known : plan.children[known.index + 1];
    if (!known) tellUnknown(plan, child, reading);
    else if (known.isIgnored) continue;
    else if (known.list) {
      // A list has no place for null.
      if (child.attributes.length === 0 || !isNil(child)) readItem(known.list, child, reading);
    } else if (seen[known.index]) reading.tell(known.path, "is here more than once", described(child));
    else {
      seen[known.index] = true;
      if (child.attributes.length > 0 && isNil(child)) {
        if (known.nil) reading.set(known.nil.slot, null);
        continue;
      }
      if (known.nested) readNested(known.nested, child, reading);
      else visit(known, child, reading);
    }
  }
}

function isOnly(plan: NodePlan, child: XmlElement): boolean {
  return plan.isOnlyOfName && plan.name === child.name && plan.namespace === child.namespace;
}

/** The first plan of that name whose conditions are met; the one without conditions comes last. */
function choose(plans: readonly NodePlan[] | undefined, child: XmlElement): NodePlan | undefined {
  if (!plans) return undefined;
  for (const plan of plans) {
    if (plan.namespace === child.namespace && (plan.fixed.length === 0 || isMet(plan, child))) return plan;
  }
  return undefined;
}

function isMet({ fixed }: NodePlan, { attributes }: XmlElement): boolean {
  return fixed.every((wanted) => attributes.some((each) => isSameName(each, wanted) && each.value === wanted.value));
}

function readItem(list: ListPlan, child: XmlElement, reading: RecordReading): void {
  const items = reading.items(list.slot);
  const place = reading.placeOf(list, items.length);
  const record = decodeXml(list.plan(), child, reading.found, place);
  const item = list.isRecord ? record : record[""];
  if (item !== undefined) items.push(item);
}

function readNested(nested: NestedPlan, child: XmlElement, reading: RecordReading): void {
  const place = reading.placeOf(nested, -1);
  reading.set(nested.slot, decodeXml(nested.plan(), child, reading.found, place));
}

function tellUnknown(plan: NodePlan, child: XmlElement, reading: RecordReading): void {
  const isElsewhere = plan.children.some(({ name, namespace }) => name === child.name && namespace !== child.namespace);
  const where = child.namespace === "" ? "no namespace" : `the namespace ${child.namespace}`;
  const problem = isElsewhere ? `unknown element: it is in ${where}` : "unknown element";
  reading.tell(joined(plan.path, child.name), problem, described(child));
}

function joined(before: string, name: string): string {
  return before === "" ? name : `${before}/${name}`;
}

/** The start of an element, for people. */
function described({ name, attributes, text }: XmlElement): string {
  const shown = attributes.filter(({ namespace }) => namespace !== XMLNS_NAMESPACE);
  return `<${name}${shown.map((each) => ` ${each.name}="${each.value}"`).join("")}>${text.trim()}`;
}

function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x09 && code !== 0x0d) return false;
  }
  return true;
}

function isNil({ attributes }: XmlElement): boolean {
  return attributes.some(
    ({ name, namespace, value }) => name === "nil" && namespace === XSI_NAMESPACE && /^(?:true|1)$/.test(value),
  );
}
