import { isCacheable } from "../../protocol/methods.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { type LegacyRevision, atLeast } from "../../protocol/revisions.ts";
import { withoutReservedMeta } from "../core/request-meta.ts";
import type { ToolOutputs } from "./tool-outputs.ts";

/** What a request was, as far as its result depends on it. */
export interface Asked {
  method: string;
  params: Params;
}

/** A result of the newest form as a revision before it has it. `result` may be shared with others and stays as it is. */
export function legacyResult(
  { method, params }: Asked,
  result: Result,
  { version, outputs, runsTasks }: { version: LegacyRevision; outputs: ToolOutputs; runsTasks?: boolean },
): Result {
  const { resultType, ...kept } = withoutReservedMeta(result, runsTasks ? META.relatedTask : undefined);
  if (resultType !== undefined && resultType !== "complete") {
    throw new NexusError(
      "PROTOCOL_VIOLATION",
      `The answer to ${method} has the result type "${resultType}", which revision ${version} does not support`,
      { raw: result, mayHaveReached: true },
    );
  }
  switch (method) {
    case "tools/call":
      return legacyToolResult(params["name"], kept, { version, outputs });
    case "prompts/get":
      return legacyPrompt(kept, version);
    case "tools/list":
      return fresh({ ...kept, tools: listOf(kept["tools"]).map((tool) => outputs.tool(tool)) });
    default:
      return isCacheable(method) ? fresh(kept) : kept;
  }
}

function legacyToolResult(
  name: unknown,
  result: Result,
  { version, outputs }: { version: LegacyRevision; outputs: ToolOutputs },
): Result {
  const shaped = outputs.result(name, result);
  const { content } = shaped;
  const blocks = Array.isArray(content) ? legacyBlocks(content, version) : content;
  return blocks === content ? shaped : { ...shaped, content: blocks };
}

function legacyPrompt(result: Result, version: LegacyRevision): Result {
  const { messages } = result;
  if (!Array.isArray(messages)) return result;
  const shown = (messages as unknown[]).map((message) => {
    return isRecord(message) ? { ...message, content: legacyBlock(message["content"], version) } : message;
  });
  return { ...result, messages: shown };
}

/** How long an answer stays good is told since 2026-07-28. */
function fresh(result: Result): Result {
  const { ttlMs: _, cacheScope: _scope, ...others } = result;
  return others;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Content blocks for a revision: kinds that it does not have become text, everything else stays as it is. */
function legacyBlocks(blocks: readonly unknown[], version: LegacyRevision): readonly unknown[] {
  if (atLeast(version, "2025-06-18")) return blocks;
  return blocks.some((block) => legacyBlock(block, version) !== block)
    ? blocks.map((block) => legacyBlock(block, version))
    : blocks;
}

function legacyBlock(block: unknown, version: LegacyRevision): unknown {
  if (!isRecord(block) || atLeast(version, "2025-06-18")) return block;
  if (block["type"] === "resource_link") return asText(block, linkText(block));
  if (block["type"] === "audio" && !atLeast(version, "2025-03-26")) return asText(block, audioText(block, version));
  return block;
}

function asText({ annotations }: Record<string, unknown>, text: string): Record<string, unknown> {
  return annotations === undefined ? { type: "text", text } : { type: "text", text, annotations };
}

function linkText({ uri, name, title, description, mimeType }: Record<string, unknown>): string {
  const label = [textOf(title) ?? textOf(name), textOf(mimeType) && `(${textOf(mimeType)})`].filter(Boolean).join(" ");
  const address = textOf(uri) ?? "";
  return [label ? `${label}: ${address}` : address, textOf(description)].filter(Boolean).join("\n");
}

function audioText({ mimeType, data }: Record<string, unknown>, version: LegacyRevision): string {
  const bytes = Math.floor(((textOf(data) ?? "").length * 3) / 4);
  const kind = textOf(mimeType) ?? "of unknown type";
  return `[audio, ${kind}, about ${bytes} bytes: not supported in protocol revision ${version}]`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
