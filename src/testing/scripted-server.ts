import { METHOD_NOT_FOUND, type Message, type Notification, type Params } from "../protocol/json-rpc.ts";
import { INTERNAL_ERROR, type Request, type Result } from "../protocol/json-rpc.ts";
import { MemoryTransport } from "../transport/memory.ts";
import { ScriptedConnection, type Answer, type Handler, type ScriptContext } from "./scripted-connection.ts";
import { ScriptedError } from "./scripted-error.ts";
import { handlersOf, type ServerScript } from "./scripted-features.ts";

/** What happens to a request in place of, or before, its answer. */
type Twist = () => Promise<Answer | "go on"> | Answer | "go on";

/** A server in this process that does as it is told: `await connect(server.transport)`. */
export class ScriptedServer {
  readonly transport = new MemoryTransport((peer) => {
    const connection = new ScriptedConnection(peer, (request, context) => this.#run(request, context));
    peer.onMessage = (message) => this.#receive(connection, message);
    this.#connections.add(connection);
    void peer.closed.then(() => this.#connections.delete(connection));
  });
  /** Every message of every client, in order. */
  readonly received: Message[] = [];
  readonly #connections = new Set<ScriptedConnection>();
  readonly #handlers: Map<string, Handler>;
  readonly #twists = new Map<string, Twist[]>();
  readonly #waiting = new Set<() => void>();

  constructor(script: ServerScript = {}) {
    this.#handlers = handlersOf(script);
  }

  /** The methods of the requests and notifications that came. */
  get methods(): string[] {
    return this.received.flatMap((message) => ("method" in message ? [message.method] : []));
  }

  /** Answers a method from now on; a handler that returns nothing leaves the client without an answer. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler);
    return this;
  }

  /** The first message of this method, or the `nth`; waits until it comes. */
  async receive(method: string, nth = 1): Promise<Request | Notification> {
    for (;;) {
      const found = this.#messagesOf(method)[nth - 1];
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Tells every client; a modern one on the streams of the subscriptions that want to hear it. */
  notify(method: string, params?: Params): void {
    for (const connection of this.#connections) connection.notify(method, params);
  }

  /** Asks the client that came last, outside any call, as only legacy servers may. */
  async request(method: string, params?: Params): Promise<Result> {
    const connection = [...this.#connections].at(-1);
    if (!connection) throw new Error("no client is connected");
    return connection.request(method, params);
  }

  /** Sends a message as it is, right or wrong. */
  send(message: Message): void {
    for (const connection of this.#connections) connection.send(message);
  }

  /** The next request of this method gets an error. */
  failNext(method: string, error = new ScriptedError(INTERNAL_ERROR, "The script says so")): void {
    this.#twist(method, () => Promise.reject(error));
  }

  /** The next request of this method is answered only after the returned function was called. */
  holdNext(method: string): () => void {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#twist(method, () => released.then(() => "go on" as const));
    return release;
  }

  /** The next request of this method ends the connection in place of an answer. */
  disconnectNext(method: string): void {
    this.#twist(method, () => {
      this.disconnect();
      return undefined;
    });
  }

  /** Ends all connections; clients may connect again. */
  disconnect(): void {
    for (const connection of this.#connections) connection.close();
  }

  #twist(method: string, twist: Twist): void {
    this.#twists.set(method, [...(this.#twists.get(method) ?? []), twist]);
  }

  #messagesOf(method: string): (Request | Notification)[] {
    return this.received.filter((message) => "method" in message && message.method === method) as (
      | Request
      | Notification
    )[];
  }

  #receive(connection: ScriptedConnection, message: Message): void {
    this.received.push(message);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    connection.receive(message);
  }

  async #run(request: Request, context: Omit<ScriptContext, "times">): Promise<Answer> {
    const { method, params = {} } = request;
    const times = this.#messagesOf(method).indexOf(request) + 1;
    const twisted = await (this.#twists.get(method)?.shift()?.() ?? "go on");
    if (twisted !== "go on") return twisted;
    const handler = this.#handlers.get(method);
    if (!handler) throw new ScriptedError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    const answer = await handler(params, { ...context, times });
    return answer && context.era === "modern" ? { resultType: "complete", ...answer } : answer;
  }
}
