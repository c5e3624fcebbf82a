import { paramMismatch, targetMismatch, versionMismatch } from "./header-checks.ts";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Roster } from "../../async/roster.ts";
import {
  type ErrorObject,
  isRequest,
  METHOD_NOT_FOUND,
  type Notification,
  type Request,
  type Response,
} from "../../protocol/json-rpc.ts";
import { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION } from "../../protocol/meta.ts";
import type { Logger } from "../../text/logger.ts";
import { type Core, type Exchange, type RequestOrigin, servedRevisions } from "../core/core.ts";
import { correlationOf } from "../core/request-meta.ts";
import type { ServerLimits } from "../core/limits.ts";
import { type OpenStreams, TOO_MANY_STREAMS } from "../core/open-streams.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import { jsonText, Receipt, recordedAnswer, type WrittenAnswer } from "../core/receipt.ts";
import { NO_ROOM, type UnreadBytes } from "../core/byte-budget.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import { busyError, retryLater, shuttingDown } from "../core/busy-error.ts";
import { isCounted } from "../core/received-message.ts";
import { EXPELLED, overloaded, refuse, sendText } from "./http-refusal.ts";
import {
  answerTo,
  claimedVersion,
  exchangeFrom,
  failed,
  type ModernRequest,
  readSender,
  type RequestSender,
  versionProblem,
} from "../modern/modern-request.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import { Cancellation } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { EVENT_STREAM_HEADERS } from "./event-stream.ts";
import { expectReading, STUCK_BEATS } from "./stuck-readers.ts";

export interface ModernHttpOptions {
  /** What this server is called where it speaks of itself. */
  self?: string | undefined;
  limits: ServerLimits;
  /** Where streams that belong to no call are counted. */
  streams: OpenStreams;
  /** Where it is counted what clients have not read. */
  unread: UnreadBytes;
  logger: Logger;
}

interface Posted {
  core: Core;
  principal: Principal;
  message: Request | Notification;
}

/** Requests of 2026-07-28 on HTTP. */
export class ModernHttp {
  readonly #options: ModernHttpOptions;
  readonly #open = new Roster<ModernAnswer>();
  readonly #heart: NodeJS.Timeout;

  constructor(options: ModernHttpOptions) {
    this.#options = options;
    this.#heart = setInterval(() => this.#beat(), options.limits.keepAliveMs);
    this.#heart.unref();
  }

  async post(req: IncomingMessage, res: ServerResponse, { core, principal, message }: Posted): Promise<void> {
    const { headers } = req;
    const { modern } = servedRevisions(core);
    const claimed = claimedVersion(message.params);
    const isAsked = isRequest(message);
    // A header that says something else comes first: then it is not known which of the two is meant.
    const disagreement = claimed === undefined ? undefined : versionMismatch(headers, claimed);
    const problem = disagreement === undefined ? undefined : mismatch(disagreement);
    if (!isAsked) {
      const error = problem ?? (claimed === undefined ? undefined : versionProblem(claimed, modern));
      return error ? refuse(res, { status: 400, error }) : void res.writeHead(202).end();
    }
    if (problem) return refuse(res, { status: 400, error: problem }, message.id);
    const read = readSender(message, modern);
    if ("problem" in read) return refuse(res, { status: 400, error: read.problem }, message.id);
    const answer = this.#answer(res, principal, message.method === "subscriptions/listen");
    const { signal } = answer;
    const admission = isCounted(message)
      ? core.admit?.(principal, [message], originOf(read.sender, headers))
      : undefined;
    const refused = admission instanceof Promise ? await admission : admission;
    const receipt = new Receipt(headers);
    const asked: ModernRequest = {
      core,
      principal,
      request: message,
      receipt,
      signal,
      send: (notification) => answer.notify(notification),
      logger: this.#options.logger,
    };
    const exchange = exchangeFrom(read.sender, asked, correlationOf(message.params?.["_meta"], headers));
    const checked = refused ? rpcErrorOf(refused.error) : disagreementIn(headers, asked, exchange);
    const mismatched = checked instanceof Promise ? await checked : checked;
    const error = mismatched ?? (answer.isSubscription ? this.#countStream(answer, res, principal) : undefined);
    const response = error ? failed(message, error) : await answerTo(exchange, asked);
    if (answer.isOver) return receipt.leave();
    const recorded = recordedAnswer(response, receipt);
    this.#finish(answer, recorded instanceof Promise ? await recorded : recorded);
  }

  #finish(answer: ModernAnswer, written: WrittenAnswer): void {
    const { answer: response } = written;
    const later = "error" in response ? retryLater(response.error) : undefined;
    if (later) answer.finish(written, later.status, { "retry-after": String(later.seconds) });
    else answer.finish(written, statusOf(response));
  }

