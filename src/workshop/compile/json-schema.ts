import { NexusError } from "../../errors/nexus-error.ts";
import type { FieldSpec, ScalarShape, Shape, ToolFile, TypeSpec } from "../file/model/tool-file.ts";

export type JsonSchema = Record<string, unknown>;

/** ISO 8601 with or without a zone; JSON Schema's `date-time` requires one. */
export const DATETIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$`;

/** The schema of a caller's arguments, without fields that are set automatically. */
export function inputSchema(file: ToolFile, type: string, unknown: "reject" | "drop"): JsonSchema {
  return new SchemaWriter(file, { side: "input", closed: unknown === "reject" }).whole(type);
}

/**
 * The schema of a result. Upstream decides what it answers, so only lists and constants, which are always present, are
 * required. An answer without something else is still a valid result, with `deviations`.
 */
export function outputSchema(file: ToolFile, type: string): JsonSchema {
  const schema = new SchemaWriter(file, { side: "output", closed: false }).whole(type);
  return { ...schema, properties: { ...(schema["properties"] as JsonSchema), deviations: DEVIATIONS } };
}

const DEVIATIONS: JsonSchema = {
  type: "array",
  description: "Where the answer was not as documented: what was received stands here instead of in its place.",
  items: {
    type: "object",
    properties: { path: { type: "string" }, problem: { type: "string" }, received: { type: "string" } },
    required: ["path", "problem"],
  },
};

interface Setting {
  side: "input" | "output";
  /** Whether unknown members are refused. */
  closed: boolean;
}

/** Types are written where they are used; a recursive type is written once and referenced. */
class SchemaWriter {
  readonly #file: ToolFile;
  readonly #setting: Setting;
  readonly #open: string[] = [];
  readonly #recursive = new Set<string>();
  readonly #definitions: Record<string, JsonSchema> = {};

  constructor(file: ToolFile, setting: Setting) {
    this.#file = file;
    this.#setting = setting;
  }

  whole(type: string): JsonSchema {
    const schema = this.#type(type);
    if (this.#recursive.has(type)) this.#definitions[type] = schema;
    return Object.keys(this.#definitions).length === 0 ? schema : { ...schema, $defs: this.#definitions };
  }

  #type(name: string): JsonSchema {
    const type = this.#file.types[name] as TypeSpec;
    this.#open.push(name);
    const shown = Object.entries(type.fields).filter(([, field]) => this.#isShown(field));
    const required = shown.filter(([, field]) => this.#isRequired(field)).map(([field]) => field);
    const schema = {
      type: "object",
      ...(type.description === undefined ? {} : { description: type.description }),
      properties: Object.fromEntries(shown.map(([field, spec]) => [field, this.#field(spec)])),
      ...(required.length === 0 ? {} : { required }),
      ...(this.#setting.closed ? { additionalProperties: false } : {}),
    };
    this.#open.pop();
    return schema;
  }

  #isShown(field: FieldSpec): boolean {
    if (field.hidden) return false;
    return this.#setting.side === "output" || (field.const === undefined && field.value === undefined);
  }

  #isRequired(field: FieldSpec): boolean {
    if (this.#setting.side === "input") return !field.optional && field.default === undefined;
    return field.shape.kind === "list" || field.const !== undefined;
  }

  #field(field: FieldSpec): JsonSchema {
    const schema = field.const === undefined ? this.#shape(field.shape) : { const: field.const };
    return {
      ...schema,
      ...(field.description === undefined ? {} : { description: field.description }),
      ...(field.default === undefined || this.#setting.side === "output" ? {} : { default: field.default }),
    };
  }

  #shape(shape: Shape): JsonSchema {
    switch (shape.kind) {
      case "scalar":
        return this.#setting.side === "input" ? scalar(shape) : withoutLimits(scalar(shape));
      case "object":
        return this.#reference(shape.type);
      case "list":
        return {
          type: "array",
          items: this.#shape(shape.of),
          ...(this.#setting.side === "input" ? limits(shape, ["minItems", "maxItems"]) : {}),
        };
      case "map":
      case "union":
      case "any":
        throw new NexusError("CONFIG_INVALID", `A value of the kind ${shape.kind} has no schema yet`);
    }
  }

  #reference(name: string): JsonSchema {
    const isOpen = this.#open.includes(name);
    if (!isOpen && !this.#recursive.has(name)) {
      const schema = this.#type(name);
      if (!this.#recursive.has(name)) return schema;
      this.#definitions[name] = schema;
    }
    this.#recursive.add(name);
    return { $ref: `#/$defs/${name}` };
  }
}

function scalar(shape: ScalarShape): JsonSchema {
  if (shape.codes) return { type: "string", enum: [...new Set(Object.values(shape.codes))] };
  switch (shape.type) {
    case "string":
      return { type: "string", ...limits(shape, ["minLength", "maxLength", "pattern", "enum"]) };
    case "integer":
    case "number":
      return { type: shape.type, ...limits(shape, ["minimum", "maximum", "enum"]) };
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

function limits<T extends object>(shape: T, names: readonly (keyof T & string)[]): JsonSchema {
  return Object.fromEntries(names.filter((name) => shape[name] !== undefined).map((name) => [name, shape[name]]));
}

/** Answers are shown unchanged, even if they are longer or larger than the document says. */
function withoutLimits({ type, format, enum: values }: JsonSchema): JsonSchema {
  return {
    type,
    ...(format === undefined ? {} : { format }),
    ...(values === undefined ? {} : { enum: values }),
  };
}
