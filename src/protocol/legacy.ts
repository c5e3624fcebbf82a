import { isRecord } from "../json/is-record.ts";
import type { Result } from "./json-rpc.ts";
import { atLeast } from "./revisions.ts";

/** The headers of a POST or GET to a legacy server after `initialize`. */
export function legacyHeaders(version: string, sessionId: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  // Revisions before 2025-06-18 do not have this header, and some of their servers reject unknown headers.
  if (atLeast(version, "2025-06-18")) headers["mcp-protocol-version"] = version;
  if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
  return headers;
}

/** A result of `tools/call`. Before 2024-11-05 it had `toolResult` instead of `content`, and some servers still send that. */
export function withContent(result: Result): Result {
  const { toolResult, content } = result;
  if (content !== undefined || toolResult === undefined) return result;
  // Some servers put the whole result in there.
  const inner = isRecord(toolResult) ? toolResult : {};
  const failure = result["isError"] === undefined && inner["isError"] === true ? { isError: true } : {};
  if (Array.isArray(inner["content"])) return { ...result, ...failure, content: inner["content"] };
  const text = typeof toolResult === "string" ? toolResult : JSON.stringify(toolResult, undefined, 2);
  return { ...result, ...failure, content: [{ type: "text", text }] };
}
