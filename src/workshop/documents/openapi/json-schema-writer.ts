import { isRecord } from "../../../json/is-record.ts";
import { itemsOf, memberOf, textOf, type ApiDocument, type ObjectPart, type DocumentPart } from "./api-document.ts";
import { countOf, numberOf, readablePattern, readBounds, readTypes } from "./schema-keywords.ts";
import { schemaName } from "./schema-name.ts";

type JsonSchema = Record<string, unknown>;

/** Larger schemas are cut: what is beyond accepts anything. */
const MAX_SCHEMAS = 50_000;

const COUNTS = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
] as const;
const TEXTS = ["title", "description", "format", "contentEncoding", "contentMediaType"] as const;
const FLAGS = ["deprecated", "readOnly", "writeOnly", "uniqueItems"] as const;
const INNER = [
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
  "contains",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;
const LISTS = ["allOf", "oneOf", "anyOf"] as const;

/** Writes schemas of a document as JSON Schema 2020-12; what they refer to is in `$defs`. */
export class JsonSchemaWriter {
  readonly #document: ApiDocument;

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  write(part: DocumentPart): JsonSchema {
    return new Writing(this.#document).complete((writing) => writing.schema(part));
  }

  /** An object with these properties. */
  object(properties: ReadonlyMap<string, DocumentPart>, required: ReadonlySet<string>): JsonSchema {
    return new Writing(this.#document).complete((writing) => ({
      type: "object",
      properties: Object.fromEntries([...properties].map(([name, part]) => [name, writing.schema(part)])),
      ...(required.size > 0 ? { required: [...required] } : {}),
    }));
  }
}

