import type { Tool } from "../protocol/mcp.ts";
import { paramHeadersOf, type ParamHeader } from "../protocol/param-headers.ts";

/** What a call has to know about its tool beforehand. */
export interface ToolFacts {
  paramHeaders: readonly ParamHeader[];
  /** The tool says that doing it twice is the same as once. */
  harmless: boolean;
}

export const UNKNOWN_TOOL: ToolFacts = { paramHeaders: [], harmless: false };

/** The facts of a tool, or why it must not be offered over HTTP. */
export function factsOf(tool: Tool): { facts: ToolFacts; reason?: string } {
  const harmless = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
  const found = paramHeadersOf(tool.inputSchema);
  if (!found.ok) return { facts: { paramHeaders: [], harmless }, reason: found.reason };
  return { facts: { paramHeaders: found.headers, harmless } };
}
