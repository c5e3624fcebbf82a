import type { SchemaFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, Shape } from "../../file/model/tool-file.ts";
import { fieldNameFor, fieldNames } from "../names/field-names.ts";
import { pascalCase, wordsOf } from "../names/words.ts";
import { namesByLength, TypeNames, typeNameFor } from "../names/type-names.ts";
import type { QuestionList } from "../questions.ts";
import { fieldText } from "../texts.ts";
import { ANY_SHAPE, TEXT_SHAPE, type DraftType } from "./draft-type.ts";
import { flattenSchema, identityOf, type FlatSchema } from "./flatten-schema.ts";
import { enumShape, fixedValue, isExact, scalarShape } from "./scalar-shape.ts";
import { joinScalars, realAlternatives, valueOf } from "./union-shape.ts";
import { addExclusiveRules, xmlField } from "./xml-field.ts";
import { elementName, xmlWire, type Namespaces } from "./xml-wire.ts";

const FREE_OBJECT: Shape = { kind: "any", only: "object" };
/** Only null: an alternative in lists whose items may be null. */
const NULL_SHAPE: Shape = { kind: "any", schema: { type: "null" } };

/** How values are written: `json` has all shapes, `flat` (parameters and forms) and `xml` have fewer. */
type Form = "json" | "flat" | "xml";

interface ShapePlace {
  form: Form;
  /** The name of the type that an object without a name gets. */
  name: string;
  /** The place in the tool file, for questions. */
  about: string;
  /** The field that it is the value of, for questions. */
  field?: string;
  /** Text of the format `binary` is bytes there. */
  bytes?: boolean;
}

const MAX_DEPTH = 60;
const MAX_KEPT_SCHEMA = 4_000;

/** Makes types and shapes of schemas. Each schema becomes one type, whoever refers to it. */
export class TypeDrafter {
  readonly types = new Map<string, DraftType>();
  readonly namespaces: Namespaces = {};
  readonly #names = new TypeNames();
  /** By form and identity. */
  readonly #made = new Map<string, DraftType>();
  readonly #inline = new Map<string, DraftType>();
  readonly #open: string[] = [];
  readonly #questions: QuestionList;

  constructor(questions: QuestionList) {
    this.#questions = questions;
  }

  /** The shape of a schema, and whether null is one of its values. */
  shapeOf(schema: SchemaFacts, place: ShapePlace): { shape: Shape; nullable: boolean; flat: FlatSchema } {
    const flat = flattenSchema(schema);
    const { doubt, choices, evidence } = flat.facts;
    const asked = place.field ?? place.about;
    // Only members of a field can be set below its place.
    const isField = /^types\.[^.]+\.fields\.[^.]+$/.test(asked);
    if (doubt !== undefined) this.#questions.add(doubt, asked, evidence, isField ? choices : []);
    const nulls = flat.facts.nullable || flat.facts.enum?.includes(null) === true;
    const key = `${place.form} ${identityOf(flat.facts)}`;
    const known = this.#made.get(key);
    if (known) return { shape: { kind: "object", type: known.name }, nullable: nulls, flat };
    if (this.#open.length > MAX_DEPTH || this.#open.includes(key)) {
      const ask =
        "This refers to itself without being an object, or is nested too deep: it is any value here. Name its parts?";
      this.#questions.add(ask, place.about, schema.evidence);
      return { shape: place.form === "json" ? ANY_SHAPE : TEXT_SHAPE, nullable: nulls, flat };
    }
    this.#open.push(key);
    const { shape, nullable } = this.#shape(flat, place);
    this.#open.pop();
    return { shape, nullable: nulls || nullable, flat };
  }

