import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { NO_PARAM_HEADERS, paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";

/** The facts about a tool that a call needs. */
export interface ToolFacts {
  paramHeaders: readonly ParamHeader[];
  /** Whether the tool declares that repeating a call has no additional effect. */
  harmless: boolean;
  /** 2025-11-25: the tool may be called as a task. */
  takesTasks: boolean;
  /** 2025-11-25: the tool can only be called as a task. */
  needsTask: boolean;
}

export const UNKNOWN_TOOL: ToolFacts = { paramHeaders: [], harmless: false, takesTasks: false, needsTask: false };

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(["optional", "required"]);

/** The facts of a tool, or why it must not be offered over HTTP. */
export function factsOf(tool: Tool, hasHeaders: boolean): { facts: ToolFacts; reason?: string } {
  const harmless = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
  const taskSupport = isRecord(tool["execution"]) ? tool["execution"]["taskSupport"] : undefined;
  const takesTasks = TASK_SUPPORT.has(taskSupport);
  const found = hasHeaders ? paramHeadersOf(tool.inputSchema) : NO_PARAM_HEADERS;
  if (!found.ok) return { facts: UNKNOWN_TOOL, reason: found.reason };
  // Most tools are alike and share one object.
  if (!harmless && !takesTasks && found.headers.length === 0) return { facts: UNKNOWN_TOOL };
  return { facts: { paramHeaders: found.headers, harmless, takesTasks, needsTask: taskSupport === "required" } };
}
