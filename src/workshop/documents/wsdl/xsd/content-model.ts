import { childrenOf, keyOf, qnameIn, XSD, type QName, type XmlNode } from "../xml-nodes.ts";
import { isEncoding, type SchemaContext, type SchemaPart, type SchemaSet } from "./schema-set.ts";

/** What a value of a complex type has: an element, an attribute or its own text. */
export interface XsdMember extends SchemaPart {
  kind: "element" | "attribute" | "text";
  name: string;
  /** Empty for none. */
  namespace: string;
  min: number;
  max: number;
  /** Of the text: its type. */
  type?: QName | undefined;
}

/** The members of a complex type in the order in which they are written. */
export interface ContentModel {
  members: XsdMember[];
  /** Members of which one is given, by their names. */
  choices: { names: string[]; isRequired: boolean; node: XmlNode }[];
  /** What a tool file cannot say, for the person who reviews it. */
  doubts: string[];
  /** Content that is not described (xsd:any). */
  isOpen: boolean;
}

interface Occurs {
  min: number;
  max: number;
}

const ONCE: Occurs = { min: 1, max: 1 };
const MAX_PARTICLES = 5_000;
const MAX_DEPTH = 60;

/** Too much for one type: groups that contain groups. */
export class TooManyParticles extends Error {}

/** Reads the members of a complex type, those of the types that it extends first. */
export class ContentReader {
  readonly #schemas: SchemaSet;
  readonly #model: ContentModel = { members: [], choices: [], doubts: [], isOpen: false };
  #left = MAX_PARTICLES;

  constructor(schemas: SchemaSet) {
    this.#schemas = schemas;
  }

  read({ node, schema }: SchemaPart): ContentModel {
    this.#type(node, schema, []);
    const texts = this.#model.members.filter(({ kind }) => kind === "text");
    const others = this.#model.members.filter(({ kind }) => kind !== "text");
    return { ...this.#model, members: [...others, ...texts] };
  }

  #type(node: XmlNode, schema: SchemaContext, open: readonly XmlNode[]): void {
    if (open.includes(node) || open.length > MAX_DEPTH) return;
    const inner = [...open, node];
    const [content] = childrenOf(node, XSD, "complexContent", "simpleContent");
    if (node.attributes.get("mixed") === "true" || content?.attributes.get("mixed") === "true") {
      this.#addText(node, schema, undefined, 0);
    }
    if (!content) return this.#contents(node, schema, inner);
    const [derivation] = childrenOf(content, XSD, "extension", "restriction");
    if (!derivation) return;
    const base = qnameIn(derivation, "base");
    if (base?.name === "Array" && isEncoding(base.namespace)) return this.#array(derivation, schema, inner);
    const part = base && this.#schemas.find("complexType", base);
    const extendsBase = derivation.name === "extension" || content.name === "simpleContent";
    if (part && extendsBase) this.#type(part.node, part.schema, inner);
    else if (part) this.#attributes(part, inner);
    if (content.name === "simpleContent" && !part) this.#addText(derivation, schema, base, 1);
    this.#contents(derivation, schema, inner);
  }

