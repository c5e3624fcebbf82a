import { canBecomeTask, isInteractive } from "../../protocol/methods.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { CALLER_META, SEARCHED_META, SEEN_META, SHOWN_META, TASKS_EXTENSION } from "../../protocol/meta.ts";
import { ANYBODY, callerName } from "../../server/core/principal.ts";
import { knowsTasks } from "./upstream-capabilities.ts";
import type { UpstreamCall } from "./call-runner.ts";
import type { UpstreamLease } from "./upstream-leases.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

/** A call with its connection and capabilities. */
export interface PreparedCall extends UpstreamCall {
  lease: UpstreamLease;
  /** What the server may ask of the caller. */
  capabilities: ClientCapabilities;
}

/** The parameters without what concerns only the caller and the gateway. */
function carriedParams({ method, params, exchange }: UpstreamCall): Params {
  const carried = withoutPrivateMeta(withoutReservedMeta(params));
  if (!isInteractive(method)) return carried;
  const { requestState, inputResponses, task } = carried;
  if (requestState === undefined && inputResponses === undefined && task === undefined) return carried;
  const { requestState: _state, inputResponses: _responses, task: _task, ...rest } = carried;
  // A caller cannot choose whether a call becomes a task: modern revisions leave that to the server, and so does the
  // gateway.
  const isRetry = exchange.caller.era === "modern" && inputResponses !== undefined;
  return isRetry ? { ...rest, inputResponses } : rest;
}

/** Without what only a gateway tells a server in its process, which its callers cannot set. */
function withoutPrivateMeta(params: Params): Params {
  const { _meta: meta } = params;
  if (!isRecord(meta) || !(SHOWN_META in meta || SEARCHED_META in meta)) return params;
  const { [SHOWN_META]: _shown, [SEARCHED_META]: _searched, ...kept } = meta;
  return { ...params, _meta: kept };
}

/**
 * Adds the caller's name, and what it has seen, for a server in this process, and for no other. Without authentication the caller is the user
 * of the program, as on the command line, and is not named.
 */
export function paramsFor(call: UpstreamCall, { client }: UpstreamLease): Params {
  const params = carriedParams(call);
  const { seen, shown, exchange } = call;
  const isNamed = exchange.principal !== ANYBODY;
  if (!client.isInProcess || (!isNamed && seen === undefined && shown === undefined)) return params;
  const own = isRecord(params["_meta"]) ? params["_meta"] : undefined;
  // The usual case costs least as a literal.
  if (!own && !isNamed && shown === undefined) return { ...params, _meta: { [SEEN_META]: seen } };
  const name = isNamed ? { [CALLER_META]: callerName(exchange.principal) } : undefined;
  const noted = seen === undefined ? undefined : { [SEEN_META]: seen };
  const known = shown === undefined ? undefined : { [SHOWN_META]: shown };
  return { ...params, _meta: { ...own, ...name, ...noted, ...known } };
}

/** The parameters of a tool's call. */
export function toolCall({ params }: UpstreamCall): Params & { name: string } {
  return { ...params, name: String(params["name"]) };
}

/** Whether the server supports tasks for this method. */
export function hasTasks({ method, lease: { client } }: PreparedCall): boolean {
  if (!canBecomeTask(method)) return false;
  const { serverCapabilities: offered } = client;
  return (client.era === "modern" ? offered?.extensions?.[TASKS_EXTENSION] : offered?.["tasks"]) !== undefined;
}

/**
 * Whether this call, to a server that has tasks, may become one. A modern server decides that itself. A server of
 * 2025-11-25 may require it; otherwise it is a task if the caller declares that it follows tasks.
 */
export async function mayBecomeTask({ params, capabilities, lease: { client } }: PreparedCall): Promise<boolean> {
  if (client.era === "modern") return true;
  const name = String(params["name"]);
  return knowsTasks(capabilities) ? client.takesTask(name) : client.needsTask(name);
}
