import { isRecord } from "../json/is-record.ts";
import { INTERNAL_ERROR, isNotification, isRequest, isRequestId, isResponse } from "../protocol/json-rpc.ts";
import type { ErrorObject, Message, Params, Request, RequestId, Response, Result } from "../protocol/json-rpc.ts";
import type { Progress } from "../protocol/mcp.ts";
import { META } from "../protocol/meta.ts";
import type { Era } from "../protocol/revisions.ts";
import type { MemoryPeer } from "../transport/memory.ts";

/** A result; undefined sends no answer. */
export type Answer = Params | undefined | void;
export type Handler = (params: Params, context: ScriptContext) => Answer | Promise<Answer>;

/** The request that a handler answers. */
export interface ScriptContext {
  /** The revision of the request. */
  readonly era: Era;
  readonly request: Request;
  /** Aborted when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** Sends progress if the client sent a progress token. */
  readonly progress: (progress: Progress) => void;
  /**
   * Asks the client. A modern client sends the call again with the answer and the handler runs again, so ask before
   * you act.
   */
  readonly ask: (method: string, params?: Params) => Promise<Result>;
  /** Keeps a `subscriptions/listen` open and sends matching notifications on its stream. */
  readonly listen: () => void;
}

/** A handler throws this to answer with a JSON-RPC error. */
export class ScriptedError extends Error {
  override readonly name = "ScriptedError";
  readonly rpc: ErrorObject;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.rpc = { code, message, ...(data === undefined ? {} : { data }) };
  }
}

/** Ends a modern handler that asks: the client gets the question in place of an answer. */
class InputNeeded extends Error {
  override readonly name = "InputNeeded";
  readonly result: Params;

  constructor(inputRequests: Params, answered: Params) {
    super("the client is asked first");
    this.result = { resultType: "input_required", inputRequests, requestState: JSON.stringify(answered) };
  }
}

/** One client of a scripted server. */
export class ScriptedConnection {
  readonly #peer: MemoryPeer;
  readonly #handle: Handler;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions = new Map<RequestId, (response: Response) => void>();
  /** What each open `subscriptions/listen` wants. */
  readonly #listening = new Map<RequestId, Params>();
  #asked = 0;

  constructor(peer: MemoryPeer, handle: Handler) {
    this.#peer = peer;
    this.#handle = handle;
    void peer.closed.then(() => this.#running.forEach((running) => running.abort()));
  }

  send(message: Message): void {
    this.#peer.send(message);
  }

  close(): void {
    this.#peer.close();
  }

  receive(message: Message): void {
    if (isRequest(message)) void this.#answer(message);
    else if (isResponse(message) && isRequestId(message.id)) this.#questions.get(message.id)?.(message);
    else if (isNotification(message) && message.method === "notifications/cancelled") {
      this.#running.get(message.params?.["requestId"] as RequestId)?.abort();
    }
  }

  notify(method: string, params?: Params): void {
    const streams = [...this.#listening].filter(([, wanted]) => wants(wanted, method, params));
    for (const [id] of streams) {
      this.send({ jsonrpc: "2.0", method, params: { ...params, _meta: { [META.subscriptionId]: id } } });
    }
    if (streams.length === 0) this.send({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  async request(method: string, params?: Params): Promise<Result> {
    const id = `server-${++this.#asked}`;
    const answered = new Promise<Response>((resolve) => this.#questions.set(id, resolve));
    this.send({ jsonrpc: "2.0", id, method, ...(params && { params }) });
    const response = await answered;
    if ("result" in response) return response.result;
    throw new ScriptedError(response.error.code, response.error.message, response.error.data);
  }

  async #answer(request: Request): Promise<void> {
    const { id, params = {} } = request;
    const cancelled = new AbortController();
    this.#running.set(id, cancelled);
    const context = this.#context(request, cancelled.signal);
    const answer = await (async () => this.#handle(params, context))().then(
      (result) => result && { result: context.era === "modern" ? { resultType: "complete", ...result } : result },
      failureOf,
    );
    // What is left without an answer can still be cancelled.
    if (!answer) return;
    this.#running.delete(id);
    if (!cancelled.signal.aborted) this.send({ jsonrpc: "2.0", id, ...answer });
  }

  #context(request: Request, signal: AbortSignal): ScriptContext {
    const { id, params = {} } = request;
    const { progressToken, ...meta } = recordIn(params, "_meta");
    const answered = { ...answersIn(params["requestState"]), ...recordIn(params, "inputResponses") };
    let asked = 0;
    const era = META.protocolVersion in meta ? "modern" : "legacy";
    const progress = (step: Progress) => {
      if (isRequestId(progressToken)) this.notify("notifications/progress", { progressToken, ...step });
    };
    const ask = async (method: string, question: Params = {}) => {
      if (era === "legacy") return this.request(method, question);
      const key = `question-${++asked}`;
      if (!(key in answered)) throw new InputNeeded({ [key]: { method, params: question } }, answered);
      return recordIn(answered, key);
    };
    const listen = () => {
      const notifications = recordIn(params, "notifications");
      this.#listening.set(id, notifications);
      const acknowledged = { notifications, _meta: { [META.subscriptionId]: id } };
      this.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: acknowledged });
      signal.addEventListener("abort", () => this.#listening.delete(id), { once: true });
    };
    return { era, request, signal, progress, ask, listen };
  }
}

export function recordIn(params: Params, member: string): Params {
  const value = params[member];
  return isRecord(value) ? value : {};
}

/** The state of `ask` is the answers so far; a script's own state means nothing to it. */
function answersIn(requestState: unknown): Params {
  try {
    const value: unknown = JSON.parse(String(requestState));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function failureOf(thrown: unknown) {
  if (thrown instanceof InputNeeded) return { result: thrown.result };
  const error = thrown instanceof ScriptedError ? thrown : new ScriptedError(INTERNAL_ERROR, String(thrown));
  return { error: error.rpc };
}

function wants(wanted: Params, method: string, params: Params = {}): boolean {
  const list = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1];
  if (list) return wanted[`${list}ListChanged`] === true;
  const uris = wanted["resourceSubscriptions"];
  return method === "notifications/resources/updated" && Array.isArray(uris) && uris.includes(params["uri"]);
}
