import type { CancelSignal } from "../../async/cancellation.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Logger } from "../../text/logger.ts";
import {
  INVALID_PARAMS,
  isRequestId,
  type ErrorObject,
  type Notification,
  type Params,
  type Request,
} from "../../protocol/json-rpc.ts";
import { LOG_LEVELS, type ClientCapabilities, type LogLevel, type ProgressToken } from "../../protocol/mcp.ts";
import { META, UNSUPPORTED_VERSION } from "../../protocol/meta.ts";
import type { Era, ModernRevision } from "../../protocol/revisions.ts";
import type { ClientName, Core } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import type { Receipt } from "../core/receipt.ts";
import type { ServedRevisions } from "../core/served-revisions.ts";
import { behalfIn, clientNameIn, seenIn, withoutReservedMeta } from "../core/reserved-meta.ts";

/** What a modern request says about its sender in `_meta`, and the parameters without it. */
export interface RequestSender {
  version: string;
  capabilities: ClientCapabilities;
  logLevel: LogLevel | undefined;
  progressToken: ProgressToken | undefined;
  client: ClientName | undefined;
  onBehalfOf: string | undefined;
  seen: string | undefined;
  params: Params;
}

/** One modern request, whatever it came on. */
export interface ModernRequest {
  core: Core;
  principal: Principal;
  request: Request;
  /** The edge calls it before it writes the answer. */
  receipt?: Receipt | undefined;
  /** Fires when the caller no longer wants the answer, or when the server ends a subscription. */
  signal: CancelSignal;
  /** On the request's own stream, before its answer. */
  send: (message: Notification) => void;
  /** Hears what failed, where the caller is not told. */
  logger: Logger;
}

/** The version that a message claims for itself; any claim at all makes it modern. */
export function claimedVersion(params: unknown): unknown {
  if (!isRecord(params)) return undefined;
  const meta = params["_meta"];
  return isRecord(meta) ? meta[META.protocolVersion] : undefined;
}

/** The era of a message, by what it says itself; undefined where it says nothing, and both are served. */
export function eraOf({ method, params }: Request | Notification, served: ServedRevisions): Era | undefined {
  if (served.modern.length === 0) return "legacy";
  if (served.legacy.length === 0 || claimedVersion(params) !== undefined) return "modern";
  return method === "initialize" ? "legacy" : undefined;
}

/** Why a version that a message claims cannot be served. */
export function versionProblem(claimed: unknown, supported: readonly ModernRevision[]): ErrorObject | undefined {
  if (claimed === undefined) return missing(META.protocolVersion);
  if (supported.some((revision) => revision === claimed)) return undefined;
  const requested = typeof claimed === "string" ? claimed : JSON.stringify(claimed);
  return {
    code: UNSUPPORTED_VERSION,
    message: `Unsupported protocol version: ${requested}`,
    data: { supported: [...supported], requested },
  };
}

/** Who sent a modern request: version first, then the other keys that are required. */
export function readSender(
  { method, params = {} }: Request,
  supported: readonly ModernRevision[],
): { sender: RequestSender } | { problem: ErrorObject } {
  const { _meta: meta } = params;
  const claimed = isRecord(meta) ? meta[META.protocolVersion] : undefined;
  // A legacy client says its version elsewhere; it is told which ones are served, like any other.
  const version = claimed ?? (method === "initialize" ? params["protocolVersion"] : undefined);
  const problem = versionProblem(version, supported);
  if (problem) return { problem };
  if (!isRecord(meta) || !isRecord(meta[META.clientCapabilities])) return { problem: missing(META.clientCapabilities) };
  return {
    sender: {
      version: String(version),
      capabilities: meta[META.clientCapabilities] as ClientCapabilities,
      logLevel: LOG_LEVELS.find((level) => level === meta[META.logLevel]),
      progressToken: isRequestId(meta["progressToken"]) ? meta["progressToken"] : undefined,
      client: clientNameIn(meta[META.clientInfo]),
      onBehalfOf: behalfIn(meta),
      seen: seenIn(meta),
      params: withoutReservedMeta(params),
    },
  };
}

function missing(key: string): ErrorObject {
  return { code: INVALID_PARAMS, message: `"_meta" of the request must have "${key}"` };
}
