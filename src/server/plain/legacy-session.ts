import { isRecord } from "../../json/is-record.ts";
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isNotification,
  isRequest,
  METHOD_NOT_FOUND,
  type Message,
  type Notification,
  type Params,
  type Request,
  type RequestId,
  type Response,
  type Result,
} from "../../protocol/json-rpc.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import type { ClientCapabilities, LogLevel } from "../../protocol/mcp.ts";
import { atLeast, newestCommon, type LegacyRevision } from "../../protocol/revisions.ts";
import type { CallContext, Exchange, InputAnswers, InputRequests } from "./call-context.ts";
import { type Change, LIST_CHANGED, RESOURCE_UPDATED } from "./changes.ts";
import { asRpcError } from "./feature-methods.ts";
import { missingCapabilities } from "./input-needed.ts";
import type { McpServer } from "./mcp-server.ts";
import { isLogLevel, logSender, progressSender } from "./notices.ts";
import { RpcError } from "./rpc-error.ts";

interface Waiting {
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

/** A conversation that began, or will begin, with `initialize`: what its client said, and who waits for whom. */
export class LegacySession {
  readonly #server: McpServer;
  readonly #standalone: Exchange;
  readonly #stopListening: () => void;
  readonly #inFlight = new Map<RequestId, AbortController>();
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #subscribed = new Set<string>();
  #revision: LegacyRevision | undefined;
  #client: ClientCapabilities = {};
  #ready = false;
  #logLevel: LogLevel = "info";
  #lastId = 0;

  /** `standalone` carries what belongs to no request of the client. */
  constructor(server: McpServer, standalone: Exchange) {
    this.#server = server;
    this.#standalone = standalone;
    this.#stopListening = server.changes.listen((change) => this.#tell(change));
  }

  /** The revision agreed upon; undefined before `initialize`. */
  get revision(): LegacyRevision | undefined {
    return this.#revision;
  }

  async receive(message: Message, exchange: Exchange): Promise<void> {
    if (isRequest(message)) await this.#answer(message, exchange);
    else if (isNotification(message)) this.#notified(message);
    else this.#settle(message);
  }

  close(): void {
    this.#stopListening();
    for (const controller of this.#inFlight.values()) controller.abort();
    for (const { reject } of this.#waiting.values()) reject(new Error("The session has ended."));
    this.#waiting.clear();
  }

  async #answer(request: Request, exchange: Exchange): Promise<void> {
    const { id } = request;
    const cancelled = new AbortController();
    this.#inFlight.set(id, cancelled);
    const { signal } = cancelled;
    try {
      const result = await this.#result(request, { exchange, signal });
      if (!signal.aborted) exchange.send({ jsonrpc: "2.0", id, result });
    } catch (error) {
      // A cancelled request gets no answer.
      if (!signal.aborted) exchange.send({ jsonrpc: "2.0", id, error: asRpcError(error).toObject() });
    } finally {
      this.#inFlight.delete(id);
    }
  }

  async #result(request: Request, around: { exchange: Exchange; signal: AbortSignal }): Promise<Result> {
    const { method, params = {} } = request;
    switch (method) {
      case "initialize":
        return this.#initialize(params);
      case "ping":
        return {};
      case "logging/setLevel":
        if (!isLogLevel(params["level"])) throw new RpcError(INVALID_PARAMS, `"level" is no log level.`);
        this.#logLevel = params["level"];
        return {};
      case "resources/subscribe":
        this.#subscribed.add(String(params["uri"]));
        return {};
      case "resources/unsubscribe":
        this.#subscribed.delete(String(params["uri"]));
        return {};
      default:
        return this.#server.methods.answer(this.#context(request, around));
    }
  }

  #initialize(params: Params): Result {
    const supported = this.#server.legacyRevisions;
    const newest = supported[0];
    const requested = params["protocolVersion"];
    if (newest === undefined) throw new RpcError(METHOD_NOT_FOUND, "This server has no initialize.");
    if (this.#revision !== undefined) throw new RpcError(INVALID_REQUEST, "The session is initialized already.");
    this.#revision = newestCommon(supported, [requested]) ?? newest;
    this.#client = usableIn(this.#revision, isRecord(params["capabilities"]) ? params["capabilities"] : {});
    return {
      protocolVersion: this.#revision,
      capabilities: this.#server.capabilities(this.#revision),
      serverInfo: this.#server.info,
      ...(this.#server.instructions === undefined ? {} : { instructions: this.#server.instructions }),
    };
  }

  #context(request: Request, { exchange, signal }: { exchange: Exchange; signal: AbortSignal }): CallContext {
    if (this.#revision === undefined) throw new RpcError(INVALID_REQUEST, "The session is not initialized.");
    return {
      era: "legacy",
      revision: this.#revision,
      client: this.#client,
      request,
      exchange,
      signal,
      ask: (requests) => this.#ask(requests, exchange, signal),
      askOutside: (requests) => this.#ask(requests, this.#standalone),
      progress: progressSender(request, exchange),
      log: (...entry) => logSender(this.#logLevel, exchange)(...entry),
      response: (result) => ({ jsonrpc: "2.0", id: request.id, result }),
    };
  }

  async #ask(requests: InputRequests, exchange: Exchange, signal?: AbortSignal): Promise<InputAnswers> {
    const missing = missingCapabilities(requests, this.#client);
    if (missing) throw new Error(`This client cannot be asked; it would need ${capabilityNames(missing)}.`);
    const answers = Object.entries(requests).map(async ([key, { method, params }]) => {
      return [key, await this.#request({ method, ...(params ? { params } : {}) }, exchange, signal)] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  #request(request: { method: string; params?: Params }, exchange: Exchange, signal?: AbortSignal): Promise<Result> {
    this.#lastId += 1;
    const id = `server-${this.#lastId}`;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // The client gave up its call, so it shall not go on asking its user.
      const withdraw = () => {
        if (!this.#waiting.delete(id)) return;
        exchange.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
        reject(new Error("The call was cancelled."));
      };
      signal?.addEventListener("abort", withdraw, { once: true });
      exchange.send({ jsonrpc: "2.0", id, ...request });
    });
  }

  #notified({ method, params }: Notification): void {
    if (method === "notifications/initialized") this.#ready = true;
    if (method === "notifications/cancelled") this.#inFlight.get(params?.["requestId"] as RequestId)?.abort();
  }

  #settle(response: Response): void {
    const id = response.id ?? undefined;
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    if ("result" in response) waiting.resolve(response.result);
    else waiting.reject(new Error(`The client answered: ${response.error.message} (${response.error.code})`));
  }

  #tell(change: Change): void {
    if (!this.#ready || change.kind === "end" || change.kind === "topic") return;
    if (change.kind !== "resource") {
      this.#standalone.send({ jsonrpc: "2.0", method: LIST_CHANGED[change.kind] });
    } else if (this.#subscribed.has(change.uri)) {
      this.#standalone.send({ jsonrpc: "2.0", method: RESOURCE_UPDATED, params: { uri: change.uri } });
    }
  }
}

/** A client declares all it can; what the revision agreed upon does not have must not be asked of it. */
function usableIn(revision: LegacyRevision, declared: ClientCapabilities): ClientCapabilities {
  if (atLeast(revision, "2025-11-25")) return declared;
  const { elicitation, sampling, ...others } = declared;
  const forms = elicitation && atLeast(revision, "2025-06-18");
  return { ...others, ...(forms && { elicitation: {} }), ...(sampling && { sampling: {} }) };
}
