import {
  METHOD_NOT_FOUND,
  type ErrorObject,
  type Request,
  type Response,
  type Result,
} from "../../protocol/json-rpc.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import { CORRELATION_META, META } from "../../protocol/meta.ts";
import { isRemoved } from "../../protocol/methods.ts";
import { MODERN_REVISIONS } from "../../protocol/revisions.ts";
import type { Core, Exchange, Offer } from "../core/core.ts";
import { correlationOf, isCorrelated, type Correlation } from "../core/correlation.ts";
import { principalKey } from "../core/principal.ts";
import { logHidden, rpcErrorOf } from "../core/rpc-error.ts";
import { listenModern } from "./modern-listen.ts";
import { readSender, type ModernRequest, type RequestSender } from "./modern-sender.ts";
import { servedRevisions } from "../core/served-revisions.ts";

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