  /** Ends subscriptions with their last answer. */
  endSubscriptions(): void {
    for (const answer of this.#open.values()) if (answer.isSubscription) answer.cancel(this.#closing);
  }

  /** The principals that have something open. */
  principals(): Principal[] {
    return this.#open.values().map(({ principal }) => principal);
  }

  /** Calls off what is open for a principal that may not call any more. */
  expel(principal: Principal): void {
    const key = principalKey(principal);
    for (const answer of this.#open.values()) if (answer.isOf(key)) answer.cancel(EXPELLED.error.message);
  }

  /** Calls off what was asked for with a credential that was replaced. */
  endAskedBy(principal: Principal): void {
    for (const answer of this.#open.values()) if (answer.principal === principal) answer.cancel(EXPELLED.error.message);
  }

  /** Calls off what is still going on; each is answered with that. */
  close(): void {
    clearInterval(this.#heart);
    for (const answer of this.#open.values()) answer.cancel(this.#closing);
  }

  get #closing(): string {
    return shuttingDown(this.#options.self);
  }

  #answer(res: ServerResponse, principal: Principal, isSubscription: boolean): ModernAnswer {
    const { limits, unread } = this.#options;
    const answer = new ModernAnswer(res, {
      principal,
      isSubscription,
      unread,
      bufferedBytes: limits.bufferedBytes,
      onClose: () => {
        this.#open.leave(number);
      },
    });
    const number = this.#open.enter(answer);
    return answer;
  }

  /** Why there is no room for one more stream. */
  #countStream(answer: ModernAnswer, res: ServerResponse, principal: Principal): ErrorObject | undefined {
    const end = () => answer.cancel("Other callers need the stream");
    const leave = this.#options.streams.open(principalKey(principal), end);
    if (!leave) return rpcErrorOf(busyError(TOO_MANY_STREAMS));
    res.once("close", leave);
    return undefined;
  }

  #beat(): void {
    for (const answer of this.#open.values()) answer.beat(this.#options.limits.keepAliveMs);
  }
}

/** Why the headers do not go with what the request is about. Why that cannot be told is noted in the exchange. */
function disagreementIn(
  headers: IncomingHttpHeaders,
  { core, principal, request }: ModernRequest,
  exchange: Exchange,
): ErrorObject | undefined | Promise<ErrorObject | undefined> {
  const { method, params } = request;
  const differs = targetMismatch(headers, request);
  if (differs !== undefined) return mismatch(differs);
  const name = params?.["name"];
  if (method !== "tools/call" || typeof name !== "string") return undefined;
  const failed = (failure: unknown) => void (exchange.failure = failure);
  const compared = (wanted: readonly ParamHeader[]) => {
    const lacks = paramMismatch(headers, wanted, params?.["arguments"]);
    return lacks === undefined ? undefined : mismatch(lacks);
  };
  try {
    const wanted = core.paramHeaders(principal, name, exchange);
    if (wanted instanceof Promise) return wanted.then(compared).catch(failed);
    return wanted.length === 0 ? undefined : compared(wanted);
  } catch (failure) {
    return failed(failure);
  }
}

function originOf({ version, client }: RequestSender, headers: IncomingHttpHeaders): RequestOrigin {
  return { era: "modern", version, client, headers };
}

function mismatch(message: string): ErrorObject {
  return { code: HEADER_MISMATCH, message };
}

/** The statuses that the specification binds to codes; an error of a server is an answer like any other. */
function statusOf(response: Response): number {
  if (!("error" in response)) return 200;
  switch (response.error.code) {
    case METHOD_NOT_FOUND:
      return 404;
    case HEADER_MISMATCH:
    case MISSING_CLIENT_CAPABILITY:
    case UNSUPPORTED_VERSION:
      return 400;
    default:
      return 200;
  }
}

interface ModernAnswerOptions {
  principal: Principal;
  isSubscription: boolean;
  bufferedBytes: number;
  unread: UnreadBytes;
  onClose: () => void;
}

/**
 * What goes back on one modern POST: one JSON answer, or a stream that ends with the answer as soon as something goes
 * before it, or the answer is slow. Leaving it cancels the request.
 */
class ModernAnswer {
  readonly isSubscription: boolean;
  readonly #res: ServerResponse;
  readonly principal: Principal;
  readonly #unread: UnreadBytes;
  readonly #maxBufferedBytes: number;
  /** Fires when the caller is gone, or when the request is called off here. */
  readonly signal = new Cancellation();
  #isStream = false;
  #isSlow = false;

  constructor(res: ServerResponse, options: ModernAnswerOptions) {
    this.#res = res;
    this.isSubscription = options.isSubscription;
    this.principal = options.principal;
    this.#unread = options.unread;
    this.#maxBufferedBytes = options.bufferedBytes;
    res.once("close", () => {
      options.onClose();
      if (!res.writableFinished) this.cancel("The caller closed its connection");
    });
  }

  isOf(principal: string): boolean {
    return principalKey(this.principal) === principal;
  }

  cancel(why: string): void {
    if (!this.signal.aborted) this.signal.abort(new NexusError("CANCELLED", why));
  }

  notify(message: Notification): void {
    if (this.isOver) return;
    // Whoever does not read must not fill the memory.
    if (this.#res.writableLength > this.#maxBufferedBytes) return this.#giveUp();
    const text = jsonText(message);
    if (text === undefined) return;
    if (!this.#mayWrite(text)) return this.#giveUp();
    this.#stream();
    this.#res.write(`data: ${text}\n\n`);
  }

  /** The answer, which is the last. The status is for JSON only: that of a stream went long ago. */
  finish(
    { answer, text = jsonText(answer) ?? "" }: WrittenAnswer,
    status: number,
    headers?: Record<string, string>,
  ): void {
    if (this.isOver) return;
    if (!this.#mayWrite(text)) return this.#finishWithout(answer);
    if (this.#isStream) this.#res.end(`data: ${text}\n\n`);
    else sendText(this.#res, status, text, headers);
  }

  /** From time to time: shows proxies on the way that something goes on, and gives up on callers that stopped reading. */
  beat(everyMs: number): void {
    expectReading(this.#res, everyMs * STUCK_BEATS);
    if (this.isOver) return;
    if (this.#isStream || this.#isSlow) {
      this.#stream();
      this.#res.write(": \n\n");
    }
    this.#isSlow = true;
  }

  #mayWrite(text: string): boolean {
    return this.#unread.mayWrite(this.#res, this.principal, text.length);
  }

  /** There is no room for the answer: that is told in its place. */
  #finishWithout({ id }: Response): void {
    const { status, error, headers } = overloaded(NO_ROOM);
    const text = JSON.stringify({ jsonrpc: "2.0", id, error });
    if (this.#isStream) this.#res.end(`data: ${text}\n\n`);
    else sendText(this.#res, status, text, headers);
  }

  /** Whether nothing more can be written. */
  get isOver(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  #stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#res.writeHead(200, EVENT_STREAM_HEADERS);
  }

  #giveUp(): void {
    this.#res.destroy();
  }
}
