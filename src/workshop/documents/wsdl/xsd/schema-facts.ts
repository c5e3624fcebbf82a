import type { Evidence, SchemaFacts } from "../../api-facts.ts";
import { plainSchema } from "../../inferred-schema.ts";
import { childrenOf, qnameIn, XSD, type QName, type XmlNode } from "../xml-nodes.ts";
import { ContentReader, memberKey, type ContentModel, type XsdMember } from "./content-model.ts";
import { described, isEncoding, type SchemaPart, type SchemaSet } from "./schema-set.ts";
import { SimpleTypes, type SimpleFacts } from "./simple-types.ts";

const XSI = "http://www.w3.org/2001/XMLSchema-instance";
/** More derived types are not one input that anybody can fill in. */
const MOST_DERIVED = 40;

/** The members of a type as properties, and what belongs to all of them. */
export interface Members {
  properties: Map<string, () => SchemaFacts>;
  required: Set<string>;
  exclusive: NonNullable<SchemaFacts["exclusive"]>;
  doubts: string[];
}

type XmlFacts = NonNullable<SchemaFacts["xml"]>;

/** Makes facts of elements and types. Types are read once, when they are asked for. */
export class XsdFacts {
  readonly #schemas: SchemaSet;
  readonly #document: string;
  readonly #simple: SimpleTypes;
  readonly #models = new Map<XmlNode, ContentModel>();
  readonly #types = new Map<XmlNode, SchemaFacts>();

  constructor(schemas: SchemaSet, document: string) {
    this.#schemas = schemas;
    this.#document = document;
    this.#simple = new SimpleTypes(schemas, (node) => this.placeOf(node));
  }

  /** The lines of an element; of one with a type inside it only its start and its documentation. */
  placeOf(node: XmlNode): Evidence {
    const isLarge = node.children.some(
      ({ name }) => name !== "annotation" && name !== "simpleType" && name !== "documentation",
    );
    const note = node.children.find(({ name }) => name === "annotation" || name === "documentation");
    return this.#lines(node.from, isLarge ? (note?.to ?? node.tagEnd) : node.to);
  }

  /** All lines of an element. */
  wholePlaceOf({ from, to }: XmlNode): Evidence {
    return this.#lines(from, to);
  }

