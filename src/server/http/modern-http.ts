import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Roster } from "../../async/roster.ts";
import {
  isRequest,
  METHOD_NOT_FOUND,
  type ErrorObject,
  type Notification,
  type Request,
  type Response,
} from "../../protocol/json-rpc.ts";
import { HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION } from "../../protocol/meta.ts";
import type { Logger } from "../../text/logger.ts";
import type { Core, Exchange, RequestOrigin } from "../core/core.ts";
import { correlationOf } from "../core/correlation.ts";
import type { ServerLimits } from "../core/limits.ts";
import { TOO_MANY_STREAMS, type OpenStreams } from "../core/open-streams.ts";
import { principalKey, type Principal } from "../core/principal.ts";
import { Receipt, recordedAnswer, type WrittenAnswer } from "../core/receipt.ts";
import type { UnreadBytes } from "../core/unread-bytes.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import { servedRevisions } from "../core/served-revisions.ts";
import { retryLater, shuttingDown, busyError } from "../core/busy-error.ts";
import { isCounted } from "../core/counted-request.ts";
import { paramMismatch, targetMismatch, versionMismatch } from "./header-checks.ts";
import { EXPELLED, refuse } from "./http-refusal.ts";
import { ModernAnswer } from "./modern-answer.ts";
import { answerTo, exchangeFrom, failed } from "../modern/modern-request.ts";
import {
  claimedVersion,
  readSender,
  versionProblem,
  type ModernRequest,
  type RequestSender,
} from "../modern/modern-sender.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";

export interface ModernHttpOptions {
  self?: string | undefined;
  limits: ServerLimits;
  streams: OpenStreams;
  unread: UnreadBytes;
  logger: Logger;
}

export interface Posted {
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
    const lacks = wanted.length === 0 ? undefined : paramMismatch(headers, wanted, params?.["arguments"]);
    return lacks === undefined ? undefined : mismatch(lacks);
  };
  try {
    const wanted = core.paramHeaders(principal, name, exchange);
    return wanted instanceof Promise ? wanted.then(compared).catch(failed) : compared(wanted);
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
