import { canBecomeTask, isInteractive } from "../../protocol/methods.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { CALLER_META, TASKS_EXTENSION } from "../../protocol/meta.ts";
import { ANYBODY, callerName } from "../../server/core/principal.ts";
import { knowsTasks } from "./upstream-capabilities.ts";
import type { UpstreamCall } from "./call-runner.ts";
import type { UpstreamLease } from "./upstream-leases.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

/** A call with what it is made with. */
export interface PreparedCall extends UpstreamCall {
  lease: UpstreamLease;
  /** What the server may ask of the caller. */
  capabilities: ClientCapabilities;
}

/** The parameters without what was between the caller and the gateway. */
function carriedParams({ method, params, exchange }: UpstreamCall): Params {
  const carried = withoutReservedMeta(params);
  if (!isInteractive(method)) return carried;
  const { requestState, inputResponses, task } = carried;
  if (requestState === undefined && inputResponses === undefined && task === undefined) return carried;
  const { requestState: _state, inputResponses: _responses, task: _task, ...rest } = carried;
  // Whether a call becomes a task is not the caller's to say in the newest revision, nor to an older one here.
  const isRetry = exchange.caller.era === "modern" && inputResponses !== undefined;
  return isRetry ? { ...rest, inputResponses } : rest;
}

/**
 * Names the caller to a server in this process, and to no other. Without authentication the caller is whoever runs the
 * program, as on the command line, and is not named.
 */
export function paramsFor(call: UpstreamCall, { client }: UpstreamLease): Params {
  const params = carriedParams(call);
  if (!client.isInProcess || call.exchange.principal === ANYBODY) return params;
  const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
  return { ...params, _meta: { ...meta, [CALLER_META]: callerName(call.exchange.principal) } };
}

/** The parameters of a tool's call. */
export function toolCall({ params }: UpstreamCall): Params & { name: string } {
  return { ...params, name: String(params["name"]) };
}

/** Whether the server makes tasks of calls of this method. */
export function hasTasks({ method, lease: { client } }: PreparedCall): boolean {
  if (!canBecomeTask(method)) return false;
  const { serverCapabilities: offered } = client;
  return (client.era === "modern" ? offered?.extensions?.[TASKS_EXTENSION] : offered?.["tasks"]) !== undefined;
}

/**
 * Whether this call, to a server that has tasks, may become one: a modern server decides by itself, one of 2025-11-25 leaves
 * it to the caller where it does not insist, and a caller that declares that it follows tasks wants one.
 */
export async function mayBecomeTask({ params, capabilities, lease: { client } }: PreparedCall): Promise<boolean> {
  if (client.era === "modern") return true;
  const name = String(params["name"]);
  return knowsTasks(capabilities) ? client.takesTask(name) : client.needsTask(name);
}
