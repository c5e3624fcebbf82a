import type { CancelSignal } from "../../async/cancellation.ts";
import type { Lease } from "../../host/servers/lease.ts";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type Notification,
  type Params,
  type Result,
} from "../../protocol/json-rpc.ts";
import type { ShownTools } from "../../protocol/shown-tools.ts";
import { knowsTasks, NO_CAPABILITIES, type CallerOutline, type UpstreamLease } from "./upstream-leases.ts";
import type { GatewayExchange } from "../names/view.ts";
import { ANYBODY, callerName, type Principal } from "../../server/core/principal.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { canBecomeTask, isInteractive } from "../../protocol/methods.ts";
import { isRecord } from "../../json/is-record.ts";
import { isLoudEnough, type ClientCapabilities, type Progress } from "../../protocol/mcp.ts";
import {
  CALLER_META,
  MISSING_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  SEARCHED_META,
  SEEN_META,
  SHOWN_META,
  TASKS_EXTENSION,
  URL_ELICITATION_REQUIRED,
} from "../../protocol/meta.ts";
import { childTrace, withoutReservedMeta } from "../../server/core/request-meta.ts";
import type { CallOptions } from "../../client/conversation/call-scope.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Caller } from "../../server/core/core.ts";
import type { Client } from "../../client/client.ts";
import { newestResult } from "../../client/newest-form.ts";
import { atLeast } from "../../protocol/revisions.ts";

/** The owner of connections: those that its calls use. */
export interface ConnectionOwner {
  principal: Principal;
  caller: CallerOutline;
  /** Called with the reason, in words, if a connection has to be waited for. */
  onWait?: ((reason: string) => void) | undefined;
}

/** One request to a server, in that server's own names. */
export interface UpstreamCall {
  /** Empty for `tasks/*`: the id of the task contains the server. */
  server: string;
  method: string;
  params: Params;
  exchange: GatewayExchange;
  /** Which state of the server's tools the caller has seen; empty if it is not known. Only for a server in this process. */
  seen?: string | undefined;
  /** What the caller may know of, for a tool that finds or describes others. Only for a server in this process. */
  shown?: ShownTools | undefined;
  /** Consent was given; further rounds of the call need none. */
  isConsented?: boolean | undefined;
}

/** The parts of the calls that names, lists and subscriptions use. */
export interface CallRunner {
  /** The result in the form of the newest specification, in the server's own names. */
  run(call: UpstreamCall): Promise<Result>;
  /** Whether the call continues one that got consent: then it is a further round of the same call. */
  takeConsent(call: UpstreamCall): boolean;
  /** The connection that calls of this owner use: a process keeps its state, and reports changes of it, only there. */
  lease(server: string, owner: ConnectionOwner, signal?: CancelSignal): Promise<Lease>;
  /** The task that an id stands for; undefined if the id was not issued to this principal. */
  findTask(taskId: unknown, principal: Principal): TaskPlace | undefined;
  release(owner: string): void;
}

/** A call with its connection and capabilities. */
export interface PreparedCall extends UpstreamCall {
  lease: UpstreamLease;
  /** What the server may ask of the caller. */
  capabilities: ClientCapabilities;
}

