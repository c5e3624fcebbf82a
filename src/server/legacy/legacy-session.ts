import { randomUUID } from "node:crypto";
import type { Deadlines } from "../../async/deadlines.ts";
import { callListener } from "../../async/call-listener.ts";
import { IdTable } from "../../async/id-table.ts";
import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import {
  INVALID_REQUEST,
  type Notification,
  type Params,
  type Request,
  type RequestId,
  type Response,
  type Result,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type ErrorObject,
} from "../../protocol/json-rpc.ts";
import { LOG_LEVELS, type LogLevel } from "../../protocol/mcp.ts";
import {
  CORRELATION_META,
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
} from "../../protocol/meta.ts";
import { isAdded, targetKind } from "../../protocol/methods.ts";
import { type LegacyRevision, newestCommon, atLeast } from "../../protocol/revisions.ts";
import { declaredText } from "../core/declared-text.ts";
import { type Core, type Exchange, type Offer, servedRevisions } from "../core/core.ts";
import { ownerKey, type Principal } from "../core/principal.ts";
import { clientNameIn, isCorrelated } from "../core/request-meta.ts";
import { logHidden, rpcErrorOf } from "../core/rpc-error.ts";
import { recordedAnswer } from "../core/receipt.ts";
import type { Agreed } from "../sessions/session-ids.ts";
import {
  changingLists,
  hasTasks,
  isAskable,
  legacyInfo,
  legacyOffer,
  usableCapabilities,
} from "./legacy-capabilities.ts";
import { type CallSurroundings, LegacyCall } from "./legacy-call.ts";
import { legacyResult, type Asked } from "./legacy-result.ts";
import { OpenQuestions } from "./open-questions.ts";
import type { RequestChannel } from "./request-channel.ts";
import { SessionChanges } from "./session-changes.ts";
import { ToolOutputs } from "./tool-outputs.ts";
import { changeMethod, type ChangingList } from "../../protocol/list-kinds.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";

export interface SessionOptions {
  core: Core;
  principal: Principal;
  /** Takes what belongs to no request. */
  outside: (notification: Notification) => void;
  /** Whether its client reads that now; absent where it is unknown. */
  hearsChanges?: (() => boolean) | undefined;
  deadlines: Deadlines;
  logger: Logger;
  /** How long a client has to answer a question. */
  answerMs?: number | undefined;
}

/** What `initialize` settled. */
interface Agreement extends CallSurroundings {
  outputs: ToolOutputs;
  changes: SessionChanges;
}

interface InFlight {
  id: RequestId;
  call: LegacyCall;
  channel: RequestChannel;
}

const ANSWER_MS = 600_000;

