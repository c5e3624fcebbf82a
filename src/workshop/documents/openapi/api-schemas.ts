import { plainSchema } from "../inferred-schema.ts";
import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { SchemaFacts } from "../api-facts.ts";
import {
  memberOf,
  itemsOf,
  membersOf,
  textOf,
  type ApiDocument,
  type ObjectPart,
  type DocumentPart,
} from "./api-document.ts";
import { schemaName } from "./schema-name.ts";
import { countOf, numberOf, readablePattern, readBounds, readTypes } from "./schema-keywords.ts";
import { JsonSchemaWriter } from "./json-schema-writer.ts";

const OTHERS = [
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "contains",
  "minContains",
  "maxContains",
  "unevaluatedItems",
] as const;
/** Keywords that only describe a value. */
const ANNOTATIONS = new Set([
  "title",
  "description",
  "summary",
  "deprecated",
  "readOnly",
  "writeOnly",
  "default",
  "example",
  "examples",
  "nullable",
  "externalDocs",
  "xml",
  "$comment",
]);

type Lazy = () => SchemaFacts;

const MAX_HOPS = 100;

/** Reads schemas when they are asked for. Each is read once, so the same schema is the same object. */
export class ApiSchemas {
  readonly #document: ApiDocument;
  readonly #read = new Map<string, SchemaFacts>();
  readonly #writer: JsonSchemaWriter;

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#writer = new JsonSchemaWriter(document);
  }

  /** The schema at a place; what it refers to, if it only refers. */
  schema(part: DocumentPart, hops = 0): SchemaFacts {
    const known = this.#read.get(part.pointer);
    if (known) return known;
    const facts = this.#schema(part, hops);
    this.#read.set(part.pointer, facts);
    return facts;
  }

  /** An object that the document describes in another way, such as the fields of a form. */
  object(pointer: string, parts: ReadonlyMap<string, DocumentPart>, required: ReadonlySet<string>): SchemaFacts {
    return {
      ...this.#nothing({ value: {}, pointer }),
      types: ["object"],
      properties: new Map([...parts].map(([name, part]) => [name, this.#lazy(part)])),
      required,
      asJsonSchema: () => this.#writer.object(parts, required),
    };
  }

  #schema(part: DocumentPart, hops: number): SchemaFacts {
    const { value, pointer } = part;
    if (value === true) return this.#nothing(part);
    if (value === false) return { ...this.#nothing(part), others: ["false"] };
    if (!isRecord(value)) {
      this.#document.remark(pointer, "This is not a schema; anything is accepted");
      return this.#nothing(part);
    }
    const schema: ObjectPart = { value, pointer };
    const ref = value["$ref"] ?? value["$dynamicRef"] ?? value["$recursiveRef"];
    if (typeof ref === "string") return this.#reference(schema, ref, hops);
    return this.#alternativeToNull(schema, hops) ?? this.#onlyPart(schema, hops) ?? this.#plain(schema);
  }

  #reference(schema: ObjectPart, ref: string, hops: number): SchemaFacts {
    const target = this.#document.resolve(ref, schema.pointer);
    const hasOwn =
      this.#document.isModern && !saysOnly(schema.value, "$ref", "$dynamicRef", "$recursiveRef", "$defs", "$id");
    if (!target || hops >= MAX_HOPS || target.pointer === schema.pointer) {
      const why = target ? "refers to itself" : "refers to a part that does not exist or is not loaded";
      this.#document.remark(schema.pointer, `${ref.slice(0, 200)} ${why}; anything is accepted`);
      return hasOwn ? this.#plain(schema) : this.#nothing(schema);
    }
    if (hasOwn) return { ...this.#plain(schema), allOf: [() => this.schema(target, hops + 1), ...this.#all(schema)] };
    return this.#withAnnotations(this.schema(target, hops + 1), schema);
  }

  /** `anyOf: [X, null]` is a nullable X. */
  #alternativeToNull(schema: ObjectPart, hops: number): SchemaFacts | undefined {
    const keyword = ["anyOf", "oneOf"].find((name) => Array.isArray(schema.value[name]));
    if (keyword === undefined || !saysOnly(schema.value, keyword, "discriminator")) return undefined;
    const parts = itemsOf(memberOf(schema, keyword));
    const others = parts.filter(({ value }) => !isNull(value));
    const [only] = others;
    if (!only || others.length !== 1) return undefined;
    const facts = this.#withAnnotations(this.schema(only, hops + 1), schema);
    return parts.length > 1 ? { ...facts, nullable: true } : facts;
  }

  /** `allOf: [X]` is X, usually with another description. */
  #onlyPart(schema: ObjectPart, hops: number): SchemaFacts | undefined {
    const [only, ...more] = itemsOf(memberOf(schema, "allOf"));
    if (!only || more.length > 0 || hops >= MAX_HOPS) return undefined;
    const hasSameType = saysOnly(schema.value, "allOf", "type") && schema.value["type"] === "object";
    if (!hasSameType && !saysOnly(schema.value, "allOf")) return undefined;
    return this.#withAnnotations(this.schema(only, hops + 1), schema);
  }

  /** The facts of another schema, described as here. The rest, and the evidence, stay those of the other. */
  #withAnnotations(facts: SchemaFacts, { value }: ObjectPart): SchemaFacts {
    const own = annotations(value);
    if (Object.keys(own).length === 0) return facts;
    return { ...facts, ...own, nullable: facts.nullable || own.nullable === true };
  }

  #plain(schema: ObjectPart): SchemaFacts {
    const { value, pointer } = schema;
    const { types, hasNull, format, unknown } = readTypes(value);
    for (const name of unknown) this.#document.remark(pointer, `${name} is not a type; any is accepted`);
    const values = Array.isArray(value["enum"]) ? (value["enum"] as unknown[]) : undefined;
    const isNullOnly = (hasNull && types.length === 0) || value["const"] === null;
    const own = annotations(value);
    const alternatives = { oneOf: this.#alternatives(schema, "oneOf"), anyOf: this.#alternatives(schema, "anyOf") };
    const facts: SchemaFacts = {
      ...this.#nothing(schema),
      ...own,
      types: isNullOnly ? [] : types,
      nullable:
        hasNull ||
        own.nullable === true ||
        isNullOnly ||
        values?.includes(null) === true ||
        alternatives.oneOf.hasNull ||
        alternatives.anyOf.hasNull,
      ...present({
        format: textOf(value["format"]) ?? format ?? contentFormat(value),
        minLength: countOf(value["minLength"]),
        maxLength: countOf(value["maxLength"]),
        pattern: this.#pattern(schema),
        multipleOf: positive(numberOf(value["multipleOf"])),
        minItems: countOf(value["minItems"]),
        maxItems: countOf(value["maxItems"]),
        minProperties: countOf(value["minProperties"]),
        maxProperties: countOf(value["maxProperties"]),
      }),
      ...readBounds(value),
      uniqueItems: value["uniqueItems"] === true,
      ...this.#items(schema),
      properties: this.#properties(schema),
      required: requiredOf(value),
      additional: this.#additional(schema),
      allOf: this.#all(schema),
      oneOf: alternatives.oneOf.schemas,
      anyOf: alternatives.anyOf.schemas,
      others: otherKeywords(value),
    };
    if (values) facts.enum = values.filter((item) => item !== null);
    if (Object.hasOwn(value, "const") && value["const"] !== undefined) facts.const = value["const"];
    if (isNullOnly) facts.const = null;
    const discriminator = this.#discriminator(schema);
    if (discriminator) facts.discriminator = discriminator;
    const xml = xmlOf(value["xml"]);
    if (xml) facts.xml = xml;
    return facts;
  }

  #nothing(part: DocumentPart): SchemaFacts {
    const name = schemaName(part.pointer);
    return {
      ...plainSchema(this.#document.evidence(part.pointer), []),
      ...(name === undefined ? {} : { name }),
      asJsonSchema: () => this.#writer.write(part),
    };
  }

  #lazy(part: DocumentPart): Lazy {
    return () => this.schema(part);
  }

  #all(schema: ObjectPart): Lazy[] {
    return itemsOf(memberOf(schema, "allOf")).map((part) => this.#lazy(part));
  }

  #alternatives(schema: ObjectPart, keyword: "oneOf" | "anyOf"): { schemas: Lazy[]; hasNull: boolean } {
    const parts = itemsOf(memberOf(schema, keyword));
    const others = parts.filter(({ value }) => !isNull(value));
    return { schemas: others.map((part) => this.#lazy(part)), hasNull: others.length < parts.length };
  }

  #pattern(schema: ObjectPart): string | undefined {
    const written = schema.value["pattern"];
    if (typeof written !== "string") return undefined;
    const pattern = readablePattern(written);
    if (pattern === undefined) {
      this.#document.remark(schema.pointer, `The pattern ${written.slice(0, 200)} cannot be read; it is not checked`);
    }
    return pattern;
  }

  /** A list as `items` is a tuple in old versions; `additionalItems` then says what follows. */
  #items(schema: ObjectPart): Pick<SchemaFacts, "prefixItems" | "items" | "maxItems"> {
    const items = memberOf(schema, "items");
    const isTuple = items !== undefined && Array.isArray(items.value);
    const first = isTuple ? items : memberOf(schema, "prefixItems");
    const rest = isTuple ? memberOf(schema, "additionalItems") : items;
    const prefixItems = itemsOf(first).map((part) => this.#lazy(part));
    if (rest?.value === false) return { prefixItems, maxItems: prefixItems.length };
    if (!rest || rest.value === true) return { prefixItems };
    return { prefixItems, items: this.#lazy(rest) };
  }

  #properties(schema: ObjectPart): ReadonlyMap<string, Lazy> {
    const part = memberOf(schema, "properties");
    if (!part || !isRecord(part.value)) return new Map();
    const inner = part;
    return new Map(
      Object.keys(part.value).flatMap((name) => {
        const member = memberOf(inner, name);
        return member ? [[name, this.#lazy(member)] as const] : [];
      }),
    );
  }

  #additional(schema: ObjectPart): SchemaFacts["additional"] {
    const part = memberOf(schema, "additionalProperties") ?? this.#closed(schema);
    if (!part) return "undeclared";
    if (part.value === false) return "none";
    if (part.value === true || (isRecord(part.value) && Object.keys(part.value).length === 0)) return "any";
    return isRecord(part.value) ? this.#lazy(part) : "undeclared";
  }

  /** Without parts to combine, this keyword means the same. */
  #closed(schema: ObjectPart): DocumentPart | undefined {
    const isCombined = ["allOf", "oneOf", "anyOf", "$ref", "if"].some((name) => schema.value[name] !== undefined);
    return isCombined ? undefined : memberOf(schema, "unevaluatedProperties");
  }

  #discriminator(schema: ObjectPart): SchemaFacts["discriminator"] {
    const part = memberOf(schema, "discriminator");
    if (!part) return undefined;
    const property = isRecord(part.value) ? textOf(part.value["propertyName"]) : textOf(part.value);
    if (property === undefined || property === "") return undefined;
    const mapping: Record<string, Lazy> = Object.create(null) as Record<string, Lazy>;
    for (const [value, { value: to }] of membersOf(memberOf(part, "mapping"))) {
      const target = typeof to === "string" ? this.#mapped(to, part.pointer) : undefined;
      if (target) mapping[value] = this.#lazy(target);
      else this.#document.remark(part.pointer, `The mapping of "${value}" leads nowhere; it is ignored`);
    }
    if (Object.keys(mapping).length > 0) return { property, mapping: { ...mapping } };
    for (const alternative of [...itemsOf(memberOf(schema, "oneOf")), ...itemsOf(memberOf(schema, "anyOf"))]) {
      const target = this.#document.follow(alternative);
      const name = target && schemaName(target.pointer);
      if (name !== undefined) mapping[name] = this.#lazy(alternative);
    }
    return { property, mapping: { ...mapping } };
  }

  /** A mapping has names of schemas or references. */
  #mapped(to: string, from: string): DocumentPart | undefined {
    const base = this.#document.format === "openapi-2.0" ? "#/definitions/" : "#/components/schemas/";
    const isName = !/[#/]/.test(to);
    return (isName ? this.#document.resolve(base + to, from) : undefined) ?? this.#document.resolve(to, from);
  }
}

