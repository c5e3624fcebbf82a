import { NexusError } from "../../errors/nexus-error.ts";
import type { FieldSpec, Shape, ToolFile, TypeSpec, UnionShape, ScalarShape } from "../file/model/tool-file.ts";
import { findType, isOnSide } from "../shape/shape-parts.ts";
import { tagOf, type Tag } from "../shape/union-tags.ts";
import type { JsonSchema } from "./json-schema.ts";

/** ISO 8601 with or without a zone; JSON Schema's `date-time` requires one. */
export const DATETIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$`;

/** A number as text, with all its digits. */
const DIGITS = { integer: String.raw`^-?\d+$`, number: String.raw`^-?\d+(\.\d+)?([eE][+-]?\d+)?$` };
const OF_NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"] as const;

/** How a schema is written. */
export interface SchemaStyle {
  side: "input" | "output";
  /** Whether unknown members are refused. */
  closed: boolean;
  /** Whether this type is written in its own place; undefined: every one that is not recursive. */
  isInline?: (type: string) => boolean;
  /** Whether this type is left out: then it is any object. */
  isCut?: (type: string) => boolean;
  /** For the checker: its own keyword for alternatives, and references that are valid everywhere. */
  forChecks?: boolean;
  /** More fields than that throw SchemaTooLarge: types that contain others twice would grow without bound. */
  maxProperties?: number;
}

/** The id of a schema that is written for the checker. */
export const CHECKED_ID = "nexus:input";
/** The keyword of the checker for alternatives. */
export const VARIANTS = "variants";
/** What a description of a part that is not shown says. */
export const CUT_NOTE = "(more: describe)";

/** A definition that would be too large to write. */
export class SchemaTooLarge extends Error {}

/** A type, and in alternatives the value by which it is recognised. */
interface Target {
  type: string;
  tag?: Tag | undefined;
}

/** Types are written where they are used; a recursive type is written once and referenced. */
export class SchemaWriter {
  readonly #file: ToolFile;
  readonly #style: SchemaStyle;
  readonly #open = new Set<string>();
  readonly #shared = new Set<string>();
  /** By key, in the order in which they were finished. */
  readonly #written = new Map<string, JsonSchema>();
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #cut: string[] = [];
  #properties = 0;

  constructor(file: ToolFile, style: SchemaStyle) {
    this.#file = file;
    this.#style = style;
  }

  /** The parts that were left out: fields by their paths. */
  get cut(): readonly string[] {
    return this.#cut;
  }

  whole(type: string): JsonSchema {
    this.#nameOf({ type });
    const schema = this.#type({ type }, "");
    if (this.#shared.has(keyOf({ type }))) this.#written.set(keyOf({ type }), schema);
    if (this.#written.size === 0) return schema;
    const definitions = [...this.#written].map(([key, definition]) => [this.#names.get(key) ?? key, definition]);
    return { ...schema, $defs: Object.fromEntries(definitions) };
  }

  #type(target: Target, path: string): JsonSchema {
    const type = this.#spec(target.type);
    const key = keyOf(target);
    this.#open.add(key);
    const schema = type.union
      ? withDescription(this.#union(type.union, path), type.description)
      : this.#object(type, target.tag, path);
    this.#open.delete(key);
    return schema;
  }

  #object(type: TypeSpec, tag: Tag | undefined, path: string): JsonSchema {
    const fields = Object.entries(type.fields);
    const shown = fields.filter(([name, field]) => name === tag?.field || isShown(field, this.#style.side));
    this.#properties += shown.length;
    if (this.#properties > (this.#style.maxProperties ?? Infinity)) throw new SchemaTooLarge();
    const isTagged = (name: string) => name === tag?.field && this.#style.side === "input";
    const required = shown.filter(([name, field]) => isTagged(name) || this.#isRequired(field)).map(([name]) => name);
    const properties = shown.map(([name, field]) => {
      const schema = name === tag?.field ? tagSchema(field, tag) : this.#field(field, inner(path, name));
      return [name, schema] as const;
    });
    return {
      type: "object",
      ...(type.description === undefined ? {} : { description: type.description }),
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      ...this.#further(type, path),
    };
  }

  #further({ additional }: TypeSpec, path: string): JsonSchema {
    if (additional) return { additionalProperties: this.#anyAsTrue(this.#shape(additional, `${path}.*`)) };
    return this.#style.closed ? { additionalProperties: false } : {};
  }

  #anyAsTrue(schema: JsonSchema): JsonSchema | true {
    return Object.keys(schema).length === 0 ? true : schema;
  }

  #isRequired(field: FieldSpec): boolean {
    if (this.#style.side === "input") return !field.optional && field.default === undefined;
    return (field.shape.kind === "list" && !field.nullable) || field.const !== undefined;
  }

  #field(field: FieldSpec, path: string): JsonSchema {
    const plain = field.const === undefined ? this.#shape(field.shape, path) : { const: field.const };
    const schema = field.nullable ? this.#orNull(plain) : plain;
    const isCut = schema["description"] === CUT_NOTE && field.description !== undefined;
    return {
      ...schema,
      ...(field.description === undefined
        ? {}
        : { description: isCut ? `${field.description} ${CUT_NOTE}` : field.description }),
      ...(field.default === undefined || this.#style.side === "output" ? {} : { default: field.default }),
    };
  }

  #shape(shape: Shape, path: string): JsonSchema {
    const isInput = this.#style.side === "input";
    switch (shape.kind) {
      case "scalar":
        return scalarSchema(shape, this.#style.side);
      case "object":
        return this.#reference({ type: shape.type }, path);
      case "list":
        return {
          type: "array",
          items: this.#shape(shape.of, `${path}[]`),
          ...(isInput ? limits(shape, ["minItems", "maxItems", "uniqueItems"]) : {}),
        };
      case "map":
        return {
          type: "object",
          additionalProperties: this.#anyAsTrue(this.#shape(shape.of, `${path}.*`)),
          ...(isInput && shape.minEntries !== undefined ? { minProperties: shape.minEntries } : {}),
          ...(isInput && shape.maxEntries !== undefined ? { maxProperties: shape.maxEntries } : {}),
        };
      case "union":
        return this.#union(shape, path);
      case "any":
        // Upstream decides what it answers.
        if (isInput && shape.schema) return shape.schema;
        return shape.only === "object" ? { type: "object" } : {};
    }
  }

  /**
   * Alternatives may overlap, so one or more must match; with a discriminator, exactly one does. If one of them is left
   * out, all are.
   */
  #union(union: UnionShape, path: string): JsonSchema {
    const known = this.#cut.length;
    const each = union.of.map((shape) =>
      shape.kind === "object"
        ? this.#reference({ type: shape.type, tag: tagOf(this.#file, union, shape.type) }, path)
        : this.#shape(shape, path),
    );
    if (each.some(({ description }) => description === CUT_NOTE)) {
      this.#cut.length = known;
      return this.#leftOut(
        path,
        each.every(({ type }) => type === "object"),
      );
    }
    if (this.#style.forChecks) return { [VARIANTS]: each };
    const [only] = each;
    if (only && each.length === 1) return only;
    return union.discriminator && this.#style.side === "input" ? { oneOf: each } : { anyOf: each };
  }

  #orNull(schema: JsonSchema): JsonSchema {
    const { type, enum: values } = schema;
    if (Object.keys(schema).length === 0) return schema;
    if (typeof type === "string" || Array.isArray(type)) {
      return {
        ...schema,
        type: [...[type as string | string[]].flat(), "null"],
        ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
      };
    }
    const alternatives = this.#style.forChecks ? VARIANTS : "anyOf";
    const { description, ...rest } = schema;
    return { [alternatives]: [rest, { type: "null" }], ...(description === undefined ? {} : { description }) };
  }

  #reference(target: Target, path: string): JsonSchema {
    const { isInline, isCut } = this.#style;
    const key = keyOf(target);
    if (isCut?.(target.type)) return this.#leftOut(path, !this.#spec(target.type).union);
    const isShared = isInline !== undefined && !isInline(target.type);
    if (!this.#open.has(key) && !this.#written.has(key)) {
      if (isShared) this.#shared.add(key);
      const schema = this.#type(target, path);
      if (!this.#shared.has(key)) return schema;
      this.#written.set(key, schema);
    }
    this.#shared.add(key);
    return { $ref: `${this.#style.forChecks ? CHECKED_ID : ""}#/$defs/${this.#nameOf(target)}` };
  }

  #leftOut(path: string, isObject: boolean): JsonSchema {
    this.#cut.push(path);
    return { ...(isObject ? { type: "object" } : {}), description: CUT_NOTE };
  }

  /** Names of definitions: that of the type; in alternatives, followed by the value. */
  #nameOf(target: Target): string {
    const key = keyOf(target);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const value = target.tag?.values.join("_").replaceAll(/\W/g, "_");
    const wanted = value === undefined || value === target.type ? target.type : `${target.type}_${value}`.slice(0, 100);
    let name = wanted;
    for (let count = 2; this.#taken.has(name) || (name !== target.type && findType(this.#file, name)); count++) {
      name = `${wanted}_${count}`;
    }
    this.#names.set(key, name);
    this.#taken.add(name);
    return name;
  }

  #spec(name: string): TypeSpec {
    const type = findType(this.#file, name);
    if (!type) throw new NexusError("CONFIG_INVALID", `There is no type "${name}"`);
    return type;
  }
}

