import { isRecord } from "../protocol/json-rpc.ts";
import type { Tool } from "../protocol/mcp.ts";
import { SchemaReader } from "./schema-type.ts";
import { quoteWord } from "./split-words.ts";

/** Texts of the formats that servers ask for most. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: "https://example.com",
  url: "https://example.com",
  email: "ada@example.com",
  date: "2026-01-31",
  time: "12:00:00Z",
  "date-time": "2026-01-31T12:00:00Z",
  uuid: "00000000-0000-4000-8000-000000000000",
};
const DEEPEST = 5;

/** Arguments of a call to copy: what the tool needs, with values of the right type to be replaced. */
export function exampleArguments({ inputSchema }: Pick<Tool, "inputSchema">, platform?: NodeJS.Platform): string[] {
  const reader = new SchemaReader(inputSchema);
  const needed = reader.properties(inputSchema).filter(({ isRequired }) => isRequired);
  return needed.map(({ name, schema }) => {
    const value = exampleValue(reader, schema);
    // Lists are given by repeating the argument; an item that is no list or object itself can stand alone.
    const item: unknown = Array.isArray(value) && value.length === 1 && !isStructure(value[0]) ? value[0] : value;
    const text = isStructure(item) ? JSON.stringify(item) : String(item);
    return `--arg ${quoteWord(`${name}=${text}`, platform)}`;
  });
}

/** A value that a schema takes, as near as can be told without solving it. */
export function exampleValue(reader: SchemaReader, given: unknown, depth = 0): unknown {
  const schema = reader.resolved(given);
  if (!isRecord(schema) || depth > DEEPEST) return "text";
  const { examples, enum: choices, anyOf, oneOf, allOf } = schema;
  if ("const" in schema) return schema["const"];
  if ("default" in schema && schema["default"] !== null) return schema["default"];
  for (const values of [examples, choices]) if (Array.isArray(values) && values.length > 0) return values[0] as unknown;
  const type: unknown = Array.isArray(schema["type"]) ? schema["type"].find((one) => one !== "null") : schema["type"];
  const inner = [anyOf, oneOf, allOf].find((list) => Array.isArray(list)) as unknown[] | undefined;
  if (type === undefined && inner && !isRecord(schema["properties"])) {
    const first = inner.find((one) => !isRecord(one) || one["type"] !== "null");
    return exampleValue(reader, first, depth + 1);
  }
  switch (type ?? (isRecord(schema["properties"]) ? "object" : "string")) {
    case "integer":
    case "number":
      return numberIn(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [exampleValue(reader, schema["items"], depth + 1)];
    case "object": {
      const needed = reader.properties(schema).filter(({ isRequired }) => isRequired);
      return Object.fromEntries(needed.map((member) => [member.name, exampleValue(reader, member.schema, depth + 1)]));
    }
    default:
      return FORMATS[String(schema["format"])] ?? "text";
  }
}

function numberIn({ minimum, exclusiveMinimum, maximum, multipleOf }: Record<string, unknown>): number {
  if (typeof minimum === "number") return minimum;
  if (typeof exclusiveMinimum === "number") return Math.floor(exclusiveMinimum) + 1;
  const usual = typeof multipleOf === "number" ? multipleOf : 1;
  return typeof maximum === "number" ? Math.min(maximum, usual) : usual;
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
