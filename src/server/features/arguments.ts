import type { CallToolResult } from "../../protocol/mcp.ts";

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** The same value for programs and, repeated as text, for models. */
export function structuredResult<T>(value: T): CallToolResult<T> {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
