import { INTERNAL_ERROR, isNotification, isRecord, isRequest, isRequestId, isResponse } from "../protocol/json-rpc.ts";
import type { Message, Params, Request, RequestId, Response, Result } from "../protocol/json-rpc.ts";
import type { Progress } from "../protocol/mcp.ts";
import { META } from "../protocol/meta.ts";
import type { Era } from "../protocol/revisions.ts";
import type { MemoryPeer } from "../transport/memory.ts";
import { ScriptedError } from "./scripted-error.ts";

/** A result; nothing at all leaves the request without an answer. */
export type Answer = Params | undefined;
export type Handler = (params: Params, context: ScriptContext) => Answer | Promise<Answer>;

/** What a handler knows of the request it answers. */
export interface ScriptContext {
  /** In which the request was written. */
  readonly era: Era;
  readonly request: Request;
  /** How many requests of this method came, this one included. */
  readonly times: number;
  /** Fires when the client cancels, or is gone. */
  readonly signal: AbortSignal;
  /** Sent only if the client gave a token. */
  progress(progress: Progress): void;
  /**
   * Asks the client, in the way of the era. A modern client calls again with the answer, so that the handler runs once
   * more up to here: ask first, act afterwards.
   */
  ask(method: string, params?: Params): Promise<Result>;
  /** Keeps the request open and tells on its stream what it wants to hear; `subscriptions/listen` does so by itself. */
  listen(): Promise<Answer>;
}

type Run = (request: Request, context: Omit<ScriptContext, "times">) => Promise<Answer>;

/** One client of a scripted server. */
export class ScriptedConnection {
  readonly #peer: MemoryPeer;
  readonly #run: Run;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions = new Map<RequestId, (response: Response) => void>();
  /** What each open `subscriptions/listen` wants. */
  readonly #listening = new Map<RequestId, Params>();
  #asked = 0;

  constructor(peer: MemoryPeer, run: Run) {
    this.#peer = peer;
    this.#run = run;
    void peer.closed.then(() => {
      for (const running of this.#running.values()) running.abort();
    });
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
    if (streams.length === 0) this.send({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });
  }

  async request(method: string, params?: Params): Promise<Result> {
    const id = `server-${++this.#asked}`;
    const answered = new Promise<Response>((resolve) => this.#questions.set(id, resolve));
    this.send({ jsonrpc: "2.0", id, method, ...(params ? { params } : {}) });
    const response = await answered;
    this.#questions.delete(id);
    if ("result" in response) return response.result;
    throw new ScriptedError(response.error.code, response.error.message, response.error.data);
  }

  async #answer(request: Request): Promise<void> {
    const cancelled = new AbortController();
    this.#running.set(request.id, cancelled);
    const answer = await this.#run(request, this.#context(request, cancelled.signal)).then(resultOf, errorOf);
    this.#running.delete(request.id);
    this.#listening.delete(request.id);
    // A request that was cancelled gets no answer any more.
    if (answer && !cancelled.signal.aborted) this.send({ jsonrpc: "2.0", id: request.id, ...answer });
  }

  #context(request: Request, signal: AbortSignal): Omit<ScriptContext, "times"> {
    const { id, params = {} } = request;
    const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
    const era = META.protocolVersion in meta ? "modern" : "legacy";
    const given = {
      ...earlierAnswers(params),
      ...(isRecord(params["inputResponses"]) ? params["inputResponses"] : {}),
    };
    let asked = 0;
    return {
      era,
      request,
      signal,
      progress: (progress) => {
        const progressToken = meta["progressToken"];
        if (isRequestId(progressToken)) this.notify("notifications/progress", { progressToken, ...progress });
      },
      ask: async (method, question) => {
        if (era === "legacy") return this.request(method, question);
        const key = `question-${++asked}`;
        if (isRecord(given[key])) return given[key];
        throw new InputNeeded({ [key]: { method, params: question ?? {} } }, JSON.stringify(given));
      },
      listen: () => {
        const notifications = isRecord(params["notifications"]) ? params["notifications"] : {};
        this.#listening.set(id, notifications);
        const acknowledged = { notifications, _meta: { [META.subscriptionId]: id } };
        this.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: acknowledged });
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
      },
    };
  }
}

/** Ends a modern handler that asks: the client gets the question, and calls again. */
class InputNeeded extends Error {
  override readonly name = "InputNeeded";
  readonly result: Params;

  constructor(inputRequests: Params, requestState: string) {
    super("the client is asked first");
    this.result = { resultType: "input_required", inputRequests, requestState };
  }
}

function earlierAnswers({ requestState }: Params): Params {
  return typeof requestState === "string" ? (JSON.parse(requestState) as Params) : {};
}

function resultOf(result: Answer) {
  return result && { result };
}

function errorOf(thrown: unknown) {
  if (thrown instanceof InputNeeded) return { result: thrown.result };
  const error = thrown instanceof ScriptedError ? thrown : new ScriptedError(INTERNAL_ERROR, String(thrown));
  return { error: error.toObject() };
}

function wants(wanted: Params, method: string, params: Params = {}): boolean {
  const list = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1];
  if (list) return wanted[`${list}ListChanged`] === true;
  const uris = wanted["resourceSubscriptions"];
  return method === "notifications/resources/updated" && Array.isArray(uris) && uris.includes(params["uri"]);
}
