import type { SchemaFacts, XmlFacts } from "../../documents/api-facts.ts";
import type { Shape } from "../../file/model/tool-file.ts";
import type { DraftType } from "./draft-type.ts";

/** Prefixes and their namespaces. */
export type Namespaces = Record<string, string>;

/** Prefixes that tool files know without a declaration. */
const PREDEFINED: Readonly<Record<string, string>> = {
  "http://www.w3.org/XML/1998/namespace": "xml",
  "http://www.w3.org/2001/XMLSchema-instance": "xsi",
};

/** The element of a whole document, and the namespace of what is inside. */
export function elementName(facts: SchemaFacts, name: string): DraftType["xml"] {
  const element = (facts.xml?.name ?? name).replace(/^.*:/, "");
  const namespace = facts.inside ?? facts.xml?.namespace;
  const isElement = facts.inside === undefined || facts.xml?.root === true;
  return { ...(isElement ? { element } : {}), ...(namespace === undefined ? {} : { namespace }) };
}

/** The place of a member in XML, from the element of its type. */
export function xmlWire(facts: SchemaFacts, member: string, shape: Shape, namespaces: Namespaces): string {
  const around = (facts.xml?.within ?? []).map((step) => prefixed(step, step.name, namespaces));
  if (facts.xml?.text) return around.length === 0 ? "." : around.join("/");
  const own = prefixed(facts.xml, member, namespaces);
  if (shape.kind !== "list") return [...around, facts.xml?.attribute ? `@${own}` : own].join("/");
  const items = facts.items?.();
  const item = items?.xml?.name === undefined ? undefined : prefixed(items.xml, items.xml.name, namespaces);
  const list = facts.xml?.wrapped ? `${own}/${item ?? member}[]` : `${item ?? own}[]`;
  return [...around, list].join("/");
}

type Placed = Pick<XmlFacts, "name" | "namespace" | "prefix">;

function prefixed(xml: Placed | undefined, member: string, namespaces: Namespaces): string {
  const name = (xml?.name ?? member).replace(/^.*:/, "");
  if (xml?.namespace === undefined) return name;
  return `${prefixFor(xml.namespace, xml.prefix, namespaces)}:${name}`;
}

/** The prefix of a namespace, which is declared if it is new. Elements without a namespace have one, too. */
export function prefixFor(namespace: string, proposed: string | undefined, namespaces: Namespaces): string {
  const predefined = PREDEFINED[namespace];
  if (predefined !== undefined) return predefined;
  const isUsable = proposed !== undefined && /^[a-z_][\w.-]*$/i.test(proposed) && !/^xml/i.test(proposed);
  const wanted = isUsable ? proposed : namespace === "" ? "none" : "ns";
  const known = Object.entries(namespaces).find(([, uri]) => uri === namespace)?.[0];
  if (known !== undefined) return known;
  let prefix = wanted;
  for (let more = 2; Object.hasOwn(namespaces, prefix); more++) prefix = `${wanted}${more}`;
  namespaces[prefix] = namespace;
  return prefix;
}
