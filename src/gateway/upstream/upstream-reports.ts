import type { CallOptions } from "../../client/conversation/call-scope.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import { isLoudEnough, type ClientCapabilities, type Progress } from "../../protocol/mcp.ts";
import type { Caller } from "../../server/core/core.ts";
import { childTrace } from "../../server/core/correlation.ts";
import type { GatewayExchange } from "../names/view.ts";
import { NO_CAPABILITIES } from "./upstream-capabilities.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

/** The options that pass progress and logs of a call to its caller, only those that the caller wants, and identify it. */
export function reportsTo(exchange: GatewayExchange): CallOptions {
  const { caller } = exchange;
  const { correlationId } = exchange;
  const options: CallOptions = { correlationId, trace: traceFor(exchange), observed: exchange };
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
  return capabilities === NO_CAPABILITIES ? NOBODY : { capabilities, handle: refuse };
}

function refuse(): never {
  throw new NexusError("CAPABILITY_MISSING", "A modern server must ask with an input_required result");
}

const NOBODY: InputProvider = { capabilities: NO_CAPABILITIES, handle: refuse };

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