  #identity(kind: string, { id }: XmlNode): string {
    return `${this.#document} ${kind} ${id}`;
  }

  #lines(from: number, to: number): Evidence {
    return to > from ? `${this.#document}#L${from}-L${to}` : `${this.#document}#L${from}`;
  }

  /** The complex type of an element or part; undefined if its value is single. */
  complexTypeOf({ node, schema }: SchemaPart): (SchemaPart & { name?: QName }) | undefined {
    const named = qnameIn(node, "type");
    const part = named && this.#schemas.find("complexType", named);
    if (part) return { ...part, name: named };
    if (named) return undefined;
    const [inline] = childrenOf(node, XSD, "complexType");
    return inline && { node: inline, schema };
  }

  modelOf(part: SchemaPart): ContentModel {
    const known = this.#models.get(part.node);
    if (known) return known;
    const model = new ContentReader(this.#schemas).read(part);
    this.#models.set(part.node, model);
    return model;
  }

  /** `inside`: the namespace of elements without a prefix there. `within`: the elements around the members. */
  membersOf(model: ContentModel, inside: string, within: XmlFacts["within"] = []): Members {
    const properties = new Map<string, () => SchemaFacts>();
    const required = new Set<string>();
    const keys = new Map<string, string>();
    for (const member of model.members) {
      const key = freeKey(member, properties);
      keys.set(memberKey(member), key);
      properties.set(key, () => withSteps(this.memberFacts(member, inside), within));
      if (member.min > 0) required.add(key);
    }
    const keyFor = (name: string) =>
      keys.get(memberKey(model.members.find((each) => each.name === name && each.kind === "element") ?? NO_MEMBER));
    const exclusive = model.choices.map(({ names, isRequired, node }) => ({
      members: names.flatMap((name) => keyFor(name) ?? []),
      isRequired,
      evidence: this.placeOf(node),
    }));
    const open = model.isOpen && model.members.length > 0 ? [OPEN] : [];
    return { properties, required, exclusive, doubts: [...model.doubts, ...open] };
  }

  /** The facts of one member of a type. */
  memberFacts(member: XsdMember, inside: string): SchemaFacts {
    const { kind, name, namespace, node } = member;
    const xml: XmlFacts = { name, attribute: kind === "attribute", wrapped: false };
    if (kind === "text") return this.#single(member, this.#textType(member), { ...xml, text: true });
    if (kind === "attribute") {
      return this.#single(member, this.#simpleOf(node, member), namespace === "" ? xml : { ...xml, namespace });
    }
    const own = namespace === inside ? xml : { ...xml, namespace };
    if (member.max === 1) return this.#element(member, own, inside);
    const item = () => this.#element(member, own, inside);
    return this.#list(member, own, item);
  }

  #list({ node, min, max }: XsdMember, xml: XmlFacts, items: () => SchemaFacts): SchemaFacts {
    return {
      ...plainFacts(this.placeOf(node)),
      ...described(node),
      identity: this.#identity("list", node),
      types: ["array"],
      items,
      ...(min > 0 ? { minItems: min } : {}),
      ...(Number.isFinite(max) ? { maxItems: max } : {}),
      xml,
    };
  }

  #element(member: XsdMember, xml: XmlFacts, inside: string): SchemaFacts {
    const { node } = member;
    const nullable = node.attributes.get("nillable") === "true";
    const type = this.complexTypeOf(member);
    if (!type) return { ...this.#single(member, this.#simpleOf(node, member), xml), nullable };
    const model = this.modelOf(type);
    const [only] = model.members;
    if (!only) {
      const doubt = model.isOpen ? { doubt: "The document allows any XML here; the tool has only its text." } : {};
      const isPresence = !model.isOpen && member.max === 1;
      const facts = { ...plainFacts(this.placeOf(node)), identity: this.#identity("element", node) };
      const kind = isPresence
        ? { types: ["boolean" as const], xml: { ...xml, presence: true as const } }
        : { types: ["string" as const], xml };
      return { ...facts, ...described(node), ...doubt, nullable, ...kind };
    }
    if (only.kind === "text" && model.members.length === 1) {
      return { ...this.#single(member, this.#textType(only), xml), nullable };
    }
    if (member.max === 1 && this.#isListType(type, model)) {
      const isKept = member.min > 0 && !nullable;
      const items = () => this.#element({ ...only, max: Infinity }, innerXml(only, inside), inside);
      const list = this.#list(only, { ...xml, wrapped: true, ...(isKept ? { keepEmpty: true } : {}) }, items);
      const identity = this.#identity("list", node);
      return {
        ...list,
        ...described(node),
        identity,
        evidence: this.placeOf(node),
        also: [this.placeOf(only.node)],
        nullable,
      };
    }
    return {
      ...plainFacts(this.placeOf(node)),
      ...described(node),
      types: [],
      nullable,
      allOf: [() => this.typeFacts(type)],
      xml,
    };
  }

  /** Whether a type only holds the items of a list, as `ArrayOfString` does. */
  #isListType({ name }: { name?: QName }, { members, choices, isOpen }: ContentModel): boolean {
    const [only] = members;
    if (members.length !== 1 || only?.kind !== "element" || only.max <= 1 || choices.length > 0 || isOpen) return false;
    return name === undefined || this.#schemas.derivedFrom(name).length === 0;
  }

  /** The facts of a complex type. */
  typeFacts(type: SchemaPart & { name?: QName }): SchemaFacts {
    const known = this.#types.get(type.node);
    if (known) return known;
    const own = this.modelOf(type);
    const derived = type.name ? this.#schemas.derivedFrom(type.name) : [];
    const model = derived.length > 0 && derived.length <= MOST_DERIVED ? this.#joined(own, derived) : own;
    const inside = model.members.find(({ kind }) => kind === "element")?.namespace ?? type.schema.target;
    const { properties, required, exclusive, doubts } = this.membersOf(model, inside);
    if (model !== own && type.name) {
      const isAbstract = type.node.attributes.get("abstract") === "true";
      const names = [
        ...(isAbstract ? [] : [type.name]),
        ...derived.filter(({ node }) => node.attributes.get("abstract") !== "true"),
      ];
      const key = properties.has("type") ? "xsiType" : "type";
      const entries = [...properties];
      properties.clear();
      properties.set(key, () => this.#typeMember(type.node, names));
      for (const [name, read] of entries) properties.set(name, read);
      if (isAbstract) required.add(key);
    }
    const facts: SchemaFacts = {
      ...plainFacts(this.placeOf(type.node)),
      ...described(type.node),
      identity: this.#identity("type", type.node),
      ...(type.name ? { name: type.name.name } : {}),
      types: ["object"],
      properties,
      required,
      exclusive,
      inside,
      ...(doubts.length === 0 ? {} : { doubt: doubts.join(" ") }),
    };
    this.#types.set(type.node, facts);
    return facts;
  }

  /** A type together with those that extend it: their members are optional. */
  #joined(own: ContentModel, derived: readonly SchemaPart[]): ContentModel {
    const members = [...own.members];
    const known = new Set(members.map(memberKey));
    const models = derived.map((part) => this.modelOf(part));
    for (const member of models.flatMap((model) => model.members)) {
      if (known.has(memberKey(member))) continue;
      known.add(memberKey(member));
      members.push({ ...member, min: 0 });
    }
    return { ...own, members };
  }

  /** `xsi:type` tells which of several types a value has. */
  #typeMember(node: XmlNode, names: readonly QName[]): SchemaFacts {
    return {
      ...plainFacts(this.placeOf(node)),
      types: ["string"],
      description: "Which kind of value this is.",
      xml: {
        name: "type",
        namespace: XSI,
        attribute: true,
        wrapped: false,
        qnames: names.map(({ name, namespace }) => ({ name, namespace })),
      },
    };
  }

  #simpleOf(node: XmlNode, { schema }: SchemaPart): SimpleFacts {
    const [inline] = childrenOf(node, XSD, "simpleType");
    return inline ? this.#simple.read({ node: inline, schema }) : this.#simple.named(qnameIn(node, "type"));
  }

  /** The type of the text in an element with attributes. */
  #textType({ node, schema, type }: XsdMember): SimpleFacts {
    return type ? this.#simple.restricted(node, { node, schema }) : this.#simple.named(undefined);
  }

  /** Facts of a single value. */
  #single(
    { node, kind }: XsdMember,
    { places, doubts, collapses, isList: _isList, ...simple }: SimpleFacts,
    xml: XmlFacts,
  ): SchemaFacts {
    const [type] = simple.types;
    const [usual, fixed] = kind === "text" ? [] : [node.attributes.get("default"), node.attributes.get("fixed")];
    const typeDoubt =
      kind !== "text" && this.#isUnknown(node) ? ["The document does not describe this type: it is text here."] : [];
    const all = [...doubts, ...typeDoubt];
    return {
      ...plainFacts(this.placeOf(node)),
      identity: this.#identity(kind, node),
      ...simple,
      ...described(node),
      ...(usual === undefined ? {} : { default: valueFrom(usual, type) }),
      ...(fixed === undefined ? {} : { const: valueFrom(fixed, type) }),
      ...(places.length === 0 ? {} : { also: [...new Set(places)] }),
      ...(all.length === 0 ? {} : { doubt: all.join(" ") }),
      xml: collapses ? { ...xml, collapse: true } : xml,
    };
  }

  #isUnknown(node: XmlNode): boolean {
    const type = qnameIn(node, "type");
    if (!type) return node.attributes.has("type");
    return type.namespace !== XSD && !isEncoding(type.namespace) && !this.#schemas.findType(type);
  }
}