/** One schema being written, and the definitions that it needs. */
class Writing {
  readonly #document: ApiDocument;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #waiting: { name: string; part: DocumentPart }[] = [];
  #count = 0;

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  complete(write: (writing: Writing) => JsonSchema | boolean): JsonSchema {
    const root = write(this);
    const definitions: Record<string, unknown> = {};
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      definitions[next.name] = this.schema(next.part);
    }
    const schema = typeof root === "object" ? root : root ? {} : { not: {} };
    return this.#names.size > 0 ? { ...schema, $defs: definitions } : schema;
  }

  schema(part: DocumentPart): JsonSchema | boolean {
    const { value, pointer } = part;
    if (typeof value === "boolean") return value;
    if (!isRecord(value) || ++this.#count > MAX_SCHEMAS) return {};
    const schema: ObjectPart = { value, pointer };
    const ref = value["$ref"] ?? value["$dynamicRef"] ?? value["$recursiveRef"];
    if (typeof ref !== "string") return nullable(this.#keywords(schema), value);
    const reference = this.#reference(ref, schema);
    const own = this.#document.isModern ? this.#keywords(schema) : texts(value);
    return nullable({ ...own, ...reference }, value);
  }

  #reference(ref: string, { pointer }: ObjectPart): JsonSchema {
    const target = this.#document.resolve(ref, pointer);
    if (!target || !this.#document.follow(target)) return {};
    let name = this.#names.get(target.pointer);
    if (name === undefined) {
      name = this.#freeName(schemaName(target.pointer) ?? "Part");
      this.#names.set(target.pointer, name);
      this.#waiting.push({ name, part: target });
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** Names need no escaping in pointers. */
  #freeName(wanted: string): string {
    const base = wanted.replaceAll(/[^\w.-]/g, "_");
    let name = base;
    for (let number = 2; this.#taken.has(name) || name === "__proto__"; number++) name = `${base}_${number}`;
    this.#taken.add(name);
    return name;
  }

  #keywords(schema: ObjectPart): JsonSchema {
    const { value } = schema;
    const { types, hasNull, format } = readTypes({ type: value["type"] });
    const all = [...types, ...(hasNull ? ["null"] : [])];
    const written: JsonSchema = {
      ...(all.length === 0 ? {} : { type: all.length === 1 ? all[0] : all }),
      ...(format === undefined ? {} : { format }),
      ...texts(value),
      ...readBounds(value),
    };
    for (const name of FLAGS) if (value[name] === true) written[name] = true;
    for (const name of COUNTS) {
      const count = countOf(value[name]);
      if (count !== undefined) written[name] = count;
    }
    const multiple = numberOf(value["multipleOf"]);
    if (multiple !== undefined && multiple > 0) written["multipleOf"] = multiple;
    const pattern = typeof value["pattern"] === "string" ? readablePattern(value["pattern"]) : undefined;
    if (pattern !== undefined) written["pattern"] = pattern;
    for (const name of ["default", "const"]) if (value[name] !== undefined) written[name] = value[name];
    const { enum: values, required } = value;
    if (Array.isArray(values) && values.length > 0) written["enum"] = values as unknown[];
    if (Array.isArray(required))
      written["required"] = [...new Set(required.filter((name) => typeof name === "string"))];
    return { ...written, ...this.#inner(schema) };
  }

  #inner(schema: ObjectPart): JsonSchema {
    const written: JsonSchema = {};
    for (const name of INNER) {
      const part = memberOf(schema, name);
      if (part) written[name] = this.schema(part);
    }
    for (const name of LISTS) {
      const parts = itemsOf(memberOf(schema, name));
      if (parts.length > 0) written[name] = parts.map((part) => this.schema(part));
    }
    for (const name of ["properties", "dependentSchemas"]) {
      const members = this.#members(schema, name);
      if (members) written[name] = members;
    }
    const patterns = this.#members(schema, "patternProperties");
    if (patterns) written["patternProperties"] = withReadableNames(patterns);
    const items = memberOf(schema, "items");
    const isTuple = items !== undefined && Array.isArray(items.value);
    const first = itemsOf(isTuple ? items : memberOf(schema, "prefixItems"));
    const rest = isTuple ? memberOf(schema, "additionalItems") : items;
    if (first.length > 0) written["prefixItems"] = first.map((part) => this.schema(part));
    if (rest) written["items"] = this.schema(rest);
    return written;
  }

  #members(schema: ObjectPart, name: string): JsonSchema | undefined {
    const part = memberOf(schema, name);
    if (!part || !isRecord(part.value)) return undefined;
    return Object.fromEntries(
      Object.keys(part.value).flatMap((member) => {
        const inner = memberOf(part, member);
        return inner ? [[member, this.schema(inner)] as const] : [];
      }),
    );
  }
}

function texts(value: Record<string, unknown>): JsonSchema {
  const all = TEXTS.map((name) => [name, textOf(value[name])] as const);
  return Object.fromEntries(all.filter(([, text]) => text !== undefined));
}

function withReadableNames(patterns: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(patterns).flatMap(([pattern, schema]) => {
      const readable = readablePattern(pattern);
      return readable === undefined ? [] : [[readable, schema] as const];
    }),
  );
}

/** `nullable` of OpenAPI 3.0 beside the other keywords. */
function nullable(schema: JsonSchema, { nullable: is, "x-nullable": also }: Record<string, unknown>): JsonSchema {
  if (is !== true && also !== true) return schema;
  const { type, enum: values, ...others } = schema;
  const isPlain = !["$ref", "const", "allOf", "oneOf", "anyOf", "not", "if"].some((name) =>
    Object.hasOwn(schema, name),
  );
  if (!isPlain || type === undefined) {
    const { title, description, ...rest } = schema;
    const said = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
    return isPlain && values === undefined ? schema : { ...said, anyOf: [rest, { type: "null" }] };
  }
  const types = [...new Set([...(Array.isArray(type) ? (type as unknown[]) : [type]), "null"])];
  return {
    type: types,
    ...(Array.isArray(values) ? { enum: [...new Set([...(values as unknown[]), null])] } : {}),
    ...others,
  };
}
