import { quoteWord } from "../../text/shell-words.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { SchemaReader } from "../../schema/type-text.ts";
import { sampleText } from "../../workshop/pattern/sample-text.ts";

/** Example texts for the most common formats. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: "https://example.com",
  url: "https://example.com",
  email: "ada@example.com",
  time: "12:00:00Z",
  "date-time": "2026-01-31T12:00:00Z",
  uuid: "00000000-0000-4000-8000-000000000000",
};
/** Limits of an example, because a schema may contain itself. */
const DEEPEST = 5;
const MOST_VALUES = 200;
const MOST_ITEMS = 5;
const FIRST_DAY = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;

/** Arguments of a call to copy: the server's own example, or the required arguments with valid placeholder values. */
export function exampleArguments({ inputSchema }: Pick<Tool, "inputSchema">, platform?: NodeJS.Platform): string[] {
  const { examples } = inputSchema;
  const own: unknown = Array.isArray(examples) ? examples[0] : undefined;
  const call = isRecord(own) ? own : new ExampleMaker(new SchemaReader(inputSchema)).members(inputSchema);
  return Object.entries(call).map(([name, value]) => {
    // A list is written by repeating the argument; a single simple item needs no list.
    const item: unknown = Array.isArray(value) && value.length === 1 && !isStructure(value[0]) ? value[0] : value;
    const text = isStructure(item) ? JSON.stringify(item) : String(item);
    return `--arg ${quoteWord(`${name}=${text}`, platform)}`;
  });
}

/** Makes values that a schema accepts, as far as possible without solving it. */
class ExampleMaker {
  readonly #reader: SchemaReader;
  #left = MOST_VALUES;
  /** Days used so far: each date is later than the one before, like arrival and departure. */
  #days = 0;

  constructor(reader: SchemaReader) {
    this.#reader = reader;
  }

  value(given: unknown, depth = 0): unknown {
    const schema = this.#reader.resolved(given);
    if (!isRecord(schema) || depth > DEEPEST || this.#left-- <= 0) return "text";
    const { examples, enum: choices, anyOf, oneOf, allOf } = schema;
    if ("const" in schema) return schema["const"];
    if ("default" in schema && schema["default"] !== null) return schema["default"];
    for (const values of [examples, choices])
      if (Array.isArray(values) && values.length > 0) return values[0] as unknown;
    const inner = [anyOf, oneOf, allOf].find((list) => Array.isArray(list)) as unknown[] | undefined;
    const type = typeOf(schema);
    if (type === undefined && inner) {
      const first = inner.find((one) => !isRecord(one) || one["type"] !== "null");
      return this.value(first, depth + 1);
    }
    return this.#ofType(type, schema, depth);
  }

  #ofType(type: unknown, schema: Record<string, unknown>, depth: number): unknown {
    switch (type) {
      case "integer":
      case "number":
        return numberIn(schema);
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return Array.from({ length: Math.min(Math.max(numberOf(schema["minItems"]) ?? 1, 1), MOST_ITEMS) }, () =>
          this.value(schema["items"], depth + 1),
        );
      case "object":
        return this.members(schema, depth + 1);
      default:
        return this.#text(schema);
    }
  }

  /** The required members of an object. */
  members(schema: unknown, depth = 0): Record<string, unknown> {
    const needed = this.#reader.properties(schema).filter(({ isRequired }) => isRequired);
    return Object.fromEntries(needed.map((member) => [member.name, this.value(member.schema, depth)]));
  }

  #text({ format, pattern, minLength, maxLength }: Record<string, unknown>): string {
    if (format === "date") return new Date(FIRST_DAY + DAY_MS * this.#days++).toISOString().slice(0, 10);
    const usual = FORMATS[String(format)];
    if (usual !== undefined) return usual;
    const limits = {
      pattern: typeof pattern === "string" ? pattern : undefined,
      minLength: numberOf(minLength),
      maxLength: numberOf(maxLength),
    };
    return sampleText(limits.pattern === undefined ? ["text"] : ["text", ...Object.values(FORMATS)], limits) ?? "text";
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function typeOf({ type, properties }: Record<string, unknown>): unknown {
  if (Array.isArray(type)) return type.find((one) => one !== "null");
  return type ?? (isRecord(properties) ? "object" : undefined);
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