  /** One field of a type. `wire` is its name upstream. */
  fieldOf(
    schema: SchemaFacts,
    { owner, member, required, place }: { owner: string; member: string; required: boolean; place: ShapePlace },
  ): FieldSpec {
    const name = place.name === "" ? owner + pascalCase(wordsOf(member)) : place.name;
    const isType = /^types\.[^.]+$/.test(place.about);
    const field = isType ? `${place.about}.fields.${fieldNameFor(member)}` : place.about;
    const { shape, nullable, flat } = this.shapeOf(schema, { ...place, name, field });
    const { facts } = flat;
    const inner = shape.kind === "object" ? this.types.get(shape.type)?.description : undefined;
    const description = fieldText(facts);
    const isXml = place.form === "xml";
    return {
      ...(description === undefined || description === inner ? {} : { description }),
      wire: isXml ? xmlWire(facts, member, shape, this.namespaces) : member,
      shape,
      ...(nullable && !isXml ? { nullable: true as const } : {}),
      ...(facts.readOnly ? { side: "output" as const } : facts.writeOnly ? { side: "input" as const } : {}),
      optional: !required,
      hidden: schema.hidden === true || schema.secret !== undefined,
      ...fixedValue(facts, shape),
      evidence: [schema.usedAt ?? schema.evidence, ...(schema.also ?? [])],
      ...(isXml ? xmlField(facts, { shape, nullable, required, types: this.types, namespaces: this.namespaces }) : {}),
    };
  }

  /** A type that no schema stands for, such as the input of a tool. */
  add(wanted: string, whole: string, type: Omit<DraftType, "name">): DraftType {
    const name = this.#names.claim(wanted, whole);
    const added = { ...type, name };
    this.types.set(name, added);
    return added;
  }

  /** The type of an object schema; undefined if it has no members of its own. */
  typeOf(schema: SchemaFacts, place: ShapePlace): DraftType | undefined {
    const { shape } = this.shapeOf(schema, place);
    return shape.kind === "object" ? this.types.get(shape.type) : undefined;
  }

  #shape(flat: FlatSchema, place: ShapePlace): { shape: Shape; nullable: boolean } {
    const { facts } = flat;
    const alternatives = realAlternatives(facts);
    if (alternatives.list.length > 0 && facts.properties.size === 0) {
      return { ...this.#alternatives(facts, alternatives.list, place), nullable: alternatives.nullable };
    }
    const kinds = kindsOf(facts);
    const [kind] = kinds;
    if (kind === undefined) return { shape: this.#untyped(facts, place), nullable: false };
    if (kinds.length === 1) return { shape: this.#single(flat, kind, place), nullable: false };
    const shapes = kinds.map((each) => this.#single({ ...flat, facts: { ...facts, types: [each] } }, each, place));
    return { shape: this.#union(shapes, place), nullable: false };
  }

  #untyped(facts: SchemaFacts, place: ShapePlace): Shape {
    const values = facts.enum ?? (facts.const === undefined ? [] : [facts.const]);
    const simple = values.filter((value) => typeof value === "string" || (typeof value === "number" && isExact(value)));
    if (simple.length > 0 && simple.length === values.filter((value) => value !== null).length)
      return enumShape(simple as (string | number)[]);
    return place.form === "json" ? this.#kept(facts, ANY_SHAPE, place) : TEXT_SHAPE;
  }

  /** What the grammar cannot say is passed on as JSON Schema, if that is small and refers to nothing. */
  #kept(facts: SchemaFacts, otherwise: Shape, place: ShapePlace): Shape {
    if (facts.others.length === 0 && facts.prefixItems.length === 0) return otherwise;
    const schema = facts.asJsonSchema();
    const text = JSON.stringify(schema);
    if (text.length <= MAX_KEPT_SCHEMA && !/"\$(?:ref|defs|dynamicRef|id|anchor)"/.test(text)) {
      return otherwise.kind === "any" && otherwise.only
        ? { kind: "any", only: "object", schema }
        : { kind: "any", schema };
    }
    this.#questions.add(
      `The document uses ${facts.others[0] ?? "a tuple"}, which a tool file cannot express: it is not checked here.`,
      place.about,
      facts.evidence,
    );
    return otherwise;
  }

  #single(flat: FlatSchema, kind: ReturnType<typeof kindsOf>[number], place: ShapePlace): Shape {
    const { facts } = flat;
    if (kind === "object") return this.#object(flat, place);
    if (kind === "array") return this.#list(facts, place);
    const unusable = (what: string) => this.#questions.add(what, place.about, facts.evidence);
    const bytes = place.bytes === true || place.form === "flat" || (place.form === "xml" && facts.format === "base64");
    const shape = scalarShape(facts, kind, { bytes, unusable });
    return shape.kind === "union" && place.form !== "json" ? TEXT_SHAPE : shape;
  }

