import {
  INVALID_PARAMS,
  isRequestId,
  METHOD_NOT_FOUND,
  type ErrorObject,
  type Notification,
  type Params,
  type Request,
  type Response,
  type Result,
} from "../../protocol/json-rpc.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import {
  LOG_LEVELS,
  type ClientCapabilities,
  type Implementation,
  type LogLevel,
  type ProgressToken,
} from "../../protocol/mcp.ts";
import {
  CALLER_META,
  CORRELATION_META,
  META,
  SEEN_META,
  MISSING_CLIENT_CAPABILITY,
  TASKS_EXTENSION,
  UNSUPPORTED_VERSION,
} from "../../protocol/meta.ts";
import { isRemoved } from "../../protocol/methods.ts";
import { MODERN_REVISIONS, type Era, type ModernRevision } from "../../protocol/revisions.ts";
import {
  servedRevisions,
  type ClientName,
  type Core,
  type Exchange,
  type Offer,
  type ServedRevisions,
} from "../core/core.ts";
import {
  behalfIn,
  clientNameIn,
  correlationOf,
  isCorrelated,
  withoutReservedMeta,
  type Correlation,
} from "../core/request-meta.ts";
import { principalKey, type Principal } from "../core/principal.ts";
import { logHidden, rpcErrorOf } from "../core/rpc-error.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Logger } from "../../text/logger.ts";
import type { Receipt } from "../core/receipt.ts";
import { asNotifications, listsIn, type Interests } from "../../protocol/interests.ts";

/** Answers one modern request from what it carries alone: nothing is remembered between requests. Never rejects. */
export async function answerModern(r: ModernRequest): Promise<Response> {
  try {
    const { core, request } = r;
    const read = readSender(request, servedRevisions(core).modern);
    if ("problem" in read) return failed(request, read.problem);
    return await answerTo(exchangeFrom(read.sender, r, correlationOf(request.params?.["_meta"], undefined)), r);
  } catch (error) {
    return unanswered(error, r);
  }
}

/** The same for an exchange: HTTP compares headers with the body before. */
export async function answerTo(exchange: Exchange, r: ModernRequest): Promise<Response> {
  try {
    const { core, request } = r;
    const result = await resultOf(exchange, r);
    const shown = core.showsCorrelation && isCorrelated(request.method) ? exchange.correlationId : undefined;
    return { jsonrpc: "2.0", id: request.id, result: signed(result, core.serverInfo(), shown) };
  } catch (error) {
    return unanswered(error, r);
  }
}

function unanswered(error: unknown, { request, logger }: ModernRequest): Response {
  logHidden(error, request.method, logger);
  return failed(request, rpcErrorOf(error));
}

/** Every answer says who gives it, and at a gateway to which request. */
function signed(result: Result, info: Implementation | undefined, correlationId: string | undefined): Result {
  if (!info && correlationId === undefined) return result;
  const _meta: Record<string, unknown> = info ? { [META.serverInfo]: info, ...result._meta } : { ...result._meta };
  if (correlationId !== undefined) _meta[CORRELATION_META] = correlationId;
  return result._meta ? { ...result, _meta } : { _meta, ...result };
}

export function failed({ id }: Request, error: ErrorObject): Response {
  return { jsonrpc: "2.0", id, error };
}

async function resultOf(exchange: Exchange, r: ModernRequest): Promise<Result> {
  const { core } = r;
  const { method, principal } = exchange;
  if (method === "server/discover") return discovery(await core.offer(principal), core);
  if (method === "subscriptions/listen") return listenModern(exchange, r);
  // A server of an older revision may know them, but this caller speaks the newest one.
  if (isRemoved(method)) throw unknownMethod(method);
  return core.handle(exchange);
}

/** The request in the form that cores take. */
export function exchangeFrom(
  { version, capabilities, logLevel, progressToken, client, onBehalfOf, seen, params }: RequestSender,
  { core, principal, request, receipt, signal, send }: ModernRequest,
  { correlationId, traceId, trace }: Correlation,
): Exchange {
  return {
    endpoint: core.endpoint,
    principal,
    method: request.method,
    params,
    caller: {
      era: "modern",
      version,
      owner: principalKey(principal),
      capabilities,
      logLevel,
      progressToken,
      client,
      trace,
      onBehalfOf,
      seen,
      notify: send,
      ask: undefined,
    },
    correlationId,
    traceId,
    failure: undefined,
    called: undefined,
    state: undefined,
    receipt,
    span: undefined,
    outgoing: undefined,
    upstreamMs: undefined,
    retries: undefined,
    signal,
  };
}