/** The parameters without what concerns only the caller and the gateway. */
function carriedParams({ method, params, exchange }: UpstreamCall): Params {
  const carried = params["_meta"] === undefined ? params : withoutPrivateMeta(withoutReservedMeta(params));
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

/** The options that pass progress and logs of a call to its caller, only those that the caller wants, and identify it. */
export function reportsTo(exchange: GatewayExchange): CallOptions {
  const { caller } = exchange;
  const { correlationId } = exchange;
  const trace = exchange.outgoing ?? childTrace(exchange.traceId, caller.trace);
  const options: CallOptions = { correlationId, trace, observed: exchange };
  if (caller.progressToken !== undefined) options.onProgress = (progress) => tellProgress(caller, progress);
  if (caller.logLevel) {
    options.logLevel = caller.logLevel;
    options.onNotification = (notification) => tellLog(caller, notification);
  }
  if (caller.pause) options.onStreamPaused = caller.pause;
  return options;
}

/** The trace context that is sent to servers. */
export function traceFor({ traceId, caller, outgoing }: GatewayExchange): NonNullable<CallOptions["trace"]> {
  return outgoing ?? childTrace(traceId, caller.trace);
}

/** Declares what a caller can be asked, for a server that asks in its result and never directly. */
export function declaring(capabilities: ClientCapabilities): InputProvider {
  return capabilities === NO_CAPABILITIES ? ASKS_NOTHING : { capabilities, handle: refuse };
}

function refuse(): never {
  throw new NexusError("CAPABILITY_MISSING", "A modern server must ask with an input_required result");
}

/** Nothing can be asked of most callers. */
export const ASKS_NOTHING: InputProvider = { capabilities: NO_CAPABILITIES, handle: refuse };

/** Uses the caller's own progress token. */
export function tellProgress(caller: Caller, progress: Progress): void {
  const { progressToken } = caller;
  if (progressToken === undefined) return;
  caller.notify({ jsonrpc: "2.0", method: "notifications/progress", params: { ...progress, progressToken } });
}

/** That the call waits before anything is sent. */
export function tellWaiting(caller: Caller, reason: string): void {
  tellProgress(caller, { progress: 0, message: reason });
}

/** Passes on log messages at or above the caller's level. */
export function tellLog(caller: Caller, { method, params }: Notification): void {
  const { logLevel } = caller;
  if (method !== "notifications/message" || !params || !logLevel || !isLoudEnough(params["level"], logLevel)) return;
  caller.notify({ jsonrpc: "2.0", method, params: withoutReservedMeta(params) });
}

/** A server's result in the form of the newest revision, without what concerns only the server and the gateway. */
export function canonicalResult(client: Pick<Client, "era">, method: string, result: Result): Result {
  return newestResult(client, method, result._meta === undefined ? result : withoutReservedMeta(result));
}

/**
 * A server's error with a code of the newest revision. Other codes are meaningful only to the server and are moved into
 * `data`.
 */
export function canonicalError(error: NexusError, caller: Caller): NexusError {
  const { rpc } = error.details;
  // The server asked for something that was not declared. That is the server's fault.
  if (!rpc && error.code === "CAPABILITY_MISSING")
    return new NexusError("PROTOCOL_VIOLATION", error.message, error.details);
  if (!rpc || !isServerDefined(rpc.code)) return error;
  if (rpc.code === RESOURCE_NOT_FOUND) return error.amended({ rpc: { ...rpc, code: INVALID_PARAMS } });
  if (isUnderstood(rpc.code, caller)) return error;
  if (rpc.code === URL_ELICITATION_REQUIRED && caller.era === "modern") {
    const message = `${rpc.message} (This client does not declare elicitation.url.)`;
    return capabilityMissing({ elicitation: { url: {} } }, message);
  }
  const data = rpc.data === undefined ? { code: rpc.code } : { code: rpc.code, data: rpc.data };
  return error.amended({ rpc: { code: INTERNAL_ERROR, message: rpc.message, data } });
}

function isServerDefined(code: number): boolean {
  return code <= -32_000 && code >= -32_099;
}

function isUnderstood(code: number, { era, version }: Caller): boolean {
  if (code === MISSING_CLIENT_CAPABILITY) return era === "modern";
  return code === URL_ELICITATION_REQUIRED && era === "legacy" && atLeast(version, "2025-11-25");
}

/** The error for a caller that did not declare what its call requires. */
export function capabilityMissing(requiredCapabilities: Record<string, unknown>, message: string): NexusError {
  const rpc = { code: MISSING_CLIENT_CAPABILITY, message, data: { requiredCapabilities } };
  return new NexusError("SERVER_ERROR", message, { rpc, mayHaveReached: false });
}
