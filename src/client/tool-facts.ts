import { isRecord } from "../protocol/json-rpc.ts";
import type { Tool } from "../protocol/mcp.ts";
import { paramHeadersOf, type ParamHeader } from "../protocol/param-headers.ts";

/** What a call has to know about its tool beforehand. */
export interface ToolFacts {
  paramHeaders: readonly ParamHeader[];
  /** The tool says that doing it twice is the same as once. */
  harmless: boolean;
  /** 2025-11-25: the tool may be called as a task. */
  takesTasks: boolean;
}

export const UNKNOWN_TOOL: ToolFacts = { paramHeaders: [], harmless: false, takesTasks: false };

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(["optional", "required"]);

/** The facts of a tool, or why it must not be offered over HTTP. */
export function factsOf(tool: Tool): { facts: ToolFacts; reason?: string } {
  const harmless = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
  const takesTasks = isRecord(tool["execution"]) && TASK_SUPPORT.has(tool["execution"]["taskSupport"]);
  const found = paramHeadersOf(tool.inputSchema);
  if (!found.ok) return { facts: { paramHeaders: [], harmless, takesTasks }, reason: found.reason };
  return { facts: { paramHeaders: found.headers, harmless, takesTasks } };
}
