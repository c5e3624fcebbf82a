import type { ScalarShape } from "../file/model/tool-file.ts";
import type { JsonSchema } from "./json-schema.ts";

/** ISO 8601 with or without a zone; JSON Schema's `date-time` requires one. */
export const DATETIME = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$`;

/** A number as text, with all its digits. */
const DIGITS = { integer: String.raw`^-?\d+$`, number: String.raw`^-?\d+(\.\d+)?([eE][+-]?\d+)?$` };
const OF_NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"] as const;

/** Answers are shown unchanged, even if they are longer or larger than the document says. */
export function scalarSchema(shape: ScalarShape, side: "input" | "output"): JsonSchema {
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

/** Only members that are set. */
export function limits<T extends object>(shape: T, names: readonly (keyof T & string)[]): JsonSchema {
  return Object.fromEntries(names.filter((name) => shape[name] !== undefined).map((name) => [name, shape[name]]));
}

function withoutLimits({ type, format, enum: values }: JsonSchema, shape: ScalarShape): JsonSchema {
  return {
    type,
    // Clients would refuse an answer whose text has another format than the document says.
    ...(format === undefined || shape.type === "string" ? {} : { format }),
    ...(values === undefined ? {} : { enum: values }),
  };
}
