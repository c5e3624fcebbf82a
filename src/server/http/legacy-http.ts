import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Deadlines } from "../../async/deadlines.ts";
import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { FairShares, Share } from "../../async/fair-shares.ts";
import { isRequest, type Message, type Request, type RequestId } from "../../protocol/json-rpc.ts";
import { isLegacyRevision } from "../../protocol/revisions.ts";
import { accepts, legacyMismatch } from "./header-checks.ts";
import {
  type HttpRefusal,
  invalidRequest,
  overloaded,
  refuse,
  sendJson,
  sendText,
  wrongMethod,
} from "./http-refusal.ts";
import type { LegacyEndpoint, PostedBody, Visitor } from "./legacy-endpoint.ts";
import { sharePlaces } from "../core/caller-shares.ts";
import { NO_ROOM } from "../core/byte-budget.ts";
import { TOO_MANY_STREAMS } from "../core/open-streams.ts";
import { isKeyOf, type Principal, principalKey } from "../core/principal.ts";
import { receivedBatch } from "../core/received-message.ts";
import { retryLater, shuttingDown } from "../core/busy-error.ts";
import { logHidden, rpcErrorOf } from "../core/rpc-error.ts";
import { NO_BATCHES } from "../legacy/batch-answers.ts";
import { countCalls } from "../legacy/counted-calls.ts";
import { admissionOf, refusalOf } from "../legacy/session-admission.ts";
import type { Agreed, SessionIds } from "../sessions/session-ids.ts";
import type { StreamSurroundings } from "./event-stream.ts";
import { EventStore } from "./kept-events.ts";
import type { ModernHttpOptions } from "./modern-http.ts";
import { HttpSession } from "./http-session.ts";
import { SseSession } from "./sse-session.ts";

export interface LegacyHttpOptions extends ModernHttpOptions {
  /** By which sessions are known, also those that are no longer open. */
  ids: SessionIds;
  /** How long a client has to answer a question; ten minutes. */
  answerMs?: number | undefined;
  areTenantsSeparate?: boolean | undefined;
  /** How long an answer may take before its POST becomes a stream. */
  patienceMs?: number | undefined;
}

/** One that is not open here, and can be taken up. */
interface EarlierSession {
  id: string;
  agreed: Agreed;
}

const PATIENCE_MS = 250;
/** Where clients of HTTP+SSE post. */
const MESSAGES_PATH = "/messages";

/** Clients of 2024-11-05 … 2025-11-25 over HTTP: Streamable with its sessions, and HTTP+SSE. */
export class LegacyHttp implements LegacyEndpoint {
  readonly #options: LegacyHttpOptions;
  readonly #logger: Logger;
  readonly #sessions = new Map<string, HttpSession>();
  /** Those that are being taken up, by their ids. */
  readonly #resuming = new Map<string, Promise<HttpSession | HttpRefusal>>();
  readonly #sseSessions = new Map<string, SseSession>();
  readonly #ids: SessionIds;
  readonly #shares: FairShares;
  readonly #deadlines = new Deadlines();
  readonly #streams: StreamSurroundings;
  #isClosed = false;

