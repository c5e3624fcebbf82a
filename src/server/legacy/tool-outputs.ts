import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import { asObjectSchema, describesObject, withObjectProperties } from "./object-schema.ts";

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