type Annotations = Partial<
  Pick<SchemaFacts, "title" | "description" | "default" | "deprecated" | "readOnly" | "writeOnly">
> & {
  nullable?: boolean;
  examples?: unknown[];
};

function annotations(value: Record<string, unknown>): Annotations {
  const { title, description, deprecated, readOnly, writeOnly, nullable, example, examples } = value;
  const given = [
    ...(example === undefined ? [] : [example]),
    ...(Array.isArray(examples) ? (examples as unknown[]) : []),
  ];
  return {
    ...present({ title: textOf(title), description: textOf(description) }),
    ...(value["default"] === undefined ? {} : { default: value["default"] }),
    ...(deprecated === true ? { deprecated } : {}),
    ...(readOnly === true ? { readOnly } : {}),
    ...(writeOnly === true ? { writeOnly } : {}),
    ...(nullable === true || value["x-nullable"] === true ? { nullable: true } : {}),
    ...(given.length > 0 ? { examples: given } : {}),
  };
}

/** Whether a schema accepts null and nothing else. */
function isNull(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { type, enum: values } = value;
  if (Array.isArray(values) && values.length === 1 && values[0] === null) return true;
  return type === "null" || (Array.isArray(type) && type.length === 1 && type[0] === "null") || value["const"] === null;
}