  constructor(options: LegacyHttpOptions) {
    const { limits, streams: open, unread, ids, logger } = options;
    const { keepAliveMs, streamMs, bufferedBytes: unreadBytes, sessions, share } = limits;
    const sharing = { share, areTenantsSeparate: options.areTenantsSeparate };
    const [deadlines, kept] = [this.#deadlines, new EventStore(undefined, sharing)];
    this.#options = options;
    this.#logger = logger;
    this.#ids = ids;
    this.#streams = { deadlines, open, kept, keepAliveMs, streamMs, unreadBytes, unread };
    this.#shares = sharePlaces(sessions, sharing);
  }

  get sessions(): number {
    return this.#sessions.size + this.#sseSessions.size;
  }

  sessionsOf(tenant: string): number {
    return this.#shares.usedBy((key) => isKeyOf(tenant, key));
  }

  async post(
    request: IncomingMessage,
    response: ServerResponse,
    r: Visitor,
    { body, onDone }: PostedBody,
  ): Promise<void> {
    const isBatch = Array.isArray(body);
    const messages = this.#messagesIn(body);
    if (!Array.isArray(messages)) return refuseBody(response, messages, { onDone });
    const [first] = messages;
    const disagreement = legacyMismatch(request.headers, messages);
    if (disagreement !== undefined) {
      const id = isBatch ? undefined : idOf(first);
      return refuseBody(response, invalidRequest(disagreement), { onDone, id });
    }
    if (messages.some(isInitialize)) {
      if (isBatch || !first || !isRequest(first)) return refuseBody(response, NO_REQUEST_OF_ITS_OWN, { onDone });
      await this.#initialize(response, first, r);
      return onDone?.();
    }
    const found = this.#find(request, r);
    const session = "agreed" in found ? await this.#reopen(found, r) : found;
    if (!(session instanceof HttpSession)) {
      return refuseBody(response, session, { onDone, id: isBatch ? undefined : idOf(first) });
    }
    if (isBatch && !session.conversation.takesBatches) return refuseBody(response, REFUSED_BATCH, { onDone });
    const counted = this.#count(session, messages, onDone);
    if (!counted) return refuseBody(response, FULL, { onDone, id: isBatch ? undefined : idOf(first) });
    const admission = admissionOf(session, messages, request.headers);
    const refused = admission instanceof Promise ? await admission : admission;
    session.receive(request, response, { messages, isBatch, refused, ...counted });
  }

  /** The session's own stream or, with `Last-Event-ID`, the rest of any of its streams. */
  async get(request: IncomingMessage, response: ServerResponse, r: Visitor): Promise<void> {
    const found = this.#find(request, r, wrongMethod("POST"));
    const session = "agreed" in found ? await this.#reopen(found, r) : found;
    if (!(session instanceof HttpSession)) return refuse(response, session);
    // A client that left meanwhile would not be seen to leave.
    if (response.destroyed) return;
    if (!accepts(request.headers.accept, "text/event-stream")) {
      return refuse(response, invalidRequest("Accept must list text/event-stream", 406));
    }
    const lastEventId = request.headers["last-event-id"];
    const isResumed = typeof lastEventId === "string";
    const refusal = isResumed ? session.resume(response, lastEventId) : session.openOwnStream(response);
    if (refusal) refuse(response, refusal);
  }

  /** It is over for good, unlike one that was not used for long: its id is not taken up any more. */
  async delete(request: IncomingMessage, response: ServerResponse, r: Visitor): Promise<void> {
    const found = this.#find(request, r, wrongMethod("POST"));
    if ("status" in found) return refuse(response, found);
    if (found instanceof HttpSession) this.#end(found);
    await this.#ids.end(found.id, { transport: "http", ...r }).catch(this.#onUnwritten);
    response.writeHead(204).end();
  }

  /** Ends every session of a principal for good; what is in flight is answered with `why`. */
  async endSessions(principal: Principal, why: string): Promise<void> {
    const key = principalKey(principal);
    this.closeSessions((session) => principalKey(session.principal) === key, why);
    await this.#ids.endAll(principal).catch(this.#onUnwritten);
  }

  /** Closes sessions; what is in flight is answered with `why`. Whoever may still use one takes it up again by its id. */
  closeSessions(isConcerned: (session: Visitor) => boolean, why: string): void {
    const error = new NexusError("CANCELLED", why, { mayHaveReached: true });
    for (const session of this.#sessions.values()) if (isConcerned(session)) this.#end(session, error);
    for (const session of this.#sseSessions.values()) if (isConcerned(session)) void session.close(error);
  }

  /** The principals that have sessions. */
  principals(): Principal[] {
    return [...this.#sessions.values(), ...this.#sseSessions.values()].map(({ principal }) => principal);
  }

  /** GET /sse: opens a session of HTTP+SSE. */
  openSse({ headers }: IncomingMessage, response: ServerResponse, r: Visitor): void {
    const share = this.#shares.of(principalKey(r.principal));
    if (!this.#makeRoom(share)) return refuse(response, this.#full(share));
    // The session is its stream, so it is not ended for another one.
    const leaveOpen = this.#streams.open.open(share.key);
    if (!leaveOpen) return refuse(response, overloaded(TOO_MANY_STREAMS));
    const session = new SseSession(response, {
      ...this.#sessionOptions(r),
      messagesPath: MESSAGES_PATH,
      earlier: this.#earlierSse(headers, r),
      seal: (agreed) => this.#ids.seal(agreed, { transport: "sse", ...r }),
      onEnd: ({ id }) => {
        leaveOpen();
        if (this.#sseSessions.delete(id)) this.#shares.give(share);
      },
    });
    this.#shares.take(share);
    this.#sseSessions.set(session.id, session);
  }

  /** POST /messages: what the client of an HTTP+SSE session says. */
  async postSse(
    request: IncomingMessage,
    response: ServerResponse,
    { body, url, onDone, ...r }: Visitor & PostedBody & { url: URL },
  ): Promise<void> {
    const id = url.searchParams.get("sessionId");
    if (id === null)
      return refuseBody(response, invalidRequest("The query parameter sessionId is missing"), { onDone });
    const session = this.#sseSessions.get(id);
    if (!session || !isTheirs(session, r)) return refuseBody(response, UNKNOWN_SESSION, { onDone });
    const wrongVersion = versionRefusal(request.headers);
    if (wrongVersion) return refuseBody(response, wrongVersion, { onDone });
    const isBatch = Array.isArray(body);
    const messages = this.#messagesIn(body);
    if (!Array.isArray(messages)) return refuseBody(response, messages, { onDone });
    const disagreement = legacyMismatch(request.headers, messages);
    if (disagreement !== undefined) {
      const of = isBatch ? undefined : idOf(messages[0]);
      return refuseBody(response, invalidRequest(disagreement), { onDone, id: of });
    }
    if (isBatch && !session.conversation.takesBatches) return refuseBody(response, REFUSED_BATCH, { onDone });
    const counted = this.#count(session, messages, onDone);
    if (!counted) return refuseBody(response, FULL, { onDone, id: isBatch ? undefined : idOf(messages[0]) });
    const admission = admissionOf(session, messages, request.headers);
    const refused = admission instanceof Promise ? await admission : admission;
    // Clients of this transport read answers on the stream, so refused messages are also answered there.
    const refusal = refused && messages.filter(isRequest).length === refused.size ? refusalOf(refused) : undefined;
    if (refusal) sendJson(response, refusal.status, isBatch ? refusal.body : refusal.body[0], refusal.headers);
    else response.writeHead(202).end("Accepted");
    session.receive(request, { messages, isBatch, refused, ...counted });
  }

  /** Ends every session; what is in flight is answered with that. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#sessions.values(), ...this.#sseSessions.values()];
    this.#sessions.clear();
    this.#sseSessions.clear();
    const why = new NexusError("CLOSED", shuttingDown(this.#options.self), { mayHaveReached: true });
    await Promise.all(sessions.map((session) => session.close(why)));
    await this.#ids.close();
  }

  async #initialize(response: ServerResponse, { id, params = {} }: Request, r: Visitor): Promise<void> {
    const session = this.#newSession(r);
    try {
      const result = await session.conversation.initialize(params);
      const text = JSON.stringify({ jsonrpc: "2.0", id, result });
      // Nobody would ever use it.
      if (response.destroyed) return void session.close();
      const { agreed } = session.conversation;
      if (agreed) session.id = this.#ids.seal(agreed, { transport: "http", ...r });
      const refusal = this.#admit(session);
      if (refusal) return refuse(response, refusal, id);
      sendText(response, 200, text, { "mcp-session-id": session.id });
    } catch (error) {
      void session.close();
      logHidden(error, "initialize", this.#logger);
      const told = rpcErrorOf(error);
      const { status, seconds } = retryLater(told) ?? { status: 200, seconds: undefined };
      const headers = seconds === undefined ? undefined : { "retry-after": String(seconds) };
      refuse(response, { status, error: told, ...(headers && { headers }) }, id);
    }
  }

  #count({ conversation, principal }: HttpSession | SseSession, messages: Message[], onDone: PostedBody["onDone"]) {
    const hold = () => this.#options.unread.hold(principal);
    return countCalls(messages, { running: conversation.running, hold, onDone });
  }

  /** The messages of a body, all of them or none. */
  #messagesIn(body: unknown): Message[] | HttpRefusal {
    const items: unknown[] = Array.isArray(body) ? body : [body];
    const received = receivedBatch(items, this.#options.limits.batchMessages);
    return Array.isArray(received) ? received : invalidRequest(received.problem);
  }

  /** The session that a request names; somebody else's is answered like one that never was. */
  #find({ headers }: IncomingMessage, r: Visitor, without = NO_SESSION): HttpSession | EarlierSession | HttpRefusal {
    const id = headers["mcp-session-id"];
    if (typeof id !== "string") return without;
    const session = this.#sessions.get(id) ?? this.#findEarlier(id, r);
    if (!session || (session instanceof HttpSession && !isTheirs(session, r))) return UNKNOWN_SESSION;
    return versionRefusal(headers) ?? session;
  }

  /**
   * Opens a session with what the id of an earlier one says, which this process does not know: it was started
   * again, or the session was ended because it was not used.
   */
  #reopen(earlier: EarlierSession, r: Visitor): Promise<HttpSession | HttpRefusal> {
    const { id } = earlier;
    const running = this.#resuming.get(id);
    if (running) return running;
    const resuming = this.#resume(earlier, r).finally(() => this.#resuming.delete(id));
    this.#resuming.set(id, resuming);
    return resuming;
  }

  async #resume({ id, agreed }: EarlierSession, r: Visitor): Promise<HttpSession | HttpRefusal> {
    const session = this.#newSession(r, Date.now());
    session.id = id;
    try {
      await session.conversation.resume(agreed, { isCertain: true });
    } catch (error) {
      void session.close();
      logHidden(error, "initialize", this.#logger);
      return { ...overloaded("The session cannot be opened"), error: rpcErrorOf(error) };
    }
    // It may have been ended meanwhile.
    if (!this.#findEarlier(id, r)) {
      void session.close();
      return UNKNOWN_SESSION;
    }
    return this.#admit(session) ?? session;
  }

  #findEarlier(id: string, r: Visitor): EarlierSession | undefined {
    const agreed = this.#ids.open(id, { transport: "http", ...r });
    return agreed && { id, agreed };
  }

  /** Among the sessions that are open; returns why there is no room for it, and then it is closed. */
  #admit(session: HttpSession): HttpRefusal | undefined {
    if (this.#isClosed) {
      void session.close();
      return overloaded(shuttingDown(this.#options.self));
    }
    const share = this.#shares.of(session.principalKey);
    if (!this.#makeRoom(share)) {
      void session.close();
      return this.#full(share);
    }
    this.#shares.take(share);
    this.#sessions.set(session.id, session);
    return undefined;
  }

  /** What the client of a stream that broke had agreed to: as the last event says or, without it, as far as is known. */
  #earlierSse(headers: IncomingHttpHeaders, r: Visitor) {
    const lastEventId = headers["last-event-id"];
    const agreed =
      typeof lastEventId === "string" ? this.#ids.open(lastEventId, { transport: "sse", ...r }) : undefined;
    if (agreed) return { ...agreed, isCertain: true };
    const version = headers["mcp-protocol-version"];
    return isLegacyRevision(version) ? { version, capabilities: {}, isCertain: false } : undefined;
  }

  /** For one more session one that is not in use ends. False where all are. */
  #makeRoom(share: Share): boolean {
    return this.#shares.makeRoom(share, (loser) => this.#endUnused(loser));
  }

  /** The one that was not used for longest. False where all of them are in use. */
  #endUnused({ key }: Share): boolean {
    let oldest: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.principalKey !== key || session.isBusy) continue;
      if (!oldest || session.usedAt < oldest.usedAt) oldest = session;
    }
    if (!oldest) return false;
    this.#logger.info("a session was closed to make room for another", { sessions: this.sessions });
    this.#end(oldest);
    return true;
  }

  #full(share: Share): HttpRefusal {
    const { self = "server", limits } = this.#options;
    const limit = this.#shares.limitOf(share);
    const what = share.held < limit ? String(limits.sessions) : `${limit} for one caller while others use the ${self}`;
    return overloaded(`Session limit reached (${what}). Retry later or raise limits.sessions.`, 30);
  }

  #end(session: HttpSession, why?: NexusError): void {
    if (this.#sessions.delete(session.id)) this.#shares.give(this.#shares.of(session.principalKey));
    void session.close(why);
  }

  readonly #onUnwritten = (error: unknown) => {
    this.#logger.warn("the end of a session could not be saved and is lost after a restart", { error });
  };

  #newSession(r: Visitor, start?: number): HttpSession {
    return new HttpSession({
      ...this.#sessionOptions(r),
      idleMs: this.#options.limits.sessionIdleMs,
      patienceMs: this.#options.patienceMs ?? PATIENCE_MS,
      onIdle: (idle) => this.#end(idle),
      start,
    });
  }

  #sessionOptions({ core, principal }: Visitor) {
    const { answerMs, limits } = this.#options;
    const streams = this.#streams;
    const { batchBytes } = limits;
    return { core, principal, answerMs, streams, batchBytes, deadlines: this.#deadlines, logger: this.#logger };
  }
}

