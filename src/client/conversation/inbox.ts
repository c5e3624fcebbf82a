import {
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  INTERNAL_ERROR,
  type Notification,
  type Request,
  type RequestId,
  type Params,
  type ErrorObject,
} from "../../protocol/json-rpc.ts";
import type { Progress } from "../../protocol/mcp.ts";
import { isNestedDeeper, MAX_NESTING } from "../../json/nesting.ts";
import type { CallScope } from "./call-scope.ts";
import { callListener } from "../../async/call-listener.ts";
import type { InputDesk } from "./input.ts";
import type { KnownLists } from "./lists.ts";
import type { Logger } from "../../text/logger.ts";
import type { Peer, PeerListener } from "./peer.ts";
import { isInputMethod, mayAskMeanwhile } from "../../protocol/methods.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { META, USER_REJECTED } from "../../protocol/meta.ts";
import { changedList } from "../../protocol/list-kinds.ts";

/** Maximum number of open questions of one server: each may be shown to a person. */
const MAX_OPEN = 1_000;
const NOT_ANSWERED = "The client could not answer";

/** Receives a notification as the server sent it. */
export type NotificationListener = (notification: Notification) => void;

/**
 * Receives what the server sends on its own: progress goes to its call, questions to the desk, the rest to listeners.
 */
export class Inbox implements PeerListener {
  /** Where answers to questions are sent; set when there is a connection. */
  peer: Peer | undefined;
  isModern = false;
  readonly known: KnownLists = {};
  /** Counts changes of lists, so that a list that was read during a change is not kept. */
  changes = 0;
  readonly listeners = new Set<NotificationListener>();
  /** For caches and subscriptions of this client. */
  onChange: NotificationListener = () => {};
  #questions: Questions | undefined;
  #isClosed = false;
  readonly #desk: InputDesk;
  readonly #logger: Logger;

  constructor(desk: InputDesk, logger: Logger) {
    this.#desk = desk;
    this.#logger = logger;
  }

  request(request: Request, scope: CallScope | undefined): void {
    // Modern clients MUST NOT send responses, so the request cannot be refused either.
    if (this.isModern)
      this.#logger.warn(`"${this.#desk.server}" sent ${request.method}, which the protocol forbids to a modern server`);
    else if (this.peer && !this.#isClosed) {
      this.#questions ??= new Questions(this.#desk, this.#logger);
      void this.#questions.answer(this.peer, request, scope);
    }
  }

  notification(notification: Notification, scope: CallScope | undefined): void {
    const { method, params } = notification;
    if (isNestedDeeper(params)) {
      const what = `${method} of "${this.#desk.server}"`;
      return this.#logger.warn(`${what} was dropped because it is nested deeper than ${MAX_NESTING} levels`);
    }
    if (method === "notifications/progress") {
      if (scope) callListener(() => reportProgress(params, scope), this.#logger);
    } else {
      if (method === "notifications/cancelled") this.#questions?.withdraw(params?.["requestId"]);
      if (forgetLists(this.known, method)) this.changes++;
      this.onChange(notification);
      const call = scope ?? (method === "notifications/message" ? this.#onlyListener() : undefined);
      callListener(() => call?.options.onNotification?.(notification), this.#logger);
    }
    for (const listener of this.listeners) callListener(() => listener(notification), this.#logger);
  }

  /** Over a pipe, a log message does not name its call. If only one call wants log messages, it gets them. */
  #onlyListener(): CallScope | undefined {
    const listening = this.peer?.scopes().filter(({ options }) => options.onNotification) ?? [];
    return listening.length === 1 ? listening[0] : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#questions?.close();
  }
}

function reportProgress(params: Notification["params"], scope: CallScope): unknown {
  if (typeof params?.["progress"] !== "number") return undefined;
  scope.touch();
  scope.lastProgress = params["message"];
  return scope.options.onProgress?.(params as unknown as Progress);
}

type Answer = Parameters<Peer["respond"]>[1];

/** The questions that a legacy server asks with its own requests, and their answers in progress. */
class Questions {
  readonly #desk: InputDesk;
  readonly #logger: Logger;
  readonly #open = new Map<RequestId, AbortController>();
  #closed = false;

  constructor(desk: InputDesk, logger: Logger) {
    this.#desk = desk;
    this.#logger = logger;
  }

  /** `stream` is the call on whose stream the question came, if the transport knows it. */
  async answer(peer: Peer, request: Request, stream: CallScope | undefined): Promise<void> {
    if (request.method === "ping") return this.#respond(peer, request, { result: {} });
    if (!isInputMethod(request.method)) {
      return this.#respond(peer, request, {
        error: { code: METHOD_NOT_FOUND, message: `Method not found: ${request.method}` },
      });
    }
    if (this.#closed) return;
    if (isNestedDeeper(request.params)) {
      const message = `The request is nested deeper than ${MAX_NESTING} levels`;
      return this.#respond(peer, request, { error: { code: INVALID_PARAMS, message } });
    }
    if (this.#open.size >= MAX_OPEN) {
      const message = `This server already has ${MAX_OPEN} open questions (limit)`;
      return this.#respond(peer, request, { error: { code: INTERNAL_ERROR, message } });
    }
    const withdrawn = new AbortController();
    this.#open.set(request.id, withdrawn);
    const { signal } = withdrawn;
    const answer = await (stream ? this.#ask(request, stream, signal) : this.#askSomebody(peer, request, signal));
    this.#open.delete(request.id);
    if (!withdrawn.signal.aborted) await this.#respond(peer, request, answer);
  }

  /** Over a pipe the wrong call may be asked. If it ends and the server still waits, another call is asked. */
  async #askSomebody(peer: Peer, request: Request, withdrawn: AbortSignal): Promise<Answer> {
    const calls = candidates(request, peer.scopes());
    // A wrong guess would show one client's question to another.
    if (this.#isUnclear(request, calls)) return this.#refuse(request, unclear());
    const scope = this.#likeliest(request, calls);
    const answer = await this.#ask(request, scope, withdrawn);
    const isDone = "result" in answer || withdrawn.aborted || !scope?.isFinished;
    return isDone || !this.#isDeclared(peer, request) ? answer : this.#askSomebody(peer, request, withdrawn);
  }

  async #ask(request: Request, scope: CallScope | undefined, withdrawn: AbortSignal): Promise<Answer> {
    const signal = scope ? AbortSignal.any([withdrawn, scope.handlerSignal]) : withdrawn;
    const context = { key: request.id, signal, ...(scope ? { call: scope.call } : {}) };
    scope?.pause();
    try {
      const result = await this.#deskOf(scope).answer(request, context, scope?.options.input);
      return { result: withRelatedTask(request, result) };
    } catch (error) {
      return this.#refuse(request, error);
    } finally {
      scope?.resume();
    }
  }

  #refuse({ method }: Request, error: unknown): Answer {
    this.#logger.error(`${method} of "${this.#desk.server}" was not answered: ${messageOf(error)}`, { error });
    return { error: refusal(method, error) };
  }

  #deskOf(scope: CallScope | undefined): InputDesk {
    return scope?.sharedClient?.desk ?? this.#desk;
  }