/** A conversation with a client of 2024-11-05 … 2025-11-25, whatever its messages travel on. */
export class LegacySession {
  /** Connections to servers with sessions are made for this one alone. No secret: it is not the id that clients send. */
  readonly owner: string;
  readonly #options: SessionOptions;
  readonly #questions: OpenQuestions;
  readonly #inFlight = new IdTable<InFlight>();
  /** Requests to the session itself, such as `resources/subscribe`, that are not answered yet. */
  readonly #ownRequests = new Set<Pick<InFlight, "id" | "channel">>();
  #agreement: Agreement | undefined;
  #logLevel: LogLevel | undefined;
  /** The answer to `initialize` on its way. */
  #opening: Promise<unknown> | undefined;
  /** The same where an earlier session is taken up. */
  #resuming: Promise<unknown> | undefined;
  /** Lists that may have changed while nobody listened, until its client is told. */
  #missed: readonly ChangingList[] | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.owner = ownerKey(options.principal, `session-${randomUUID()}`);
    this.#questions = new OpenQuestions(options.deadlines, options.answerMs ?? ANSWER_MS);
  }

  /** What was agreed upon; nothing before `initialize`. */
  get agreed(): Agreed | undefined {
    return this.#agreement;
  }

  get version(): LegacyRevision | undefined {
    return this.#agreement?.version;
  }

  /** How many of its client's requests are being worked on. */
  get running(): number {
    return this.#inFlight.size;
  }

  /** Only one revision has batches. */
  get takesBatches(): boolean {
    return this.version === "2025-03-26";
  }

  /** Whether its client declared anything that it can be asked. */
  get canBeAsked(): boolean {
    return this.#agreement !== undefined && isAskable(this.#agreement.capabilities);
  }

  /** Answers `initialize`. It is never refused for its version: the newest that is served is offered instead. */
  async initialize(params: Params): Promise<Result> {
    const { core, principal } = this.#options;
    const { legacy } = servedRevisions(core);
    const version = newestCommon(legacy, [params["protocolVersion"]]) ?? legacy[0];
    if (version === undefined) throw new NexusError("CAPABILITY_MISSING", "Method not found: initialize");
    const capabilities = usableCapabilities(version, params["capabilities"]);
    declaredText(capabilities);
    const offer = await core.offer(principal);
    this.#agree({ version, capabilities, client: clientNameIn(params["clientInfo"]) }, offer);
    return {
      protocolVersion: version,
      capabilities: legacyOffer(offer, version, capabilities),
      serverInfo: legacyInfo(offer.serverInfo, version),
      ...(offer.instructions === undefined ? {} : { instructions: offer.instructions }),
    };
  }

  /**
   * Continues with what an earlier session of this client agreed to; nothing else of that session is left. If it is not
   * certain that there was one, `initialize` may still follow, and the client gets changes after its first other message.
   */
  resume(agreed: Agreed, { isCertain }: { isCertain: boolean }): Promise<void> {
    const resuming = this.#resume(agreed, isCertain);
    this.#resuming = resuming;
    resuming.catch(() => (this.#resuming = undefined));
    return resuming;
  }

  request(request: Request, channel: RequestChannel): void {
    const { id, method, params = {} } = request;
    const answer = (result: Promise<Result>) => {
      const asked = { id, channel };
      this.#ownRequests.add(asked);
      // The end of the session may have answered it.
      const finish = (response: Response) => void (this.#ownRequests.delete(asked) && channel.finish(response));
      const finished = result.then(
        (value) => finish({ jsonrpc: "2.0", id, result: value }),
        (error: unknown) => {
          logHidden(error, method, this.#options.logger);
          finish({ jsonrpc: "2.0", id, error: rpcErrorOf(error) });
        },
      );
      callListener(() => finished, this.#options.logger);
    };
    if (!isRecord(params)) return channel.finish(refusal(id, `"params" must be an object`));
    if (method === "ping") return channel.finish({ jsonrpc: "2.0", id, result: {} });
    if (method === "initialize") {
      if (this.#opening) return channel.finish(refusal(id, "The session is already initialized"));
      const opening = this.initialize(params);
      this.#opening = opening;
      answer(opening);
      opening.catch(() => (this.#opening = undefined));
      return;
    }
    if (this.#isEarly) return this.#afterOpening(() => this.request(request, channel));
    if (this.#missed) this.#tellMissed(this.#missed);
    if (!this.#agreement || this.#closing) return channel.finish(refusal(id, NOT_INITIALIZED));
    switch (method) {
      case "logging/setLevel":
        return answer(this.#setLevel(params["level"]));
      case "resources/subscribe":
        return answer(this.#subscribe(params["uri"], this.#agreement));
      case "resources/unsubscribe":
        return answer(this.#unsubscribe(params["uri"], this.#agreement));
      default:
        if (!isForeign(method, this.#agreement)) return this.#call(request, channel, this.#agreement);
        answer(Promise.reject(new NexusError("CAPABILITY_MISSING", `Method not found: ${method}`)));
    }
  }

  notified(notification: Notification): void {
    if (this.#isEarly) return this.#afterOpening(() => this.notified(notification));
    const { method, params } = notification;
    if (method === "notifications/initialized") this.#agreement?.changes.start();
    else if (method === "notifications/cancelled") this.#cancel(params?.["requestId"] as RequestId);
    // Roots are asked for whenever a server wants them, so nothing is kept that could have changed.
  }

  /** What the client answers to a question. One that nobody asked is dropped. */
  settle(response: Response): void {
    if (!this.#questions.settle(response)) {
      this.#options.logger.debug("an answer without a waiting request was dropped", { id: response.id });
    }
  }

  /** The client can answer no more, though it may still read. */
  stopAsking(): void {
    this.#questions.close(new NexusError("CLOSED", "The client has disconnected"));
  }

  /** Ends everything that is kept for this client alone. Requests in flight are answered with `why`, or not at all. */
  close(why?: NexusError): Promise<void> {
    this.#closing ??= this.#close(why);
    return this.#closing;
  }

  #agree({ version, capabilities, client }: Agreed, offer: Offer): void {
    const { core, principal, outside: onChange, hearsChanges, logger } = this.#options;
    const { owner } = this;
    const lists = changingLists(offer.capabilities);
    const runsTasks = offer.legacyTasks !== undefined && hasTasks(version);
    const before = this.#agreement;
    if (before) callListener(() => before.changes.close(), logger);
    this.#missed = undefined;
    this.#agreement = {
      core,
      principal,
      owner,
      version,
      capabilities,
      client,
      runsTasks,
      logger,
      questions: this.#questions,
      hearsChanges,
      logLevel: () => this.#logLevel,
      outputs: new ToolOutputs(version, { showsTasks: runsTasks }),
      changes: new SessionChanges({ core, principal, owner, capabilities, lists, onChange, logger }),
    };
  }

  async #resume(agreed: Agreed, isCertain: boolean): Promise<void> {
    const { core, principal } = this.#options;
    const offer = await core.offer(principal);
    // The client was quicker, or is gone.
    if (this.#opening || this.#closing) return;
    const lists = changingLists(offer.capabilities);
    this.#agree(agreed, offer);
    this.#agreement?.changes.start();
    if (isCertain) this.#tellMissed(lists);
    else this.#missed = lists;
  }

  #tellMissed(lists: readonly ChangingList[]): void {
    this.#missed = undefined;
    for (const list of lists) this.#options.outside({ jsonrpc: "2.0", method: changeMethod(list) });
  }

  async #close(why: NexusError | undefined): Promise<void> {
    this.stopAsking();
    for (const { id } of this.#inFlight.values()) this.#cancel(id, why);
    for (const { id, channel } of this.#ownRequests) {
      channel.finish(why && { jsonrpc: "2.0", id, error: rpcErrorOf(why) });
    }
    this.#ownRequests.clear();
    await this.#agreement?.changes.close().catch((error: unknown) => {
      this.#options.logger.debug("a subscription could not be closed", { error });
    });
    this.#options.core.release(this.owner);
  }

  /** A client may go on without waiting for the answer to `initialize`, as those do that read what to say from a file. */
  get #isEarly(): boolean {
    return (this.#opening ?? this.#resuming) !== undefined && !this.#agreement && !this.#closing;
  }

  #afterOpening(proceed: () => void): void {
    callListener(() => (this.#opening ?? this.#resuming)?.then(proceed, proceed), this.#options.logger);
  }

  #call(request: Request, channel: RequestChannel, agreement: Agreement): void {
    const { id } = request;
    if (this.#inFlight.get(id)) return channel.finish(refusal(id, "A request with this id is already running"));
    const call = new LegacyCall(request, channel, agreement);
    const running = { id, call, channel };
    this.#inFlight.set(id, running);
    void this.#answer(running, agreement);
  }

  /** Never rejects: what fails here concerns one request, and must not end the process. */
  async #answer({ id, call, channel }: InFlight, agreement: Agreement): Promise<void> {
    try {
      const outcome = await this.#run(call, agreement);
      const apart = channel.afterProgress?.();
      if (apart) await apart;
      // A cancelled request has been finished already, and gets no answer.
      if (call.isOver) return call.receipt.leave();
      const waiting = recordedAnswer({ jsonrpc: "2.0", id, ...outcome }, call.receipt, channel.isInProcess);
      const { answer, text } = waiting instanceof Promise ? await waiting : waiting;
      if (call.isOver) return;
      call.isOver = true;
      this.#inFlight.delete(id);
      channel.finish(answer, text);
    } catch (error) {
      this.#options.logger.error("a request could not be answered", { error });
    }
  }

  async #run(call: LegacyCall, agreement: Agreement): Promise<ReturnType<typeof legacyFailure>> {
    const { exchange } = call;
    try {
      const { core } = this.#options;
      const result = legacyResult(exchange, await core.handle(exchange), agreement);
      if (!call.isOver) call.completeVisits();
      return {
        result: core.showsCorrelation && isCorrelated(exchange.method) ? withCorrelation(result, exchange) : result,
      };
    } catch (error) {
      if (!call.isOver) this.#options.logger.debug(`${exchange.method} failed`, { error });
      logHidden(error, exchange.method, this.#options.logger);
      return legacyFailure(error, exchange, agreement.version);
    }
  }

  #cancel(id: RequestId, why?: NexusError): void {
    const running = this.#inFlight.get(id);
    if (!running) return;
    this.#inFlight.delete(id);
    running.call.cancel(why ?? new NexusError("CANCELLED", "The client cancelled its request"));
    running.channel.finish(why && { jsonrpc: "2.0", id, error: rpcErrorOf(why) });
  }

  async #setLevel(level: unknown): Promise<Result> {
    const known = LOG_LEVELS.find((candidate) => candidate === level);
    if (!known) throw new NexusError("ARGUMENTS_INVALID", `"level" must be one of ${LOG_LEVELS.join(", ")}`);
    this.#logLevel = known;
    return {};
  }

  async #subscribe(given: unknown, { changes }: Agreement): Promise<Result> {
    const uri = uriOf(given);
    if (await changes.subscribe(uri)) return {};
    throw new NexusError(
      "NAME_UNKNOWN",
      `Cannot subscribe to ${uri}: the resource does not exist or does not support subscriptions`,
    );
  }

  async #unsubscribe(given: unknown, { changes }: Agreement): Promise<Result> {
    await changes.unsubscribe(uriOf(given));
    return {};
  }
}

/** The result was made for this client, and a copy of it costs as much as to make it. */
function withCorrelation(result: Result, { correlationId }: Exchange): Result {
  result._meta = { ...result._meta, [CORRELATION_META]: correlationId };
  return result;
}

const NOT_INITIALIZED = "The session is not initialized: send initialize first";

/**
 * Of the newest revision alone. Tasks are polled for legacy callers, who never see one, unless the core runs those of their
 * revision.
 */
function isForeign(method: string, { runsTasks }: Agreement): boolean {
  return isAdded(method) || (targetKind(method) === "task" && !runsTasks);
}

function uriOf(given: unknown): string {
  if (typeof given === "string") return given;
  throw new NexusError("ARGUMENTS_INVALID", `"uri" must be a string`);
}

function refusal(id: RequestId, message: string): Response {
  return { jsonrpc: "2.0", id, error: { code: INVALID_REQUEST, message } };
}

/** What a legacy caller is told of a failure, in codes that its revision has. */
export function legacyFailure(
  thrown: unknown,
  { method, params }: Asked,
  version: LegacyRevision,
): { error: ErrorObject } | { result: Result } {
  const error = rpcErrorOf(thrown);
  switch (error.code) {
    case INVALID_PARAMS:
      return method === "resources/read" && typeof params["uri"] === "string"
        ? { error: { ...error, code: RESOURCE_NOT_FOUND } }
        : { error };
    case MISSING_CLIENT_CAPABILITY:
      return lacking(error, method);
    case URL_ELICITATION_REQUIRED:
      return { error: atLeast(version, "2025-11-25") ? error : internal(error) };
    case HEADER_MISMATCH:
    case UNSUPPORTED_VERSION:
      return { error: internal(error) };
    default:
      return { error };
  }
}

/** The code is of another revision, and is kept for those who look for it. */
function internal({ code, message, data }: ErrorObject): ErrorObject {
  return { code: INTERNAL_ERROR, message, data: isRecord(data) ? { ...data, code } : { code } };
}

function lacking(error: ErrorObject, method: string): { error: ErrorObject } | { result: Result } {
  const required = isRecord(error.data) ? error.data["requiredCapabilities"] : undefined;
  const names = capabilityNames(required);
  const message = names ? `This requires a client with ${names}: ${error.message}` : error.message;
  // The model is better told than the program: it can go on without this tool.
  if (method === "tools/call") return { result: { content: [{ type: "text", text: message }], isError: true } };
  return { error: internal({ ...error, message }) };
}
