import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { NO_PARAM_HEADERS, paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";

/** What a call has to know about its tool beforehand. */
export interface ToolFacts {
  paramHeaders: readonly ParamHeader[];
  /** The tool says that doing it twice is the same as once. */
  harmless: boolean;
  /** 2025-11-25: the tool may be called as a task. */
  takesTasks: boolean;
  /** 2025-11-25: it cannot be called otherwise. */
  needsTask: boolean;
}

export const UNKNOWN_TOOL: ToolFacts = { paramHeaders: [], harmless: false, takesTasks: false, needsTask: false };

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(["optional", "required"]);

/** The facts of a tool, or why it must not be offered where calls have headers. */
export function factsOf(tool: Tool, hasHeaders: boolean): { facts: ToolFacts; reason?: string } {
  const harmless = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
  const taskSupport = isRecord(tool["execution"]) ? tool["execution"]["taskSupport"] : undefined;
  const takesTasks = TASK_SUPPORT.has(taskSupport);
  const found = hasHeaders ? paramHeadersOf(tool.inputSchema) : NO_PARAM_HEADERS;
  if (!found.ok) return { facts: UNKNOWN_TOOL, reason: found.reason };
  // Most tools are alike; ten thousand of them need not be ten thousand objects.
  if (!harmless && !takesTasks && found.headers.length === 0) return { facts: UNKNOWN_TOOL };
  return { facts: { paramHeaders: found.headers, harmless, takesTasks, needsTask: taskSupport === "required" } };
}
