import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { accepts } from "./header-checks.ts";
import type { ServerLimits, JsonBodyLimits } from "../core/limits.ts";
import { UnreadBytes, NO_ROOM, SMALL_BYTES, type ByteBudget, type ByteClaim } from "../core/byte-budget.ts";
import { OpenStreams } from "../core/open-streams.ts";
import { principalKey, type Principal } from "../core/principal.ts";
import { servedRevisions, type ServedRevisions } from "../core/core.ts";
import { shuttingDown } from "../core/busy-error.ts";
import {
  EXPELLED,
  invalidRequest,
  overloaded,
  refuse,
  refuseUnread,
  wrongMethod,
  type HttpRefusal,
} from "./http-refusal.ts";
import type { LegacyEndpoint, Visitor } from "./legacy-endpoint.ts";
import { LegacyHttp, type LegacyHttpOptions } from "./legacy-http.ts";
import { ModernHttp, type ModernHttpOptions } from "./modern-http.ts";
import { isRecord } from "../../json/is-record.ts";
import {
  INVALID_PARAMS,
  isRequestId,
  isResponse,
  PARSE_ERROR,
  type Notification,
  type Request,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { isModernRevision } from "../../protocol/revisions.ts";
import { messageProblem, receivedMessage, jsonRefusal } from "../core/received-message.ts";
import { NO_BATCHES } from "../legacy/batch-answers.ts";
import { eraOf } from "../modern/modern-request.ts";
import { Turns } from "../../async/turns.ts";

export interface McpEndpointOptions extends ModernHttpOptions {
  legacy: LegacyEndpoint;
  budget: ByteBudget;
  /** Whether a caller may still come in, asked when its request has arrived; default: always. */
  door?: { admits: (principal: Principal) => boolean } | undefined;
  /** Maximum bytes of a request's body for this caller, where that is less than for all. */
  allowance?: { maxRequestBytes: (principal: Principal) => number | undefined } | undefined;
}

/** What an endpoint is made of, with sessions for older clients. */
export function endpointParts(
  options: Omit<LegacyHttpOptions, "streams" | "unread"> & { budget: ByteBudget },
): McpEndpointOptions & { legacy: LegacyHttp } {
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
  serve(req: IncomingMessage, res: ServerResponse, visitor: Visitor): Promise<void> | void {
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
      return this.#legacy.post(req, res, visitor, { body: body.value, onDone: this.#doneWith(body) });
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
    const claim = (giveUp: () => void) => this.#budget.claim(principalKey(principal), { giveUp });
    const ofCaller = this.#allowance?.maxRequestBytes(principal);
    const read = await readJson(req, { limits: this.#limits, claim, ofCaller });
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

type ReadJson =
  /** `claim` is for the bytes, which are held as long as the value is; absent where they are few. */
  | { kind: "read"; value: unknown; claim?: ByteClaim | undefined }
  | { kind: "refused"; refusal: HttpRefusal }
  /** Refused while there was more to come. */
  | { kind: "unread"; refusal: HttpRefusal }
  /** The caller left before it had said everything. */
  | { kind: "gone" };

export interface ReadJsonOptions {
  limits: Pick<ServerLimits, "bodyBytes"> & JsonBodyLimits;
  /** Maximum bytes of a body of this caller, where that is less. */
  ofCaller?: number | undefined;
  /** Where the bytes are counted. */
  claim: (giveUp: () => void) => ByteClaim;
}

/** About what a piece of a body takes beside its bytes: some clients send one byte at a time. */
const PIECE_BYTES = 256;
/** From here on, a body takes so long that those of several callers are not parsed in the same turn of the event loop. */
const LARGE_BYTES = 64 * 1024;
/** Of all servers of the process: they share the event loop. */
const largeBodies = new Turns();

/** The body of a request as JSON, within the limits. Never rejects. */
export function readJson(req: IncomingMessage, options: ReadJsonOptions): Promise<ReadJson> {
  const { ofCaller = Infinity, limits } = options;
  const bodyBytes = Math.min(limits.bodyBytes, ofCaller);
  const type = req.headers["content-type"];
  if (type === undefined || !/^application\/json\s*(?:;|$)/i.test(type)) {
    return unread(invalidRequest(`Content-Type must be application/json, not ${type ?? "missing"}`, 415));
  }
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return unread(invalidRequest(`Content-Encoding ${encoding} is not supported. Send the body uncompressed`, 415));
  }
  const declared = Number(req.headers["content-length"] ?? Infinity);
  if (declared > bodyBytes && declared !== Infinity) return unread(tooLarge(bodyBytes, ofCaller));
  return new Promise((resolve) => {
    let claim: ByteClaim | undefined;
    let pieces: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    let isWhole = false;
    const finish = (read: ReadJson) => {
      if (isOver) return;
      isOver = true;
      pieces = [];
      if (read.kind === "read") read.claim = claim;
      else claim?.release();
      resolve(read);
    };
    const refuseRest = (why: HttpRefusal) => finish({ kind: "unread", refusal: why });
    req.on("data", (piece: Buffer) => {
      if (isOver) return;
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > bodyBytes) return refuseRest(tooLarge(bodyBytes, ofCaller));
      if (!claim && bytes === declared && bytes <= SMALL_BYTES) return;
      claim ??= options.claim(() => refuseRest(overloaded(NO_ROOM)));
      if (!claim.resize(bytes + pieces.length * PIECE_BYTES)) refuseRest(overloaded(NO_ROOM));
    });
    // Each of these comes once: what listens only once is another object for each.
    req.on("end", () => {
      if (isOver) return;
      claim?.giveUpBy(undefined);
      isWhole = true;
      if (bytes < LARGE_BYTES) return finish(parse(pieces, limits));
      void largeBodies.run(async () => {
        await nextTurn();
        // Nobody waits for what a caller sent that left meanwhile.
        const read: ReadJson = req.socket.destroyed ? { kind: "gone" } : parse(pieces, limits);
        // What is done with it begins in a turn of its own.
        await nextTurn();
        finish(read);
      });
    });
    req.on("error", () => finish({ kind: "gone" }));
    // It also comes after the end.
    req.on("close", () => {
      if (!isWhole) finish({ kind: "gone" });
    });
  });
}

function exceeds(bytes: number): string {
  return `The request body exceeds the limit of ${bytes} bytes`;
}

/** Repeating it is useless, so it does not say when to come again. */
function tooLarge(max: number, ofCaller: number): HttpRefusal {
  if (ofCaller !== max) return invalidRequest(exceeds(max), 413);
  const { error } = invalidRequest(`${exceeds(max)} for this caller`);
  const data = { code: "MESSAGE_TOO_LARGE", limit: { name: "max-request", max } };
  return { status: 413, error: { ...error, data } };
}

function unread(refusal: HttpRefusal): Promise<ReadJson> {
  return Promise.resolve({ kind: "unread", refusal });
}

function parse(pieces: readonly Buffer[], limits: JsonBodyLimits): ReadJson {
  const [first] = pieces;
  if (!first) return { kind: "refused", refusal: unreadable("The request has no body") };
  // Most bodies come in one piece.
  const text = (pieces.length === 1 ? first : Buffer.concat(pieces)).toString("utf8");
  const refused = jsonRefusal(text, "The request", limits);
  if (refused) {
    const { error, status } = invalidRequest(refused.message, refused.data ? 413 : 400);
    return { kind: "refused", refusal: { status, error: { ...error, ...(refused.data && { data: refused.data }) } } };
  }
  try {
    return { kind: "read", value: JSON.parse(text) };
  } catch {
    return { kind: "refused", refusal: unreadable("The request is not valid JSON") };
  }
}

function unreadable(message: string): HttpRefusal {
  return { status: 400, error: { code: PARSE_ERROR, message } };
}
