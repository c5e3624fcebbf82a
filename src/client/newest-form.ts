import { isRecord } from "../json/is-record.ts";
import type { Result } from "../protocol/json-rpc.ts";
import { withContent } from "../protocol/legacy.ts";
import type { ServerCapabilities } from "../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../protocol/meta.ts";
import { isCacheable } from "../protocol/methods.ts";
import { atLeast } from "../protocol/revisions.ts";
import type { Client } from "./client.ts";

/** A server's result in the form of the newest revision, for any revision of the server. */
export function newestResult({ era }: Pick<Client, "era">, method: string, received: Result): Result {
  const result = era === "legacy" ? fromLegacy(method, received) : received;
  const staysValid = isCacheable(method) && (result.resultType ?? "complete") === "complete";
  if (result.resultType !== undefined && !staysValid) return result;
  const full: Result = { resultType: "complete", ...result };
  if (staysValid) {
    // Absent or negative means: outdated at once, and private.
    if (typeof full["ttlMs"] !== "number" || full["ttlMs"] < 0) full["ttlMs"] = 0;
    full["cacheScope"] ??= "private";
  }
  return full;
}

/**
 * Legacy revisions have no result types: a `resultType` from a legacy server must not be taken for a question or a
 * task.
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

/** In 2025-11-25 a tool declares here how it supports tasks; in 2026-07-28 the server decides. */
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

/** A server's capabilities in the form of the newest revision; undefined if it was not asked. */
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

/** A legacy server cannot say how long a list stays valid. A modern one that does not say it means: not at all. */
const LEGACY_LIST_MS = 60_000;

/** How long to use a list of a server that neither said how long it stays valid nor reports its changes. */
export function unstatedLifetimeMs({ era }: Pick<Client, "era">): number {
  return era === "legacy" ? LEGACY_LIST_MS : 0;
}

/** Whether the level of log messages is set once for the connection. Otherwise each request has its own level. */
export function hasLogLevelOfConnection(client: Pick<Client, "era" | "serverCapabilities">): boolean {
  return client.era === "legacy" && client.serverCapabilities?.logging !== undefined;
}

function takesTasks(tasks: unknown): boolean {
  const requests = isRecord(tasks) ? tasks["requests"] : undefined;
  const tools = isRecord(requests) ? requests["tools"] : undefined;
  return isRecord(tools) && tools["call"] !== undefined;
}