/** Whether callers give a field, or see it. */
export function isShown(field: FieldSpec, side: "input" | "output"): boolean {
  if (field.hidden || !isOnSide(field, side)) return false;
  return side === "output" || (field.const === undefined && field.value === undefined);
}

function keyOf({ type, tag }: Target): string {
  return tag ? JSON.stringify([type, tag]) : type;
}

function inner(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function tagSchema({ description }: FieldSpec, { values }: Tag): JsonSchema {
  const [only] = values;
  const schema = values.length === 1 ? { const: only } : { enum: values };
  return { ...schema, ...(description === undefined ? {} : { description }) };
}

function withDescription(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined || "$ref" in schema ? schema : { ...schema, description };
}

/** Answers are shown unchanged, even if they are longer or larger than the document says. */
function scalarSchema(shape: ScalarShape, side: "input" | "output"): JsonSchema {
  return side === "input" ? withLimits(shape) : withoutLimits(withLimits(shape), shape);
}

function withLimits(shape: ScalarShape): JsonSchema {
  if (shape.codes) return { type: "string", enum: [...new Set(Object.values(shape.codes))] };
  switch (shape.type) {
    case "string":
      return { type: "string", ...limits(shape, ["minLength", "maxLength", "pattern", "enum", "format"]) };
    case "integer":
    case "number": {
      const exact = shape.exact ? { type: [shape.type, "string"], pattern: DIGITS[shape.type] } : { type: shape.type };
      return { ...exact, ...limits(shape, OF_NUMBERS) };
    }
    case "boolean":
    case "presence":
      return { type: "boolean" };
    case "date":
      return { type: "string", format: "date" };
    case "datetime":
      return { type: "string", pattern: DATETIME };
    case "binary":
      return { type: "string", contentEncoding: "base64" };
  }
}

function withoutLimits({ type, format, enum: values }: JsonSchema, shape: ScalarShape): JsonSchema {
  return {
    type,
    // Clients would refuse an answer whose text has another format than the document says.
    ...(format === undefined || shape.type === "string" ? {} : { format }),
    ...(values === undefined ? {} : { enum: values }),
  };
}

/** Only members that are set. */
function limits<T extends object>(shape: T, names: readonly (keyof T & string)[]): JsonSchema {
  return Object.fromEntries(names.filter((name) => shape[name] !== undefined).map((name) => [name, shape[name]]));
}