  /**
   * An array of SOAP encoding: `wsdl:arrayType` has the type of its items, whose names mean nothing (SOAP 1.1, section
   * 5.4.2); services call them `item`.
   */
  #array(derivation: XmlNode, schema: SchemaContext, open: readonly XmlNode[]): void {
    const before = this.#model.members.length;
    this.#contents(derivation, schema, open);
    if (this.#model.members.slice(before).some(({ kind }) => kind === "element")) return;
    const attribute = childrenOf(derivation, XSD, "attribute").find(({ attributes }) => attributes.has(ARRAY_TYPE));
    const written = attribute?.attributes.get(ARRAY_TYPE)?.trim() ?? "";
    const [, type = "", ranks = ""] = /^([^[\]]*)((?:\[[^\]]*\])*)$/.exec(written) ?? [];
    if (/\]\[|,/.test(ranks)) this.#doubt("An array of arrays: the tool has one list of all items.");
    const node = attribute ?? derivation;
    const attributes = new Map([["name", "item"], ...(type === "" ? [] : [["type", type] as const])]);
    const item = { ...node, name: "element", attributes, children: [] };
    this.#add({ kind: "element", name: "item", namespace: "", node: item, schema, min: 0, max: Infinity });
  }

  /** A restriction writes its elements again, but not its attributes. */
  #attributes(part: SchemaPart, open: readonly XmlNode[]): void {
    const before = this.#model.members.length;
    this.#type(part.node, part.schema, open);
    const added = this.#model.members.splice(before);
    this.#model.members.push(...added.filter(({ kind }) => kind === "attribute"));
  }

  #contents(node: XmlNode, schema: SchemaContext, open: readonly XmlNode[]): void {
    for (const child of node.children) {
      if (child.namespace !== XSD) continue;
      if (child.name === "attribute") this.#attribute(child, schema);
      else if (child.name === "attributeGroup") this.#attributeGroup(child, open);
      else this.#particle(child, schema, ONCE, open);
    }
  }

  #particle(node: XmlNode, schema: SchemaContext, outer: Occurs, open: readonly XmlNode[]): void {
    if (--this.#left < 0 || open.length > MAX_DEPTH) throw new TooManyParticles();
    const occurs = multiplied(outer, occursOf(node));
    if (occurs.max === 0) return;
    switch (node.name) {
      case "element":
        return this.#element(node, schema, occurs);
      case "sequence":
      case "all": {
        const particles = node.children.filter(isParticle);
        if (occurs.max > 1 && particles.length > 1) {
          this.#doubt("Groups of elements repeat here in turn; the tool writes all of one name, then all of the next.");
        }
        for (const child of particles) this.#particle(child, schema, occurs, open);
        return;
      }
      case "choice":
        return this.#choice(node, schema, occurs, open);
      case "group": {
        const name = qnameIn(node, "ref");
        const group = name && this.#schemas.find("group", name);
        if (!group) return this.#doubt(`The group ${name?.name ?? ""} is not described; its elements are missing.`);
        if (open.includes(group.node)) return;
        const inner = [...open, group.node];
        for (const child of group.node.children.filter(isParticle)) this.#particle(child, group.schema, occurs, inner);
        return;
      }
      case "any":
        this.#model.isOpen = true;
        return;
      default:
    }
  }

  #choice(node: XmlNode, schema: SchemaContext, occurs: Occurs, open: readonly XmlNode[]): void {
    const alternatives: string[][] = [];
    for (const child of node.children.filter(isParticle)) {
      const before = new Map(this.#model.members.map((member) => [member, member.max]));
      this.#particle(child, schema, { min: 0, max: occurs.max }, open);
      alternatives.push(this.#model.members.filter((member) => !before.has(member)).map(({ name }) => name));
    }
    const filled = alternatives.filter((names) => names.length > 0);
    if (occurs.max > 1 && filled.length > 1) {
      this.#doubt("Elements of several names are mixed here; the tool writes all of one name, then all of the next.");
    } else if (filled.length > 1) {
      const names = filled.map(([first = ""]) => first);
      this.#model.choices.push({ names, isRequired: occurs.min > 0 && !this.#model.isOpen, node });
    }
  }

  #element(node: XmlNode, schema: SchemaContext, occurs: Occurs): void {
    const ref = qnameIn(node, "ref");
    if (!ref) {
      const form = node.attributes.get("form");
      const isQualified = form === undefined ? schema.elementsQualified : form === "qualified";
      const name = node.attributes.get("name") ?? "";
      return this.#add({ kind: "element", name, namespace: isQualified ? schema.target : "", node, schema, ...occurs });
    }
    const part = this.#schemas.find("element", ref);
    if (!part) {
      if (ref.namespace === XSD) this.#model.isOpen = true;
      else this.#doubt(`The element ${ref.name} is not described; it is missing here.`);
      return;
    }
    const substitutes = this.#schemas.substitutesFor(ref);
    const isAbstract = part.node.attributes.get("abstract") === "true";
    const all = [
      ...(isAbstract ? [] : [part]),
      ...substitutes.filter((each) => each.node.attributes.get("abstract") !== "true"),
    ];
    const min = all.length > 1 ? 0 : occurs.min;
    for (const each of all) {
      const name = each.node.attributes.get("name") ?? "";
      this.#add({ kind: "element", name, namespace: each.schema.target, ...each, min, max: occurs.max });
    }
    if (all.length > 1 && occurs.max === 1) {
      const names = all.map((each) => each.node.attributes.get("name") ?? "");
      this.#model.choices.push({ names, isRequired: occurs.min > 0, node });
    }
  }

  /** An element that is written twice in one type is a list. */
  #add(member: XsdMember): void {
    if (member.name === "") return;
    const same = this.#model.members.find(
      ({ kind, name, namespace }) => kind === member.kind && name === member.name && namespace === member.namespace,
    );
    if (!same) {
      this.#model.members.push(member);
      return;
    }
    if (member.kind !== "element") return;
    // In another alternative of a choice it is the same element; in a sequence it comes again.
    if (member.min > 0 || same.min > 0) same.max += member.max;
    else same.max = Math.max(same.max, member.max);
  }

  #attribute(node: XmlNode, schema: SchemaContext): void {
    if (--this.#left < 0) throw new TooManyParticles();
    const use = node.attributes.get("use");
    if (use === "prohibited") {
      const name = node.attributes.get("name");
      this.#model.members = this.#model.members.filter((each) => each.kind !== "attribute" || each.name !== name);
      return;
    }
    const min = use === "required" ? 1 : 0;
    const ref = qnameIn(node, "ref");
    if (ref) {
      const part = this.#schemas.find("attribute", ref);
      const known = part ?? { node, schema };
      if (part || ref.namespace === XML) {
        this.#add({ kind: "attribute", name: ref.name, namespace: ref.namespace, ...known, min, max: 1 });
      }
      return;
    }
    const form = node.attributes.get("form");
    const isQualified = form === undefined ? schema.attributesQualified : form === "qualified";
    const name = node.attributes.get("name") ?? "";
    this.#add({ kind: "attribute", name, namespace: isQualified ? schema.target : "", node, schema, min, max: 1 });
  }

  #attributeGroup(node: XmlNode, open: readonly XmlNode[]): void {
    const ref = qnameIn(node, "ref");
    const group = ref && this.#schemas.find("attributeGroup", ref);
    if (!group || open.includes(group.node) || open.length > MAX_DEPTH) return;
    const inner = [...open, group.node];
    for (const child of group.node.children) {
      if (child.name === "attribute") this.#attribute(child, group.schema);
      else if (child.name === "attributeGroup") this.#attributeGroup(child, inner);
    }
  }

  #addText(node: XmlNode, schema: SchemaContext, type: QName | undefined, min: number): void {
    if (this.#model.members.some(({ kind }) => kind === "text")) return;
    this.#model.members.push({ kind: "text", name: "", namespace: "", node, schema, min, max: 1, type });
  }

  #doubt(text: string): void {
    if (!this.#model.doubts.includes(text)) this.#model.doubts.push(text);
  }
}

/** The attribute that says what an array of SOAP encoding has in it. */
const ARRAY_TYPE = "{http://schemas.xmlsoap.org/wsdl/}arrayType";
const XML = "http://www.w3.org/XML/1998/namespace";
const PARTICLES = new Set(["element", "sequence", "all", "choice", "group", "any"]);

function isParticle({ name, namespace }: XmlNode): boolean {
  return namespace === XSD && PARTICLES.has(name);
}

function occursOf(node: XmlNode): Occurs {
  const min = Number(node.attributes.get("minOccurs") ?? 1);
  const most = node.attributes.get("maxOccurs");
  const max = most === "unbounded" ? Infinity : Number(most ?? 1);
  return { min: Number.isFinite(min) ? Math.max(min, 0) : 1, max: Number.isNaN(max) ? 1 : Math.max(max, 0) };
}

function multiplied(a: Occurs, b: Occurs): Occurs {
  return { min: a.min * b.min, max: a.max === 0 || b.max === 0 ? 0 : a.max * b.max };
}

/** Whether two members are the same one. */
export function memberKey({ kind, name, namespace }: XsdMember): string {
  return `${kind} ${keyOf({ name, namespace })}`;
}