  /** Sends an error if the answer cannot be written as JSON, so that the server does not wait. */
  async #respond(peer: Peer, { id, method }: Request, answer: Answer): Promise<void> {
    try {
      await peer.respond(id, answer);
    } catch (error) {
      this.#logger.error(`the answer to ${method} of "${this.#desk.server}" could not be sent: ${messageOf(error)}`);
      if (!peer.gone && !(error instanceof NexusError)) {
        await peer.respond(id, { error: { code: INTERNAL_ERROR, message: NOT_ANSWERED } }).catch(() => {});
      }
    }
  }

  /** Whether the question may belong to calls of several clients whose answers could differ. */
  #isUnclear(request: Request, calls: readonly CallScope[]): boolean {
    if (new Set(calls.map(({ sharedClient }) => sharedClient)).size < 2) return false;
    return !calls.every(
      (scope) => !scope.sharedClient?.desk.hasOwnRoots && this.#desk.needsNobody(request, scope.options.input),
    );
  }

  /**
   * Guesses the call of a question over a pipe, which does not name it: a call that declared such questions, preferably
   * one that is not being asked; of several, the newest. If none declared it, the newest call refuses it. Undefined if
   * there is no call.
   */
  #likeliest(request: Request, calls: readonly CallScope[]): CallScope | undefined {
    const declared = calls.filter((scope) => this.#declares(request, scope));
    return declared.findLast((scope) => !scope.isPaused) ?? declared.at(-1) ?? calls.at(-1);
  }

  #isDeclared(peer: Peer, request: Request): boolean {
    return peer.scopes().some((scope) => mayAskMeanwhile(scope.call.method) && this.#declares(request, scope));
  }

  #declares(request: Request, scope: CallScope): boolean {
    return this.#deskOf(scope).declares(request, scope.options.input);
  }

  /** Call this when the server no longer needs the answer. */
  withdraw(id: unknown): void {
    const open = this.#open.get(id as RequestId);
    open?.abort(new NexusError("CANCELLED", "The server cancelled its question"));
  }

  close(): void {
    this.#closed = true;
    for (const open of this.#open.values()) open.abort(new NexusError("CLOSED", "The connection was closed"));
  }
}

/** The calls that the question may belong to. A question of a task names the task. */
function candidates(request: Request, scopes: readonly CallScope[]): CallScope[] {
  const calls = scopes.filter(({ call }) => mayAskMeanwhile(call.method));
  const related = relatedTask(request);
  const taskId = isRecord(related) ? related["taskId"] : undefined;
  const isMeant = ({ call: { method, params } }: CallScope) =>
    taskId === undefined
      ? method !== "tasks/result" && params?.["task"] === undefined
      : method === "tasks/result" && params?.["taskId"] === taskId;
  const meant = calls.filter(isMeant);
  return meant.length > 0 ? meant : calls;
}

function relatedTask({ params }: Request): unknown {
  const asked = params?.["_meta"];
  return isRecord(asked) ? asked[META.relatedTask] : undefined;
}

/** 2025-11-25: every message about a task MUST name it. */
function withRelatedTask(request: Request, result: Params): Params {
  const related = relatedTask(request);
  if (related === undefined) return result;
  const own = isRecord(result["_meta"]) ? result["_meta"] : {};
  return { ...result, _meta: { ...own, [META.relatedTask]: related } };
}

function refusal(method: string, error: unknown): ErrorObject {
  if (error instanceof NexusError && error.code === "CAPABILITY_MISSING") {
    return { code: METHOD_NOT_FOUND, message: `This client does not answer ${method}` };
  }
  if (error instanceof NexusError && error.code === "DENIED" && method === "sampling/createMessage") {
    return { code: USER_REJECTED, message: "User rejected sampling request" };
  }
  // Failures inside the client are not reported to the server.
  return { code: method === "sampling/createMessage" ? USER_REJECTED : INTERNAL_ERROR, message: NOT_ANSWERED };
}

function unclear(): NexusError {
  const message =
    "Several callers share this connection, and the server does not say which call the question belongs to";
  return new NexusError("CAPABILITY_MISSING", message);
}

/** Drops the lists that a notification reports as changed; false if it reports none. */
function forgetLists(known: KnownLists, method: string): boolean {
  const list = changedList(method);
  if (list === "resources") delete known.resourceTemplates;
  if (list) delete known[list];
  return list !== undefined;
}