const NO_SESSION = invalidRequest("Mcp-Session-Id is missing: send initialize first");
const UNKNOWN_SESSION = invalidRequest("Unknown session: send initialize", 404);
const NO_REQUEST_OF_ITS_OWN = invalidRequest("initialize must not be part of a batch");
const FULL = overloaded(NO_ROOM);
const REFUSED_BATCH = invalidRequest(NO_BATCHES);

/** Nothing of the body is needed any more. */
function refuseBody(
  response: ServerResponse,
  refusal: HttpRefusal,
  { id, onDone }: { id?: RequestId | undefined; onDone: PostedBody["onDone"] },
): void {
  refuse(response, refusal, id);
  onDone?.();
}

function isTheirs(session: Visitor, { core, principal }: Visitor): boolean {
  return session.core.name === core.name && principalKey(session.principal) === principalKey(principal);
}

/** Any of the older ones will do: clients exist that always send their newest. */
function versionRefusal(headers: IncomingHttpHeaders): HttpRefusal | undefined {
  const version = headers["mcp-protocol-version"];
  if (version === undefined || isLegacyRevision(version)) return undefined;
  return invalidRequest(`MCP-Protocol-Version ${String(version)} is not the version of this session`);
}

function isInitialize(message: Message): boolean {
  return "method" in message && message.method === "initialize";
}

function idOf(message: Message | undefined): RequestId | undefined {
  return message && isRequest(message) ? message.id : undefined;
}
