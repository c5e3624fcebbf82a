import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { GetPromptResult } from "../../protocol/mcp.ts";
import { textResult } from "./arguments.ts";

/**
 * What handlers return, as results of the protocol. Handlers without types return anything; what is not a result is a
 * mistake of the server, and the error is for its log.
 */
export function toolResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return textResult(returned);
  if (isRecord(returned) && TOOL_MEMBERS.some((member) => returned[member] !== undefined)) return returned;
  throw notResult("tool", name, { returned, member: "content" });
}

export function resourceResult(uri: string, returned: unknown, mimeType: string | undefined): Result {
  if (typeof returned === "string")
    return { contents: [{ uri, ...(mimeType === undefined ? {} : { mimeType }), text: returned }] };
  if (Array.isArray(returned)) return { contents: returned };
  if (isRecord(returned) && (returned["contents"] ?? returned["resultType"]) !== undefined) return returned;
  throw notResult("resource", uri, { returned, member: "contents" });
}

export function promptResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return userSays(returned);
  if (isRecord(returned) && (returned["messages"] ?? returned["resultType"]) !== undefined) return returned;
  throw notResult("prompt", name, { returned, member: "messages" });
}

/** A result of a tool has one of these; `task` is that of a tool that is called as a task of 2025-11-25. */
const TOOL_MEMBERS = ["content", "structuredContent", "resultType", "task"];

function notResult(kind: string, name: string, { returned, member }: { returned: unknown; member: string }): TypeError {
  const what = nameOf(returned, member);
  return new TypeError(`The ${kind} ${JSON.stringify(name)} returned ${what}: return a string or { ${member} }`);
}

function nameOf(returned: unknown, member: string): string {
  if (returned === undefined || returned === null) return "nothing";
  if (Array.isArray(returned)) return "an array";
  return isRecord(returned) ? `an object without "${member}"` : `a ${typeof returned}`;
}

function userSays(text: string): GetPromptResult {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}