  #list(facts: SchemaFacts, place: ShapePlace): Shape {
    if (facts.prefixItems.length > 0 && place.form === "json") {
      return this.#kept(facts, { kind: "list", of: ANY_SHAPE, keepEmpty: false }, place);
    }
    const items = facts.items?.();
    const fallback = place.form === "json" ? ANY_SHAPE : TEXT_SHAPE;
    const of = items ? this.shapeOf(items, { ...place, name: `${place.name}Item` }) : undefined;
    const hasNulls = of?.nullable === true && place.form === "json";
    // In XML they are left out when they are read.
    if (of?.nullable && place.form === "flat") {
      this.#questions.add(
        "Items of this list may be null in the document; here they may not.",
        place.about,
        facts.evidence,
      );
    }
    const { minItems, maxItems } = facts;
    const isPossible = (minItems ?? 0) <= (maxItems ?? Infinity);
    return {
      kind: "list",
      of: hasNulls ? withNull(of.shape) : (of?.shape ?? fallback),
      ...(isPossible && minItems !== undefined && minItems > 0 ? { minItems } : {}),
      ...(isPossible && maxItems !== undefined ? { maxItems } : {}),
      ...(facts.uniqueItems && place.form === "json" ? { uniqueItems: true as const } : {}),
      keepEmpty: false,
    };
  }

  #object(flat: FlatSchema, place: ShapePlace): Shape {
    const { facts } = flat;
    if (facts.properties.size > 0) return { kind: "object", type: this.#type(flat, place).name };
    if (typeof facts.additional === "function") {
      const { shape } = this.shapeOf(facts.additional(), { ...place, name: `${place.name}Value` });
      if (place.form === "xml" || (place.form === "flat" && shape.kind !== "scalar")) return TEXT_SHAPE;
      const { minProperties, maxProperties } = facts;
      return {
        kind: "map",
        of: shape,
        ...(minProperties !== undefined && minProperties > 0 ? { minEntries: minProperties } : {}),
        ...(maxProperties === undefined ? {} : { maxEntries: maxProperties }),
      };
    }
    if (place.form === "json") return this.#kept(facts, FREE_OBJECT, place);
    return place.form === "flat" ? { kind: "map", of: TEXT_SHAPE } : TEXT_SHAPE;
  }

  #alternatives(facts: SchemaFacts, list: readonly (() => SchemaFacts)[], place: ShapePlace): { shape: Shape } {
    if (place.form === "json" && facts.name !== undefined) return { shape: this.#namedUnion(facts, list, place) };
    return { shape: this.#union(this.#optionsOf(facts, list, place), place, facts) };
  }

  #optionsOf(facts: SchemaFacts, list: readonly (() => SchemaFacts)[], place: ShapePlace): Shape[] {
    return list.map((read, index) => {
      const option = read();
      const own = option.title ?? valueOf(option, facts.discriminator?.property) ?? `Option${index + 1}`;
      // What the union itself says holds for each alternative.
      const whole = option.types.length === 0 && facts.types.length > 0 ? { ...option, types: facts.types } : option;
      return this.shapeOf(whole, { ...place, name: place.name + pascalCase(wordsOf(own)) }).shape;
    });
  }

  /** A union with a name is a type of its own, if objects are among its alternatives: it may refer to itself. */
  #namedUnion(facts: SchemaFacts, list: readonly (() => SchemaFacts)[], place: ShapePlace): Shape {
    if (list.every((read) => givenTypes(read()).every((type) => type !== "object" && type !== "array"))) {
      return this.#union(this.#optionsOf(facts, list, place), place, facts);
    }
    const type = this.#begin(facts, place);
    const shape = this.#union(this.#optionsOf(facts, list, { ...place, name: type.name }), place, facts);
    if (shape.kind === "union") {
      type.union = shape;
      return { kind: "object", type: type.name };
    }
    this.types.delete(type.name);
    this.#made.delete(`${place.form} ${identityOf(facts)}`);
    return shape;
  }

  #union(options: readonly Shape[], place: ShapePlace, facts?: SchemaFacts): Shape {
    const joined = joinScalars(options);
    const [first] = joined;
    if (joined.length === 1 && first) return first;
    if (place.form === "json") {
      const discriminator = facts?.discriminator && this.#discriminator(facts.discriminator, joined, place);
      return { kind: "union", of: joined, ...(discriminator ? { discriminator } : {}) };
    }
    const compound = joined.find((shape) => shape.kind !== "scalar");
    const ask =
      "The document allows several forms here; only one can be written as a parameter or form field. Is it the right one?";
    this.#questions.add(ask, place.about, facts?.evidence);
    return compound ?? TEXT_SHAPE;
  }

  #discriminator(
    { property, mapping }: NonNullable<SchemaFacts["discriminator"]>,
    options: readonly Shape[],
    place: ShapePlace,
  ): { member: string; values: Record<string, string> } | undefined {
    const types = options.map((option) => (option.kind === "object" ? option.type : undefined));
    const values = Object.entries(mapping).flatMap(([value, read]) => {
      const shape = this.shapeOf(read(), { ...place, name: pascalCase(wordsOf(value)) }).shape;
      return shape.kind === "object" && types.includes(shape.type) ? [[value, shape.type] as const] : [];
    });
    const named = new Set(values.map(([, type]) => type));
    const isWhole = types.every((type) => type !== undefined && named.has(type));
    return isWhole && values.length > 0 ? { member: property, values: Object.fromEntries(values) } : undefined;
  }

  #begin(facts: SchemaFacts, place: ShapePlace): DraftType {
    const wanted = facts.name === undefined ? [typeNameFor(place.name)] : namesByLength(facts.name);
    const key = `${place.form} ${identityOf(facts)}`;
    const isPlain = place.form === "json" || facts.identity !== undefined;
    const variant = isPlain ? "" : place.form === "xml" ? "Xml" : "Form";
    const name = this.#names.claimOneOf(
      wanted.map((each) => each + variant),
      key,
    );
    const description = fieldText(facts);
    const element = place.form === "xml" ? elementName(facts, facts.name ?? name) : undefined;
    const type: DraftType = {
      name,
      ...(description === undefined ? {} : { description }),
      evidence: [facts.evidence],
      xml: element ?? {},
      include: [],
      fields: new Map(),
    };
    this.#made.set(key, type);
    this.types.set(name, type);
    return type;
  }

  #type({ facts, parts, conflicts }: FlatSchema, place: ShapePlace): DraftType {
    const type = this.#begin(facts, place);
    const about = `types.${type.name}`;
    for (const member of conflicts) {
      this.#questions.add(
        "Parts of this type describe a member differently; the last one was taken.",
        `${about}.fields.${member}`,
        facts.evidence,
      );
    }
    const inner = { ...place, name: "", about };
    const included = new Set<string>();
    for (const part of parts) {
      if (place.form !== "json" || !this.#canInclude(part, facts, included)) continue;
      const whole = this.typeOf(part.schema, { ...place, name: type.name });
      if (!whole || whole.union || whole.additional || whole === type || includes(whole, type)) continue;
      type.include.push(whole);
      for (const member of part.members) included.add(member);
    }
    const optional = this.#optionalMembers(facts, place);
    const members = new Map([...optional, ...facts.properties]);
    const names = fieldNames([...members.keys()].filter((member) => member !== ""));
    // In the order of the members: in XML it is that of the elements.
    for (const [member, read] of members) {
      const field = names.get(member);
      if (field === undefined || included.has(member)) continue;
      const isRequired = facts.required.has(member) && facts.properties.has(member);
      type.fields.set(field, this.fieldOf(read(), { owner: type.name, member, required: isRequired, place: inner }));
    }
    addRules(type, facts, names);
    addExclusiveRules(type, facts, names);
    this.#addAdditional(type, facts, inner);
    return facts.name === undefined ? this.#shared(type) : type;
  }

  /** Members of alternatives beside the schema's own: they are there in some cases. */
  #optionalMembers(facts: SchemaFacts, place: ShapePlace): Map<string, () => SchemaFacts> {
    const { list } = realAlternatives(facts);
    const found = new Map<string, () => SchemaFacts>();
    for (const read of list) {
      for (const [member, schema] of flattenSchema(read()).facts.properties) {
        if (!found.has(member)) found.set(member, schema);
      }
    }
    if (list.length > 0) {
      const ask =
        "The document has alternatives beside the members of this type: all of their members are optional here.";
      this.#questions.add(ask, place.about, facts.evidence);
    }
    return found;
  }

  #canInclude(part: FlatSchema["parts"][number], facts: SchemaFacts, included: ReadonlySet<string>): boolean {
    for (const member of part.members) {
      if (included.has(member) || facts.properties.get(member) !== part.schema.properties.get(member)) return false;
      if (facts.required.has(member) !== part.schema.required.has(member)) return false;
    }
    return true;
  }

  #addAdditional(type: DraftType, facts: SchemaFacts, place: ShapePlace): void {
    if (place.form !== "json") return;
    if (typeof facts.additional === "function") {
      type.additional = this.shapeOf(facts.additional(), { ...place, name: `${type.name}Value` }).shape;
    } else if (
      facts.additional === "any" ||
      (facts.discriminator && facts.oneOf.length === 0 && facts.anyOf.length === 0)
    ) {
      // A base type is also used for those that extend it.
      type.additional = ANY_SHAPE;
    }
    if (facts.others.length > 0) {
      const ask = `The document uses ${facts.others[0]}, which a tool file cannot express: it is not checked here.`;
      this.#questions.add(ask, place.about, facts.evidence);
    }
  }

  /** Types without a name that are the same become one. */
  #shared(type: DraftType): DraftType {
    const { fields, additional, include, description, xml, rules } = type;
    const content = [...fields].map(([name, field]) => [name, { ...field, evidence: [] }]);
    const key = JSON.stringify([content, additional, include.map(({ name }) => name), description, xml, rules]);
    const same = this.#inline.get(key);
    if (!same) {
      this.#inline.set(key, type);
      return type;
    }
    this.types.delete(type.name);
    for (const [made, owner] of this.#made) if (owner === type) this.#made.set(made, same);
    return same;
  }
}

