import { isCacheable } from "../../protocol/methods.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import { legacyBlock, legacyBlocks } from "./legacy-content.ts";
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
