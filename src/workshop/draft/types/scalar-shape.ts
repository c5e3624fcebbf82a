import type { SchemaFacts } from "../../documents/api-facts.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import type { FieldSpec, ScalarShape, Shape } from "../../file/model/tool-file.ts";

type Simple = "string" | "integer" | "number" | "boolean";

/** Formats that say nothing more than the type. */
const EMPTY_FORMATS = new Set(["int32", "float", "double", "string", "text", "number", "boolean", "object", "any"]);

/** A single value with its limits. `unusable` is told the limits that a tool file cannot have. */
export function scalarShape(
  schema: SchemaFacts,
  type: Simple,
  { bytes, unusable }: { bytes: boolean; unusable: (what: string) => void },
): Shape {
  const { codes } = schema;
  if (codes && codes.length > 0 && type !== "boolean") {
    const named = Object.fromEntries(codes.map(({ value, name }) => [value, name]));
    return { kind: "scalar", type: type === "number" ? "integer" : type, codes: named, whitespace: "keep" };
  }
  const values = enumOf(schema, type);
  if (values) return enumShape(values);
  switch (type) {
    case "boolean":
      return { kind: "scalar", type, whitespace: "keep" };
    case "integer":
    case "number":
      return numberShape(schema, type);
    case "string":
      return textShape(schema, { bytes, unusable });
  }
}

/** The values of an enumeration in the type of the schema, without null and repetitions; undefined if there is none. */
function enumOf({ enum: listed, const: only }: SchemaFacts, type: Simple): (string | number)[] | undefined {
  const given = listed ?? (only === undefined ? undefined : [only]);
  if (type === "boolean" || given === undefined) return undefined;
  const values = given.flatMap((value): (string | number)[] => {
    if (typeof value === "string") {
      // Numbers in quotes are a common mistake of documents.
      const number = Number(value);
      if (type === "string") return [value];
      return value.trim() !== "" && Number.isFinite(number) ? [number] : [];
    }
    if (typeof value === "boolean") return type === "string" ? [String(value)] : [];
    if (typeof value !== "number" || !isExact(value)) return [];
    return [type === "string" ? String(value) : value];
  });
  return values.length === 0 ? undefined : [...new Set(values)];
}

/** Text and numbers may be mixed only as alternatives. */
export function enumShape(values: readonly (string | number)[]): Shape {
  const texts = values.filter((value) => typeof value === "string");
  const numbers = values.filter((value) => typeof value === "number");
  const shapes: ScalarShape[] = [];
  if (texts.length > 0) shapes.push({ kind: "scalar", type: "string", enum: texts, whitespace: "keep" });
  if (numbers.length > 0) {
    const type = numbers.every((value) => Number.isInteger(value)) ? "integer" : "number";
    shapes.push({ kind: "scalar", type, enum: numbers, whitespace: "keep" });
  }
  const [first] = shapes;
  return shapes.length === 1 && first ? first : { kind: "union", of: shapes };
}

function numberShape(schema: SchemaFacts, type: "integer" | "number"): ScalarShape {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const least = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
  const most = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const isPossible = least <= most;
  return {
    kind: "scalar",
    type,
    ...(isPossible ? limitsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }) : {}),
    ...(multipleOf !== undefined && multipleOf > 0 && multipleOf !== 1 ? { multipleOf } : {}),
    ...(type === "integer" && schema.format === "int64" ? { exact: true as const } : {}),
    ...(type === "number" && schema.decimals !== undefined ? { decimals: schema.decimals } : {}),
    whitespace: "keep",
  };
}

function limitsOf(limits: Record<string, number | undefined>): Partial<ScalarShape> {
  return Object.fromEntries(
    Object.entries(limits).filter(([, limit]) => limit !== undefined && Number.isFinite(limit)),
  );
}

function textShape(
  schema: SchemaFacts,
  { bytes, unusable }: { bytes: boolean; unusable: (what: string) => void },
): ScalarShape {
  const { format = "", minLength, maxLength, pattern } = schema;
  if (format === "presence") return { kind: "scalar", type: "presence", whitespace: "keep" };
  if (format === "date") return { kind: "scalar", type: "date", whitespace: "keep" };
  if (format === "date-time" && pattern === undefined) return { kind: "scalar", type: "datetime", whitespace: "keep" };
  if (bytes && (format === "binary" || format === "base64"))
    return { kind: "scalar", type: "binary", whitespace: "keep" };
  const isPossible = (minLength ?? 0) <= (maxLength ?? Infinity);
  const isUsable = pattern === undefined || isUsablePattern(pattern);
  if (!isUsable) unusable("The pattern cannot be checked in linear time, so it was left out. Describe it in words?");
  const isFormat = /^[a-z][a-z0-9-]{0,31}$/.test(format) && !EMPTY_FORMATS.has(format);
  return {
    kind: "scalar",
    type: "string",
    ...(isPossible && minLength !== undefined && minLength > 0 ? { minLength } : {}),
    ...(isPossible && maxLength !== undefined ? { maxLength } : {}),
    ...(pattern !== undefined && isUsable ? { pattern } : {}),
    ...(isFormat ? { format } : {}),
    whitespace: schema.xml?.collapse ? "collapse" : "keep",
  };
}

function isUsablePattern(pattern: string): boolean {
  try {
    linearPattern(pattern);
    // Callers check it with their own engines, in the mode of JSON Schema.
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}

/** Whether a number stays the same in a file and in JSON. */
export function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** A value that callers need not give. */
export function fixedValue({ fixed, const: only }: SchemaFacts, shape: Shape): Pick<FieldSpec, "const"> {
  const isSimple = typeof only === "string" || typeof only === "number" || typeof only === "boolean";
  return fixed && isSimple && shape.kind === "scalar" && !shape.codes ? { const: only } : {};
}