function discovery({ serverInfo, capabilities, instructions, ttlMs, cacheScope }: Offer, core: Core): Result {
  return {
    resultType: "complete",
    supportedVersions: [...servedRevisions(core).modern],
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs,
    cacheScope,
    _meta: { [META.serverInfo]: serverInfo },
  };
}

function unknownMethod(method: string): NexusError {
  const message = `Method not found: ${method} does not exist in ${MODERN_REVISIONS[0]}`;
  return new NexusError("CAPABILITY_MISSING", message, {
    rpc: { code: METHOD_NOT_FOUND, message },
    mayHaveReached: false,
  });
}

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
  if (supported.includes(claimed as ModernRevision)) return undefined;
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
      logLevel:
        meta[META.logLevel] === undefined ? undefined : LOG_LEVELS.find((level) => level === meta[META.logLevel]),
      progressToken: isRequestId(meta["progressToken"]) ? meta["progressToken"] : undefined,
      client: clientNameIn(meta[META.clientInfo]),
      onBehalfOf: meta[CALLER_META] === undefined ? undefined : behalfIn(meta),
      seen: meta[SEEN_META] === undefined ? undefined : seenIn(meta),
      params: withoutReservedMeta(params),
    },
  };
}

function missing(key: string): ErrorObject {
  return { code: INVALID_PARAMS, message: `"_meta" of the request must have "${key}"` };
}

/**
 * `subscriptions/listen`: acknowledges what was accepted, then tells exactly that, each message with the id of the
 * request, until the signal fires or the core ends it.
 */
async function listenModern(exchange: Exchange, r: ModernRequest): Promise<Result> {
  const { params, correlationId, traceId, receipt, caller } = exchange;
  const { capabilities, version, client } = caller;
  const { core, principal, request, signal } = r;
  const stamp = { [META.subscriptionId]: request.id };
  const send = ({ method, params: said = {} }: Notification) => {
    const _meta = isRecord(said["_meta"]) ? { ...said["_meta"], ...stamp } : stamp;
    r.send({ jsonrpc: "2.0", method, params: { ...said, _meta } });
  };
  // Nothing may go before the acknowledgement.
  let early: Notification[] | undefined = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  await using listening = await core.listen({
    principal,
    asked: { params, caller: { era: "modern", version, client }, correlationId, traceId, receipt },
    owner: principalKey(principal),
    capabilities,
    interests: interestsIn(params, capabilities),
    onChange: (notification) => (early ? early.push(notification) : send(notification)),
    onEnd: () => end(),
  });
  if (!signal.aborted) {
    const notifications = asNotifications(listening.accepted);
    send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { notifications } });
    for (const notification of early) send(notification);
    early = undefined;
    signal.addEventListener("abort", () => end(), { once: true });
    await ended;
  }
  return { resultType: "complete", _meta: stamp };
}

/** What a caller wants to hear of; throws where it is none of that. */
function interestsIn({ notifications: wanted }: Params, capabilities: ClientCapabilities): Interests {
  if (!isRecord(wanted)) throw invalid(`"notifications" must be an object`);
  const resources = strings(wanted, "resourceSubscriptions");
  const tasks = strings(wanted, "taskIds");
  if (tasks && !capabilities.extensions?.[TASKS_EXTENSION]) throw lacksTasks();
  return { lists: listsIn(wanted), ...(resources ? { resources } : {}), ...(tasks ? { tasks } : {}) };
}

function strings(wanted: Params, member: string): string[] | undefined {
  const given = wanted[member];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || !given.every((each) => typeof each === "string")) {
    throw invalid(`"${member}" must be an array of strings`);
  }
  return given;
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { rpc: { code: INVALID_PARAMS, message } });
}

function lacksTasks(): NexusError {
  const message = `Task notifications require the extension ${TASKS_EXTENSION}`;
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  return new NexusError("CAPABILITY_MISSING", message, { rpc: { code: MISSING_CLIENT_CAPABILITY, message, data } });
}

/** Which tools the caller of a gateway in front has seen. */
function seenIn({ [SEEN_META]: seen }: Record<string, unknown>): string | undefined {
  return typeof seen === "string" ? seen : undefined;
}
