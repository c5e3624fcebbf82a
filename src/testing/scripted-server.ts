import { INTERNAL_ERROR, METHOD_NOT_FOUND } from "../protocol/json-rpc.ts";
import type { Message, Notification, Params, Request, Result } from "../protocol/json-rpc.ts";
import { MemoryTransport } from "../transport/memory.ts";
import { ScriptedConnection, ScriptedError, type Handler } from "./scripted-connection.ts";
import { handlersOf, type ServerScript } from "./server-script.ts";

/** A server in this process whose behaviour a test defines: `await connect(server.transport)`. */
export class ScriptedServer {
  readonly transport = new MemoryTransport((peer) => {
    const connection = new ScriptedConnection(peer, (params, context) => {
      const { method } = context.request;
      return (this.#once.get(method)?.shift() ?? this.#handler(method))(params, context);
    });
    peer.onMessage = (message) => this.#receive(connection, message);
    this.#connections.add(connection);
    void peer.closed.then(() => this.#connections.delete(connection));
  });
  /** Every message of every client, in order. */
  readonly received: Message[] = [];
  readonly #connections = new Set<ScriptedConnection>();
  readonly #handlers: Map<string, Handler>;
  readonly #once = new Map<string, Handler[]>();
  readonly #waiting = new Set<() => void>();

  constructor(script: ServerScript = {}) {
    this.#handlers = handlersOf(script);
  }

  /** The methods of the received requests and notifications. */
  get methods(): string[] {
    return this.received.flatMap((message) => ("method" in message ? [message.method] : []));
  }

  /** Sets the handler of a method. A handler that returns nothing sends no answer. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler);
    return this;
  }

  /** Answers only the next request of this method; two calls answer the next two. */
  once(method: string, handler: Handler): this {
    this.#once.set(method, [...(this.#once.get(method) ?? []), handler]);
    return this;
  }

  failNext(method: string, error = new ScriptedError(INTERNAL_ERROR, "The script says so")): this {
    return this.once(method, () => Promise.reject(error));
  }

  /** The next request of this method closes the connection instead of answering. */
  disconnectNext(method: string): this {
    return this.once(method, () => this.disconnect());
  }

  /** The answer to the next request of this method waits until the returned function is called. */
  holdNext(method: string): () => void {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.once(method, (params, context) => released.then(() => this.#handler(method)(params, context)));
    return release;
  }

  /** Waits for the first (or `nth`) message of this method and returns it. */
  async receive(method: string, nth = 1): Promise<Request | Notification> {
    for (;;) {
      const found = this.received.filter((message) => "method" in message && message.method === method)[nth - 1];
      if (found) return found as Request | Notification;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Sends a notification to every client; to a modern client on its matching subscription streams. */
  notify(method: string, params?: Params): void {
    for (const connection of this.#connections) connection.notify(method, params);
  }

  /** Sends a request to the newest client outside a call, which only legacy servers may do. */
  async request(method: string, params?: Params): Promise<Result> {
    const connection = [...this.#connections].at(-1);
    if (!connection) throw new Error("no client is connected");
    return connection.request(method, params);
  }

  /** Sends a raw message without checks. */
  send(message: Message): void {
    for (const connection of this.#connections) connection.send(message);
  }

  /** Closes all connections; clients may connect again. */
  disconnect(): void {
    for (const connection of this.#connections) connection.close();
  }

  #handler(method: string): Handler {
    const missing = () => Promise.reject(new ScriptedError(METHOD_NOT_FOUND, `Method not found: ${method}`));
    return this.#handlers.get(method) ?? missing;
  }

  #receive(connection: ScriptedConnection, message: Message): void {
    this.received.push(message);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    connection.receive(message);
  }
}
