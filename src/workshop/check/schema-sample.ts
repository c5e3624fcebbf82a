import { Ajv2020 } from "ajv/dist/2020.js";
import { isRecord } from "../../json/is-record.ts";

const MAX_DEPTH = 8;

/** A value that a JSON Schema from a tool file accepts; undefined if none is found. */
export function sampleOf(schema: Readonly<Record<string, unknown>>): unknown {
  const accepts = new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(schema);
  return candidates(schema, 0).find((value) => accepts(value));
}

function candidates(schema: unknown, depth: number): unknown[] {
  if (!isRecord(schema) || depth > MAX_DEPTH) return ["example"];
  const { const: constant, default: standard, examples, enum: values } = schema;
  const given = [constant, standard, ...listOf(examples), ...listOf(values)].filter((value) => value !== undefined);
  const inner = ["anyOf", "oneOf", "allOf"].flatMap((key) => listOf(schema[key]));
  return [...given, ...ofTypes(schema, depth), ...inner.flatMap((each) => candidates(each, depth + 1))];
}

function ofTypes(schema: Record<string, unknown>, depth: number): unknown[] {
  const first = (inner: unknown) => candidates(inner, depth + 1)[0];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = listOf(schema["required"]).map(String);
  const object = Object.fromEntries(required.map((name) => [name, first(properties[name])]));
  const all: Record<string, unknown[]> = {
    object: [object, {}],
    array: [[], Array.from({ length: Number(schema["minItems"] ?? 1) }, () => first(schema["items"]))],
    string: ["example", "example".padEnd(Number(schema["minLength"] ?? 0), "x").slice(0, limit(schema["maxLength"]))],
    integer: [1, schema["minimum"], schema["maximum"], schema["multipleOf"]],
    number: [1, schema["minimum"], schema["maximum"], schema["multipleOf"]],
    boolean: [true],
    null: [null],
  };
  const types = schema["type"] === undefined ? Object.keys(all) : [schema["type"]].flat().map(String);
  return types.flatMap((type) => all[type] ?? []).filter((value) => value !== undefined);
}

function limit(value: unknown): number {
  return typeof value === "number" ? value : Infinity;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
