import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";

/** A server whose tools never stop changing must not fill our memory. */
const MAX_WRAPPED = 10_000;

/**
 * Structured output for one session: anything but an object travels inside one, and since clients check results against
 * the schema they were shown, it is remembered which schemas were changed.
 */
export class ToolOutputs {
  readonly #version: LegacyRevision;
  readonly #showsTasks: boolean;
  readonly #wrapped = new Set<string>();

  /** `showsTasks`: tools say whether they can be called as tasks. */
  constructor(version: LegacyRevision, { showsTasks = false } = {}) {
    this.#version = version;
    this.#showsTasks = showsTasks;
  }

  /** A tool as this session's client may see it. */
  tool(tool: unknown): unknown {
    if (!isRecord(tool)) return tool;
    const { inputSchema, outputSchema } = tool;
    const input = withObjectProperties(inputSchema);
    // It tells about tasks.
    const hidesExecution = "execution" in tool && !this.#showsTasks;
    if (outputSchema === undefined && !hidesExecution) {
      return input === inputSchema ? tool : { ...tool, inputSchema: input };
    }
    const { outputSchema: _, ...shown } = tool;
    if (hidesExecution) delete shown["execution"];
    if (input !== inputSchema) shown["inputSchema"] = input;
    if (!isRecord(outputSchema) || !atLeast(this.#version, "2025-06-18")) return shown;
    const name = String(tool["name"]);
    if (describesObject(outputSchema)) {
      this.#wrapped.delete(name);
      return { ...shown, outputSchema: withObjectProperties(outputSchema) };
    }
    if (this.#wrapped.size >= MAX_WRAPPED) this.#wrapped.clear();
    this.#wrapped.add(name);
    return { ...shown, outputSchema: asObjectSchema(outputSchema) };
  }

  /** A tool's result, with its structured content in the shape that the client was told of. */
  result(name: unknown, result: Result): Result {
    const { structuredContent, ...others } = result;
    if (structuredContent === undefined) return result;
    if (!atLeast(this.#version, "2025-06-18")) return withText(others, structuredContent);
    const isWrapped = !isRecord(structuredContent) || this.#wrapped.has(String(name));
    return isWrapped ? { ...others, structuredContent: { result: structuredContent } } : result;
  }
}

/** What a client of before 2025-06-18 would not see otherwise. */
function withText(result: Result, structured: unknown): Result {
  const content = Array.isArray(result["content"]) ? (result["content"] as unknown[]) : [];
  if (content.some((block) => isRecord(block) && block["type"] === "text")) return result;
  return { ...result, content: [...content, { type: "text", text: JSON.stringify(structured) }] };
}

type Schema = Record<string, unknown>;

/** Revisions before 2026-07-28 know output schemas of objects only. */
function describesObject(schema: Schema): boolean {
  return schema["type"] === "object";
}

/** The schemas `true` and `false` as objects: clients of legacy revisions refuse the whole list for one under `properties`. */
export function withObjectProperties(schema: unknown): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  if (!isRecord(schema) || !isRecord(properties)) return schema;
  let copy: Schema | undefined;
  for (const name in properties) {
    if (typeof properties[name] !== "boolean") continue;
    copy ??= { ...properties };
    copy[name] = properties[name] ? {} : { not: {} };
  }
  return copy ? { ...schema, properties: copy } : schema;
}

/** The schema of an object whose only member, `result`, is what `schema` describes. */
function asObjectSchema(schema: Schema): Schema {
  const { $schema, ...inner } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: "object",
    properties: { result: rerooted(inner) },
    required: ["result"],
  };
}

const NEW_ROOT = "#/properties/result";
/** Their values are data, in which `$ref` is only a word. */
const DATA = new Set(["const", "enum", "default", "examples"]);
/** Their members are named by the schema's author, and each is a schema. */
const NAMED_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** With pointers that lead from the document's root to the same places as before. */
function rerooted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rerooted);
  // Below an `$id` of its own, pointers start there.
  if (!isRecord(schema) || typeof schema["$id"] === "string") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (REFERENCES.has(keyword) && typeof value === "string") return [keyword, moved(value)];
      if (NAMED_SCHEMAS.has(keyword) && isRecord(value)) {
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rerooted(each)]))];
      }
      return [keyword, rerooted(value)];
    }),
  );
}

/** Anchors (`#name`) and other documents are found from anywhere. */
function moved(reference: string): string {
  if (reference === "#") return NEW_ROOT;
  return reference.startsWith("#/") ? NEW_ROOT + reference.slice(1) : reference;
}