const OPEN = "The document also allows elements here that it does not describe; the tool has none.";
const NO_MEMBER: XsdMember = {
  kind: "text",
  name: "",
  namespace: "",
  min: 0,
  max: 0,
  node: undefined as never,
  schema: undefined as never,
};

function innerXml({ name, namespace }: XsdMember, inside: string): XmlFacts {
  return { name, attribute: false, wrapped: false, ...(namespace === inside ? {} : { namespace }) };
}

function withSteps(facts: SchemaFacts, within: XmlFacts["within"]): SchemaFacts {
  if (!within || within.length === 0 || !facts.xml) return facts;
  return { ...facts, xml: { ...facts.xml, within } };
}

/** The name of a member, with a number if an attribute and an element have the same one. */
function freeKey({ kind, name }: XsdMember, taken: ReadonlyMap<string, unknown>): string {
  const wanted = kind === "text" ? "value" : name;
  if (!taken.has(wanted)) return wanted;
  const placed = kind === "attribute" ? `${wanted}Attribute` : kind === "text" ? "text" : `${wanted}Element`;
  for (let more = 1; ; more++) {
    const key = more === 1 ? placed : `${placed}${more}`;
    if (!taken.has(key)) return key;
  }
}

function valueFrom(text: string, type: SchemaFacts["types"][number] | undefined): unknown {
  if (type === "boolean") return text.trim() === "true" || text.trim() === "1";
  if (type !== "integer" && type !== "number") return text;
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : undefined;
}

/** A schema that says nothing yet. */
export function plainFacts(evidence: Evidence): SchemaFacts {
  return plainSchema(evidence, []);
}
