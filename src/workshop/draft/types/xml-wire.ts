import type { SchemaFacts } from "../../documents/api-facts.ts";
import type { Shape } from "../../file/model/tool-file.ts";

/** Prefixes and their namespaces. */
export type Namespaces = Record<string, string>;

/** The element of a whole document. */
export function elementName(facts: SchemaFacts, name: string): { element: string; namespace?: string } {
  const element = (facts.xml?.name ?? name).replace(/^.*:/, "");
  return { element, ...(facts.xml?.namespace === undefined ? {} : { namespace: facts.xml.namespace }) };
}

/** The place of a member in XML, from the element of its type. */
export function xmlWire(facts: SchemaFacts, member: string, shape: Shape, namespaces: Namespaces): string {
  if (facts.xml?.text) return ".";
  const own = prefixed(facts, member, namespaces);
  if (shape.kind !== "list") return facts.xml?.attribute ? `@${own}` : own;
  const items = facts.items?.();
  const item = items?.xml?.name === undefined ? undefined : prefixed(items, items.xml.name, namespaces);
  return facts.xml?.wrapped ? `${own}/${item ?? member}[]` : `${item ?? own}[]`;
}

function prefixed({ xml }: SchemaFacts, member: string, namespaces: Namespaces): string {
  const name = (xml?.name ?? member).replace(/^.*:/, "");
  if (xml?.namespace === undefined) return name;
  const wanted =
    xml.prefix !== undefined && /^[a-z_][\w.-]*$/i.test(xml.prefix) && !/^xml/i.test(xml.prefix) ? xml.prefix : "ns";
  const known = Object.entries(namespaces).find(([, uri]) => uri === xml.namespace)?.[0];
  if (known !== undefined) return `${known}:${name}`;
  let prefix = wanted;
  for (let more = 2; Object.hasOwn(namespaces, prefix); more++) prefix = `${wanted}${more}`;
  namespaces[prefix] = xml.namespace;
  return `${prefix}:${name}`;
}
