import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import {
  type ErrorObject,
  INTERNAL_ERROR,
  isRequest,
  isRequestId,
  isResponse,
  type Message,
  type Params,
  type Request,
  type RequestId,
  type Response,
  type Result,
} from "../protocol/json-rpc.ts";
import { listsIn } from "../protocol/interests.ts";
import { changedList } from "../protocol/list-kinds.ts";
import type { Progress, ServerCapabilities } from "../protocol/mcp.ts";
import { META } from "../protocol/meta.ts";
import type { Era } from "../protocol/revisions.ts";
import { rpcErrorOf } from "../server/core/rpc-error.ts";
import { STDERR_LOGGER } from "../server/core/stderr-logger.ts";
import { InputNeeded } from "../server/features/input-needed.ts";
import type { McpServer } from "../server/features/mcp-server.ts";
import { type MemoryEnd, serveMemory } from "../server/memory/serve-memory.ts";
import { claimedVersion } from "../server/modern/modern-request.ts";
import type { MemoryPeer } from "../transport/memory.ts";

/** A result; undefined sends no answer. */
export type Answer = Params | undefined | void;
export type Handler = (params: Params, context: HandlerContext) => Answer | Promise<Answer>;

/** What a function of the script knows about its request. */
export interface ScriptContext {
  /** The revision of the request. */
  readonly era: Era;
  /** Aborted when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  /** Sends progress if the client sent a progress token. */
  readonly progress: (progress: Progress) => void;
  /**
   * Asks the client. A modern client sends the call again with the answer and the handler runs again, so ask before
   * you act.
   */
  readonly ask: (method: string, params?: Params) => Promise<Result>;
}

/** What a handler of `on` or `once` knows about its request. */
export interface HandlerContext extends ScriptContext {
  readonly request: Request;
  /** Leaves the answer to the server, as if there were no handler: return nothing afterwards. */
  readonly pass: () => void;
}

/** A handler throws this to answer with a JSON-RPC error. */
export class ScriptedError extends NexusError {
  constructor(code: number, message: string, data?: unknown) {
    super("SERVER_ERROR", message, { rpc: { code, message, ...(data === undefined ? {} : { data }) } });
  }
}

/** One client of a scripted server, in front of the server that answers what has no handler. */
export class ScriptedConnection {
  readonly #peer: MemoryPeer;
  readonly #server: MemoryEnd;
  readonly #capabilities: ServerCapabilities;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #questions = new Map<unknown, (response: Response) => void>();
  /** What each open `subscriptions/listen` wants. */
  readonly #listening = new Map<unknown, Params>();
  /** What is sent in place of the server's answers. */
  readonly #replaced = new Map<unknown, (answer: Response) => Response>();
  #asked = 0;

  constructor(peer: MemoryPeer, { server, capabilities }: { server: McpServer; capabilities: ServerCapabilities }) {
    this.#peer = peer;
    this.#capabilities = capabilities;
    this.#server = { onMessage: () => {}, send: (message) => this.#sendOn(message), closed: peer.closed };
    serveMemory(server, this.#server, { logger: STDERR_LOGGER });
    void peer.closed.then(() => this.#running.forEach((running) => running.abort()));
  }

  send(message: Message): void {
    this.#peer.send(message);
  }

  close(): void {
    this.#peer.close();
  }

  /** Takes a message of the client; `handler` answers it, if it is a request that has one. */
  receive(message: Message, handler: Handler | undefined): void {
    if (isRequest(message) && handler) return void this.#answer(message, handler);
    if (isRequest(message)) return this.#pass(message);
    if (isResponse(message)) this.#questions.get(message.id)?.(message);
    else if (message.method === "notifications/cancelled") this.#cancel(message.params?.["requestId"] as RequestId);
    this.#server.onMessage(message);
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

  /** The server answers. In `initialize` it declares what the script says, also what it would keep from older clients. */
  #pass(request: Request): void {
    const capabilities = this.#capabilities;
    if (request.method === "initialize") {
      this.#replaced.set(request.id, (answer) =>
        "result" in answer ? { ...answer, result: { ...answer.result, capabilities } } : answer,
      );
    }
    this.#server.onMessage(request);
  }

  /** What the server says to the client. */
  #sendOn(message: Message): void {
    const { id, method, params = {} } = message as Partial<Request>;
    if (isResponse(message)) {
      this.#listening.delete(id);
      this.send(this.#replaced.get(id)?.(message) ?? message);
      this.#replaced.delete(id);
      return;
    }
    if (method === "notifications/subscriptions/acknowledged") {
      this.#listening.set(recordIn(params, "_meta")[META.subscriptionId], recordIn(params, "notifications"));
    }
    this.send(message);
  }

  #cancel(id: RequestId): void {
    this.#listening.delete(id);
    this.#running.get(id)?.abort();
  }

  async #answer(request: Request, handler: Handler): Promise<void> {
    const { id, method, params = {} } = request;
    const cancelled = new AbortController();
    this.#running.set(id, cancelled);
    const context = this.#context(request, cancelled.signal);
    const answer = await (async () => handler(params, context))().then(
      (result) => result && { result: context.era === "modern" ? { resultType: "complete", ...result } : result },
      failureOf,
    );
    // What is left without an answer can still be cancelled.
    if (!answer) return;
    this.#running.delete(id);
    if (cancelled.signal.aborted) return;
    const response: Response = { jsonrpc: "2.0", id, ...answer };
    if (method !== "initialize" || !("result" in answer)) return this.send(response);
    // The server has to agree to the same, or it would refuse what follows.
    this.#replaced.set(id, () => response);
    const { protocolVersion } = answer.result;
    this.#server.onMessage({ ...request, params: { ...params, protocolVersion } });
  }

  #context(request: Request, signal: AbortSignal): HandlerContext {
    const { params = {} } = request;
    const { progressToken } = recordIn(params, "_meta");
    const answered = { ...answersIn(params["requestState"]), ...recordIn(params, "inputResponses") };
    let asked = 0;
    const era = claimedVersion(params) === undefined ? "legacy" : "modern";
    const progress = (step: Progress) => {
      if (isRequestId(progressToken)) this.notify("notifications/progress", { progressToken, ...step });
    };
    const ask = async (method: string, question: Params = {}) => {
      if (era === "legacy") return this.request(method, question);
      const key = `question-${++asked}`;
      if (!(key in answered)) throw new InputNeeded({ [key]: { method, params: question } }, JSON.stringify(answered));
      return recordIn(answered, key);
    };
    const pass = () => {
      if (!signal.aborted) this.#pass(request);
    };
    return { era, request, signal, progress, ask, pass };
  }
}

function recordIn(params: Params, member: string): Params {
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

function failureOf(thrown: unknown): { result: Result } | { error: ErrorObject } {
  if (thrown instanceof InputNeeded) return { result: thrown.result };
  return {
    error: thrown instanceof NexusError ? rpcErrorOf(thrown) : { code: INTERNAL_ERROR, message: String(thrown) },
  };
}

function wants(wanted: Params, method: string, params: Params = {}): boolean {
  const list = changedList(method);
  if (list) return listsIn(wanted).includes(list);
  const uris = wanted["resourceSubscriptions"];
  return method === "notifications/resources/updated" && Array.isArray(uris) && uris.includes(params["uri"]);
}