function withNull(shape: Shape): Shape {
  if (shape.kind === "any") return shape;
  const alternatives = shape.kind === "union" && !shape.discriminator ? shape.of : [shape];
  return { kind: "union", of: [...alternatives, NULL_SHAPE] };
}

/** `{departure} > {arrival}` with the names of the fields. */
function addRules(type: DraftType, { rules = [] }: SchemaFacts, names: ReadonlyMap<string, string>): void {
  const named = rules.map(({ that, say, evidence }) => ({
    that: that.replaceAll(/\{([^{}]+)\}/g, (_, member: string) => names.get(member) ?? member),
    say,
    evidence: [evidence],
  }));
  if (named.length > 0) type.rules = named;
}

type Kind = SchemaFacts["types"][number];

/** The types of a schema, guessed from its other members where it names none; empty: any. */
function kindsOf(schema: SchemaFacts): Kind[] {
  const { types } = schema;
  // An integer is a number.
  if (types.length > 0) return types.filter((type) => type !== "integer" || !types.includes("number"));
  if (schema.properties.size > 0 || typeof schema.additional === "function") return ["object"];
  if (schema.items || schema.prefixItems.length > 0 || schema.minItems !== undefined) return ["array"];
  if (schema.required.size > 0 || schema.others.includes("patternProperties")) return ["object"];
  const values = schema.enum?.filter((value) => value !== null) ?? [];
  if (values.length > 0) {
    return values.every((value) => typeof value === "boolean") ? ["boolean"] : [];
  }
  if (schema.pattern !== undefined || schema.minLength !== undefined || schema.maxLength !== undefined)
    return ["string"];
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined)
    return ["number"];
  if (["date", "date-time", "uuid", "uri", "email", "binary", "byte"].includes(schema.format ?? "")) return ["string"];
  return [];
}

/** The same, for deciding about a part of a union before it is read; unions inside of it may be anything. */
function givenTypes(schema: SchemaFacts): Kind[] {
  if (schema.allOf.length > 0 || schema.oneOf.length > 0 || schema.anyOf.length > 0) return ["object"];
  return kindsOf(schema);
}

function includes(type: DraftType, other: DraftType): boolean {
  return type.include.some((inner) => inner === other || includes(inner, other));
}