function requiredOf({ required }: Record<string, unknown>): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

/** In 3.1, files are strings with an encoding or a media type. */
function contentFormat({ contentEncoding, contentMediaType }: Record<string, unknown>): string | undefined {
  if (typeof contentEncoding === "string") return /^base64/i.test(contentEncoding) ? "byte" : undefined;
  return typeof contentMediaType === "string" && !/json|xml|^text\//i.test(contentMediaType) ? "binary" : undefined;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}

function xmlOf(value: unknown): SchemaFacts["xml"] {
  if (!isRecord(value)) return undefined;
  const { name, namespace, prefix, nodeType } = value;
  return {
    ...present({ name: textOf(name), namespace: textOf(namespace), prefix: textOf(prefix) }),
    attribute: value["attribute"] === true || nodeType === "attribute",
    wrapped: value["wrapped"] === true || nodeType === "element",
  };
}

/** Keywords of the schema that the facts have no place for. */
function otherKeywords(schema: Record<string, unknown>): string[] {
  const others: string[] = OTHERS.filter((name) => schema[name] !== undefined);
  const unevaluated = schema["unevaluatedProperties"];
  if (unevaluated !== undefined && unevaluated !== true) others.push("unevaluatedProperties");
  return others;
}

/** Whether a schema says nothing of its own beside these keywords and descriptions. */
function saysOnly(schema: Record<string, unknown>, ...keywords: readonly string[]): boolean {
  return Object.keys(schema).every((name) => keywords.includes(name) || ANNOTATIONS.has(name) || name.startsWith("x-"));
}
