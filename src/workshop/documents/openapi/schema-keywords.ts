import { isRecord } from "../../../json/is-record.ts";
import type { SchemaFacts } from "../api-facts.ts";

type JsonType = SchemaFacts["types"][number];

const TYPES: readonly JsonType[] = ["string", "integer", "number", "boolean", "object", "array"];

/** Names that are not types, but whose meaning is plain. */
const MEANT: Readonly<Record<string, { type: JsonType; format?: string }>> = {
  file: { type: "string", format: "binary" },
  binary: { type: "string", format: "binary" },
  date: { type: "string", format: "date" },
  "date-time": { type: "string", format: "date-time" },
  datetime: { type: "string", format: "date-time" },
  timestamp: { type: "string" },
  uuid: { type: "string", format: "uuid" },
  text: { type: "string" },
  str: { type: "string" },
  int: { type: "integer" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  long: { type: "integer", format: "int64" },
  float: { type: "number" },
  double: { type: "number" },
  decimal: { type: "number" },
  bool: { type: "boolean" },
  list: { type: "array" },
  map: { type: "object" },
  dict: { type: "object" },
};

interface ReadTypes {
  types: JsonType[];
  /** Whether null is one of them. */
  hasNull: boolean;
  format?: string;
  /** Names that mean nothing. */
  unknown: string[];
}

/** The types of a schema. Those that it only implies are added: `properties` are about objects. */
export function readTypes(schema: Record<string, unknown>): ReadTypes {
  const { type } = schema;
  const read: ReadTypes = { types: [], hasNull: false, unknown: [] };
  for (const name of Array.isArray(type) ? (type as unknown[]) : type === undefined ? [] : [type]) addType(read, name);
  if (read.types.length === 0 && !read.hasNull && read.unknown.length === 0) read.types = impliedTypes(schema);
  return read;
}

function addType(read: ReadTypes, name: unknown): void {
  const text = typeof name === "string" ? name.trim().toLowerCase() : "";
  const type = TYPES.find((known) => known === text);
  const meant = Object.hasOwn(MEANT, text) ? MEANT[text] : undefined;
  if (text === "null") read.hasNull = true;
  else if (type) read.types = [...new Set([...read.types, type])];
  else if (meant) {
    read.types = [...new Set([...read.types, meant.type])];
    if (meant.format !== undefined) read.format = meant.format;
  } else if (text !== "any") read.unknown.push(JSON.stringify(name).slice(0, 50));
}

function impliedTypes(schema: Record<string, unknown>): JsonType[] {
  const has = (...names: string[]) => names.some((name) => schema[name] !== undefined);
  if (has("const")) return [];
  const { enum: values } = schema;
  if (Array.isArray(values))
    return values.length > 0 && values.every((value) => typeof value === "string") ? ["string"] : [];
  if (isRecord(schema["properties"]) || has("additionalProperties", "minProperties", "maxProperties"))
    return ["object"];
  if (isRecord(schema["items"]) || has("prefixItems", "minItems", "maxItems", "uniqueItems")) return ["array"];
  if (has("oneOf", "anyOf", "allOf", "$ref", "not", "if")) return [];
  return has("minLength", "maxLength", "pattern") ? ["string"] : [];
}

/** A number, also if its digits were too many for one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^[+-]?\d+(?:\.\d+)?$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A number that counts something. */
export function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 ? number : undefined;
}

type Bounds = Pick<SchemaFacts, "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum">;

/** Limits of numbers; in old versions `exclusiveMinimum: true` says that `minimum` itself is excluded. */
export function readBounds(schema: Record<string, unknown>): Bounds {
  return { ...oneBound(schema, "minimum", "exclusiveMinimum"), ...oneBound(schema, "maximum", "exclusiveMaximum") };
}

function oneBound(schema: Record<string, unknown>, usual: "minimum" | "maximum", exclusive: keyof Bounds): Bounds {
  const limit = numberOf(schema[usual]);
  if (schema[exclusive] === true) return limit === undefined ? {} : { [exclusive]: limit };
  const other = numberOf(schema[exclusive]);
  return { ...(limit === undefined ? {} : { [usual]: limit }), ...(other === undefined ? {} : { [exclusive]: other }) };
}

/** A pattern that JavaScript can read in Unicode mode, as JSON Schema wants it; undefined if it cannot be repaired. */
export function readablePattern(written: string): string | undefined {
  const delimited = /^\/(.+)\/[a-z]*$/s.exec(written)?.[1];
  for (const pattern of delimited === undefined ? [written] : [delimited, written]) {
    for (const attempt of [pattern, withoutNeedlessEscapes(pattern)]) if (isPattern(attempt)) return attempt;
  }
  return undefined;
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}

/** `\-` and `\@` are mistakes in Unicode mode. A hyphen keeps its backslash inside of brackets. */
function withoutNeedlessEscapes(pattern: string): string {
  let isInClass = false;
  return pattern.replaceAll(/\\(.)|[[\]]/gsu, (found: string, escaped: string | undefined) => {
    if (escaped === undefined) {
      isInClass = found === "[" || (isInClass && found !== "]");
      return found;
    }
    if (/[\w^$\\.*+?()[\]{}|/]/.test(escaped) && escaped !== "_") return found;
    return escaped === "-" && isInClass ? found : escaped;
  });
}
