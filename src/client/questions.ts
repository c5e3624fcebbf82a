import { NexusError, messageOf } from "../errors/nexus-error.ts";
import {
  INTERNAL_ERROR,
  isRecord,
  METHOD_NOT_FOUND,
  type ErrorObject,
  type Params,
  type Request,
  type RequestId,
} from "../protocol/json-rpc.ts";
import { META, USER_REJECTED } from "../protocol/meta.ts";
import type { CallScope } from "./call-scope.ts";
import { isInputMethod, type InputDesk } from "./input.ts";
import type { Logger } from "./logger.ts";
import type { Peer } from "./peer.ts";

/** Calls during which a server may ask. */
export const INTERACTIVE = new Set(["tools/call", "prompts/get", "resources/read"]);
/** While a client waits for a task of 2025-11-25, too. */
const ASKED_DURING = new Set([...INTERACTIVE, "tasks/result"]);

type Answer = Parameters<Peer["respond"]>[1];

/** What a legacy server asks with requests of its own, and the answers that are being worked on. */
export class Questions {
  readonly #desk: InputDesk;
  readonly #logger: Logger;
  readonly #open = new Map<RequestId, AbortController>();
  #closed = false;

  constructor(desk: InputDesk, logger: Logger) {
    this.#desk = desk;
    this.#logger = logger;
  }

  /** `stream` is the call on whose stream the question came, where the transport can tell. */
  async answer(peer: Peer, request: Request, stream: CallScope | undefined): Promise<void> {
    if (request.method === "ping") return this.#respond(peer, request, { result: {} });
    if (!isInputMethod(request.method)) {
      return this.#respond(peer, request, {
        error: { code: METHOD_NOT_FOUND, message: `Method not found: ${request.method}` },
      });
    }
    if (this.#closed) return;
    const withdrawn = new AbortController();
    this.#open.set(request.id, withdrawn);
    const { signal } = withdrawn;
    const answer = await (stream ? this.#ask(request, stream, signal) : this.#askSomebody(peer, request, signal));
    this.#open.delete(request.id);
    if (!withdrawn.signal.aborted) await this.#respond(peer, request, answer);
  }

  /** On a pipe the wrong call may be asked. When that one is over, and the server still waits, another one is. */
  async #askSomebody(peer: Peer, request: Request, withdrawn: AbortSignal): Promise<Answer> {
    const scope = this.#likeliest(peer, request);
    const answer = await this.#ask(request, scope, withdrawn);
    const isDone = "result" in answer || withdrawn.aborted || !scope?.isFinished;
    return isDone || !this.#likeliest(peer, request) ? answer : this.#askSomebody(peer, request, withdrawn);
  }

  async #ask(request: Request, scope: CallScope | undefined, withdrawn: AbortSignal): Promise<Answer> {
    const signal = scope ? AbortSignal.any([withdrawn, scope.handlerSignal]) : withdrawn;
    const context = { key: request.id, signal, ...(scope ? { call: scope.call } : {}) };
    scope?.pause();
    try {
      const result = await this.#desk.answer(request, context, scope?.options.input);
      return { result: withRelatedTask(request, result) };
    } catch (error) {
      this.#logger.error(`a question of the server was not answered: ${messageOf(error)}`, { error });
      return { error: refusal(request.method, error) };
    } finally {
      scope?.resume();
    }
  }

  /** An answer that cannot be written as JSON must not leave the server waiting. */
  async #respond(peer: Peer, { id, method }: Request, answer: Answer): Promise<void> {
    try {
      await peer.respond(id, answer);
    } catch (error) {
      this.#logger.error(`the answer to ${method} could not be sent: ${messageOf(error)}`);
      if (!peer.gone && !(error instanceof NexusError)) {
        await peer.respond(id, { error: { code: INTERNAL_ERROR, message: NOT_ANSWERED } }).catch(() => {});
      }
    }
  }

  /**
   * A pipe does not say whose question it is: it belongs to a call that declared such questions, and rather to one
   * that is not being asked already; of several, to the newest.
   */
  #likeliest(peer: Peer, request: Request): CallScope | undefined {
    const candidates = peer.scopes().filter((scope) => {
      return ASKED_DURING.has(scope.call.method) && this.#desk.declares(request, scope.options.input);
    });
    return candidates.findLast((scope) => !scope.isPaused) ?? candidates.at(-1);
  }

  /** The server no longer wants the answer. */
  withdraw(id: unknown): void {
    const open = this.#open.get(id as RequestId);
    open?.abort(new NexusError("CANCELLED", "The server withdrew its question"));
  }

  close(): void {
    this.#closed = true;
    for (const open of this.#open.values()) open.abort(new NexusError("CLOSED", "The connection was closed"));
  }
}

/** 2025-11-25: every message about a task MUST name it. */
function withRelatedTask({ params }: Request, result: Params): Params {
  const asked = params?.["_meta"];
  const related = isRecord(asked) ? asked[META.relatedTask] : undefined;
  if (related === undefined) return result;
  const own = isRecord(result["_meta"]) ? result["_meta"] : {};
  return { ...result, _meta: { ...own, [META.relatedTask]: related } };
}

function refusal(method: string, error: unknown): ErrorObject {
  if (error instanceof NexusError && error.code === "CAPABILITY_MISSING") {
    return { code: METHOD_NOT_FOUND, message: `This client does not answer ${method}` };
  }
  // What went wrong inside the client is none of the server's business.
  return { code: method === "sampling/createMessage" ? USER_REJECTED : INTERNAL_ERROR, message: NOT_ANSWERED };
}

const NOT_ANSWERED = "The client could not answer";
