import { isRecord } from "../json/is-record.ts";
import type { Result } from "../protocol/json-rpc.ts";
import { withContent } from "../protocol/legacy.ts";
import type { ServerCapabilities } from "../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../protocol/meta.ts";
import { isCacheable } from "../protocol/methods.ts";
import { atLeast } from "../protocol/revisions.ts";
import type { Client } from "./client.ts";

/** A server's result in the form of the newest revision, whichever revision the server speaks. */
export function newestResult({ era }: Pick<Client, "era">, method: string, received: Result): Result {
  const result = era === "legacy" ? fromLegacy(method, received) : received;
  const staysValid = isCacheable(method) && (result.resultType ?? "complete") === "complete";
  if (result.resultType !== undefined && !staysValid) return result;
  const full: Result = { resultType: "complete", ...result };
  if (staysValid) {
    // Absent or negative counts as stale at once, and as private.
    if (typeof full["ttlMs"] !== "number" || full["ttlMs"] < 0) full["ttlMs"] = 0;
    full["cacheScope"] ??= "private";
  }
  return full;
}

/**
 * A legacy revision has no kinds of results: whatever its server says there is neither a question nor a task that a caller
 * could be made to believe in.
 */
function fromLegacy(method: string, result: Result): Result {
  const own = result.resultType === undefined ? result : withoutKind(result);
  if (method === "tools/call") return withContent(own);
  return method === "tools/list" ? withoutExecution(own) : own;
}

function withoutKind(result: Result): Result {
  const { resultType: _, ...plain } = result;
  return plain;
}

/** In 2025-11-25 a tool says there how it takes tasks; from 2026-07-28 on the server decides. */
function withoutExecution(result: Result): Result {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  const plain = (tools as unknown[]).map((tool) => {
    if (!isRecord(tool) || !("execution" in tool)) return tool;
    const { execution: _, ...rest } = tool;
    return rest;
  });
  return { ...result, tools: plain };
}

/** What a server declares, in the form of the newest revision; undefined where it was never asked. */
export function newestCapabilities(
  client: Pick<Client, "era" | "protocolVersion" | "serverCapabilities">,
): ServerCapabilities | undefined {
  const { era, protocolVersion, serverCapabilities } = client;
  if (era === "modern" || !serverCapabilities) return serverCapabilities;
  const { tasks, ...modern } = serverCapabilities;
  if (takesTasks(tasks)) modern.extensions = { ...modern.extensions, [TASKS_EXTENSION]: {} };
  // Before 2025-03-26 there was the method, but no capability to declare it.
  const couldComplete = modern.prompts !== undefined || modern.resources !== undefined;
  if (couldComplete && !atLeast(protocolVersion, "2025-03-26")) modern.completions = {};
  return modern;
}

function takesTasks(tasks: unknown): boolean {
  const requests = isRecord(tasks) ? tasks["requests"] : undefined;
  const tools = isRecord(requests) ? requests["tools"] : undefined;
  return isRecord(tools) && tools["call"] !== undefined;
}
