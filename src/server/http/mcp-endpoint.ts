import { accepts } from "./header-checks.ts";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ServerLimits } from "../core/limits.ts";
import { type ByteBudget, UnreadBytes } from "../core/byte-budget.ts";
import { OpenStreams } from "../core/open-streams.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import { servedRevisions, type ServedRevisions } from "../core/core.ts";
import { shuttingDown } from "../core/busy-error.ts";
import type { SessionIds } from "../sessions/session-ids.ts";
import type { Logger } from "../../text/logger.ts";
import {
  EXPELLED,
  type HttpRefusal,
  invalidRequest,
  overloaded,
  refuse,
  refuseUnread,
  wrongMethod,
} from "./http-refusal.ts";
import type { LegacyEndpoint, Visitor } from "./legacy-endpoint.ts";
import { LegacyHttp } from "./legacy-http.ts";
import { ModernHttp } from "./modern-http.ts";
import { readJson, type ReadJson } from "./read-json.ts";
import { isRecord } from "../../json/is-record.ts";
import {
  INVALID_PARAMS,
  isRequestId,
  isResponse,
  type Notification,
  type Request,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { isModernRevision } from "../../protocol/revisions.ts";
import { messageProblem, receivedMessage } from "../core/received-message.ts";
import { NO_BATCHES } from "../legacy/batch-answers.ts";
import { eraOf } from "../modern/modern-request.ts";

export interface McpEndpointOptions {
  /** What this server is called where it speaks of itself. */
  self?: string | undefined;
  legacy: LegacyEndpoint;
  limits: ServerLimits;
  streams: OpenStreams;
  budget: ByteBudget;
  unread: UnreadBytes;
  logger: Logger;
  /** Whether a caller may still come in, asked when its request has arrived; default: always. */
  door?: { admits: (principal: Principal) => boolean } | undefined;
  /** Maximum bytes of a request's body for this caller, where that is less than for all. */
  allowance?: { maxRequestBytes: (principal: Principal) => number | undefined } | undefined;
}

/** What an endpoint is made of, with sessions for older clients. */
export function endpointParts(options: {
  self?: string | undefined;
  limits: ServerLimits;
  budget: ByteBudget;
  ids: SessionIds;
  logger: Logger;
  areTenantsSeparate?: boolean | undefined;
}): McpEndpointOptions & { legacy: LegacyHttp } {
  const { self, limits, budget, logger, areTenantsSeparate } = options;
  const streams = new OpenStreams({ ...limits, areTenantsSeparate });
  const unread = new UnreadBytes(budget);
  return { self, limits, budget, streams, unread, logger, legacy: new LegacyHttp({ ...options, streams, unread }) };
}

/** The paths on which MCP is spoken: tells clients of both eras apart, and hands each to its own. */
export class McpEndpoint {
  readonly #legacy: LegacyEndpoint;
  readonly #limits: ServerLimits;
  readonly #budget: ByteBudget;
  readonly #modern: ModernHttp;
  readonly #self: string | undefined;
  readonly #door: McpEndpointOptions["door"];
  readonly #allowance: McpEndpointOptions["allowance"];
  #isDraining = false;
  #isClosed = false;
  /** POSTs that were read and are not answered yet, except subscriptions. */
  #unanswered = 0;
  #onQuiet: (() => void) | undefined;

  constructor(options: McpEndpointOptions) {
    const { self, legacy, limits, streams, budget, unread, logger } = options;
    this.#self = self;
    this.#door = options.door;
    this.#allowance = options.allowance;
    this.#legacy = legacy;
    this.#limits = limits;
    this.#budget = budget;
    this.#modern = new ModernHttp({ self, limits, streams, unread, logger });
  }

  /** Streamable HTTP. */
  async serve(req: IncomingMessage, res: ServerResponse, visitor: Visitor): Promise<void> {
    if (this.#isClosed) return refuseUnread(req, res, this.#closing);
    const { method } = req;
    if (method === "POST") return this.#post(req, res, visitor);
    // Only sessions have streams of their own, and only they can be ended.
    const hasSession = req.headers["mcp-session-id"] !== undefined;
    if (hasSession && method === "DELETE") return this.#legacy.delete(req, res, visitor);
    if (!hasSession || method !== "GET") {
      return refuseUnread(req, res, wrongMethod(hasSession ? "POST, GET, DELETE" : "POST"));
    }
    return this.#legacy.get(req, res, visitor);
  }

  /** The stream of HTTP+SSE. */
  openSse(req: IncomingMessage, res: ServerResponse, visitor: Visitor): void {
    if (this.#isClosed || this.#isDraining) return refuseUnread(req, res, this.#closing);
    if (req.method !== "GET") return refuseUnread(req, res, wrongMethod("GET"));
    this.#legacy.openSse(req, res, visitor);
  }

  /** Where clients of HTTP+SSE post. */
  async postSse(req: IncomingMessage, res: ServerResponse, visitor: Visitor): Promise<void> {
    if (this.#isClosed) return refuseUnread(req, res, this.#closing);
    if (req.method !== "POST") return refuseUnread(req, res, wrongMethod("POST"));
    const body = await this.#body(req, res, visitor);
    if (!body) return;
    const url = new URL(req.url ?? "/", "http://localhost");
    await this.#legacy.postSse(req, res, { ...visitor, body: body.value, url, onDone: this.#doneWith(body) });
  }

  /** Calls off what is open for a principal in the modern way; sessions are ended by `LegacyHttp`. */
  expel(principal: Principal): void {
    this.#modern.expel(principal);
  }

  /** The same for what was asked for with this very object; sessions are closed by `LegacyHttp`. */
  endAskedBy(principal: Principal): void {
    this.#modern.endAskedBy(principal);
  }

  /** The principals that have something open in the modern way. */
  principals(): Principal[] {
    return this.#modern.principals();
  }

  /** Ends the streams that have no end of their own, and opens no more sessions of HTTP+SSE. */
  drain(): void {
    this.#isDraining = true;
    this.#modern.endSubscriptions();
  }

  /** Resolves when everything that was posted is answered. */
  async quiet(): Promise<void> {
    if (this.#unanswered > 0) await new Promise<void>((resolve) => (this.#onQuiet = resolve));
  }

  /** Takes no more requests, not even on connections that are kept alive; calls off what runs, and ends all sessions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#modern.close();
    await this.#legacy.close();
  }

  get #closing(): HttpRefusal {
    return overloaded(shuttingDown(this.#self));
  }

  async #post(req: IncomingMessage, res: ServerResponse, visitor: Visitor): Promise<void> {
    if (!acceptsBoth(req.headers.accept)) {
      return refuseUnread(req, res, invalidRequest("Accept must list application/json and text/event-stream", 406));
    }
    const body = await this.#body(req, res, visitor);
    if (!body) return;
    const posted = sortPosted(body.value, req.headers, servedRevisions(visitor.core));
    if (posted.to === "legacy") {
      return this.#legacy.post(req, res, { body: body.value, ...visitor, onDone: this.#doneWith(body) });
    }
    const done = this.#doneWith(body);
    try {
      if (posted.to === "nobody") refuse(res, posted.refusal, posted.id);
      else await this.#modern.post(req, res, { message: posted.message, ...visitor });
    } finally {
      done();
    }
  }

  /** Call the result once, when the answer is given. */
  #doneWith({ claim }: Body): () => void {
    this.#unanswered++;
    return () => {
      claim?.release();
      if (--this.#unanswered === 0) this.#onQuiet?.();
    };
  }

  /** What was posted; undefined where the caller was answered already, or is gone. */
  async #body(req: IncomingMessage, res: ServerResponse, { principal }: Visitor): Promise<Body | undefined> {
    const { bodyBytes, jsonDepth, jsonValues, jsonMembers } = this.#limits;
    const claim = (giveUp: () => void) => this.#budget.claim(principalKey(principal), { giveUp });
    const ofCaller = this.#allowance?.maxRequestBytes(principal);
    const read = await readJson(req, { bodyBytes, jsonDepth, jsonValues, jsonMembers, claim, ofCaller });
    if (read.kind === "read") {
      const isExpelled = this.#door?.admits(principal) === false;
      if (!this.#isClosed && !isExpelled) return read;
      read.claim?.release();
      refuse(res, isExpelled ? EXPELLED : this.#closing);
    } else if (read.kind === "refused") refuse(res, read.refusal);
    else if (read.kind === "unread") refuseUnread(req, res, read.refusal);
    return undefined;
  }
}

type Body = Extract<ReadJson, { kind: "read" }>;

/** A caller must be ready for both kinds of answer; one that says nothing takes anything. */
function acceptsBoth(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accepts(accept, "application/json") && accepts(accept, "text/event-stream");
}

/** Whom a posted body concerns. */
type PostedMessage =
  | { to: "modern"; message: Request | Notification }
  | { to: "legacy" }
  | { to: "nobody"; refusal: HttpRefusal; id?: RequestId | undefined };

/** Which era a POST belongs to: what the message says decides, then the header of a session, then the version header. */
function sortPosted(body: unknown, headers: IncomingHttpHeaders, served: ServedRevisions): PostedMessage {
  const hasSession = headers["mcp-session-id"] !== undefined;
  if (Array.isArray(body)) {
    // Only sessions of 2025-03-26 know batches, and only the session knows whether it is one.
    return hasSession ? { to: "legacy" } : nobody(invalidRequest(NO_BATCHES));
  }
  const message = receivedMessage(body);
  if (!message || message.jsonrpc !== "2.0") return nobody(invalidRequest(messageProblem(body)), body);
  if (isResponse(message)) {
    return hasSession ? { to: "legacy" } : nobody(invalidRequest("A response belongs to a session"));
  }
  if (message.params !== undefined && !isRecord(message.params)) {
    return nobody(invalidRequest(`"params" must be an object`), body);
  }
  const era = eraOf(message, served);
  if (era === "modern") return { to: "modern", message };
  if (era === "legacy" || hasSession) return { to: "legacy" };
  if (!isModernRevision(headers["mcp-protocol-version"])) return { to: "legacy" };
  if (!("id" in message)) return { to: "modern", message };
  const error = { code: INVALID_PARAMS, message: `"_meta" of the request must have "${META.protocolVersion}"` };
  return nobody({ status: 400, error }, body);
}

function nobody(refusal: HttpRefusal, body?: unknown): PostedMessage {
  const id = isRecord(body) && isRequestId(body["id"]) ? body["id"] : undefined;
  return { to: "nobody", refusal, id };
}
