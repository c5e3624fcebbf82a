import { childrenOf, keyOf, qnameIn, XSD, type QName, type XmlNode } from "../xml-nodes.ts";

/** Whether a namespace is that of SOAP encoding, whose types have the names of the built-in ones. */
export function isEncoding(namespace: string): boolean {
  return (
    namespace === "http://schemas.xmlsoap.org/soap/encoding/" || namespace === "http://www.w3.org/2003/05/soap-encoding"
  );
}

/** What a schema says about all that is in it. */
export interface SchemaContext {
  target: string;
  elementsQualified: boolean;
  attributesQualified: boolean;
}

/** A part of a schema, with the schema that it is in. */
export interface SchemaPart {
  node: XmlNode;
  schema: SchemaContext;
}

const KINDS = ["element", "attribute", "complexType", "simpleType", "group", "attributeGroup"] as const;
type Kind = (typeof KINDS)[number];

/** The global parts of all schemas of a description, by their names. */
export class SchemaSet {
  readonly #parts = new Map<string, SchemaPart>();
  /** Types that extend or restrict another one, by its key. */
  readonly #derived = new Map<string, (QName & SchemaPart)[]>();
  /** Elements that may stand for another one, by its key. */
  readonly #substitutes = new Map<string, SchemaPart[]>();

  /** `target`: that of the schema that includes it, if it has none of its own. */
  add(schema: XmlNode, target?: string): void {
    const context: SchemaContext = {
      target: schema.attributes.get("targetNamespace") ?? target ?? "",
      elementsQualified: schema.attributes.get("elementFormDefault") === "qualified",
      attributesQualified: schema.attributes.get("attributeFormDefault") === "qualified",
    };
    for (const node of schema.children) {
      const kind = node.namespace === XSD ? KINDS.find((each) => each === node.name) : undefined;
      const name = node.attributes.get("name");
      if (kind === undefined || name === undefined) continue;
      this.#addPart(kind, { namespace: context.target, name }, { node, schema: context });
    }
  }

  #addPart(kind: Kind, name: QName, part: SchemaPart): void {
    const key = partKey(kind, name);
    if (this.#parts.has(key)) return;
    this.#parts.set(key, part);
    if (kind === "complexType") {
      const base = baseOf(part.node);
      if (base) append(this.#derived, keyOf(base), { ...name, ...part });
    } else if (kind === "element") {
      const head = qnameIn(part.node, "substitutionGroup");
      if (head) append(this.#substitutes, keyOf(head), part);
    }
  }

  find(kind: Kind, name: QName): SchemaPart | undefined {
    return this.#parts.get(partKey(kind, name));
  }

  findType(name: QName): SchemaPart | undefined {
    return this.find("complexType", name) ?? this.find("simpleType", name);
  }

  /** Types that are made of this one by extension, also indirectly. */
  derivedFrom(name: QName): (QName & SchemaPart)[] {
    const found = new Map<string, QName & SchemaPart>();
    const waiting = [...(this.#derived.get(keyOf(name)) ?? [])];
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (found.has(keyOf(next))) continue;
      found.set(keyOf(next), next);
      waiting.push(...(this.#derived.get(keyOf(next)) ?? []));
    }
    return [...found.values()];
  }

  substitutesFor(name: QName): SchemaPart[] {
    return this.#substitutes.get(keyOf(name)) ?? [];
  }
}

function partKey(kind: Kind, name: QName): string {
  return `${kind} ${keyOf(name)}`;
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/** The type that a complex type extends. */
function baseOf(node: XmlNode): QName | undefined {
  const [content] = childrenOf(node, XSD, "complexContent");
  const [derivation] = content ? childrenOf(content, XSD, "extension") : [];
  return derivation && qnameIn(derivation, "base");
}

/** The text of `annotation/documentation`, or of `wsdl:documentation`. */
export function documentationOf(node: XmlNode): string | undefined {
  const texts = node.children.flatMap((child) =>
    child.name === "annotation" ? child.children.filter(isDocumentation) : isDocumentation(child) ? [child] : [],
  );
  const text = texts.map(wholeText).join("\n").trim();
  return text === "" ? undefined : text;
}

/** The documentation as a member, where there is any. */
export function described(node: XmlNode): { description?: string } {
  const description = documentationOf(node);
  return description === undefined ? {} : { description };
}

function isDocumentation({ name }: XmlNode): boolean {
  return name === "documentation";
}

/** Markup in documentation is left out. */
function wholeText(node: XmlNode): string {
  const inner = node.children.map(wholeText).join(" ");
  return [node.text, inner]
    .map((text) => text.replaceAll(/[ \t\r\n]+/g, " ").trim())
    .filter((text) => text !== "")
    .join(" ")
    .slice(0, 4_000);
}
