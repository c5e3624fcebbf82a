import { checkOptions } from "../errors/check-options.ts";
import {
  INTERNAL_ERROR,
  isRequest,
  type Message,
  type Notification,
  type Params,
  type Request,
  type Result,
} from "../protocol/json-rpc.ts";
import type { ServerCapabilities } from "../protocol/mcp.ts";
import { McpServer } from "../server/features/mcp-server.ts";
import { MemoryTransport, type MemoryPeer } from "../transport/memory.ts";
import { ScriptedConnection, ScriptedError, type Handler, type ScriptContext } from "./scripted-connection.ts";
import { SERVER_SCRIPT, type ServerScript } from "./server-script.ts";
import { MODERN_REVISIONS, LEGACY_REVISIONS } from "../protocol/revisions.ts";
import type { CallContext } from "../server/features/call-context.ts";

const REVISIONS = { both: undefined, modern: MODERN_REVISIONS, legacy: LEGACY_REVISIONS };

/**
 * A server in this process whose behaviour a test defines: `await connect(server.transport)`. What the test does not define
 * is answered as every server of Nexus answers.
 */
export class ScriptedServer {
  readonly transport = new MemoryTransport((peer) => this.#accept(peer));
  /** Every message of every client, in order. */
  readonly received: Message[] = [];
  /** Answers what has no handler. */
  readonly #behind: { server: McpServer; capabilities: ServerCapabilities };
  readonly #connections = new Set<ScriptedConnection>();
  readonly #handlers = new Map<string, Handler>();
  readonly #once = new Map<string, Handler[]>();
  readonly #waiting = new Set<() => void>();

  constructor(script: ServerScript = {}) {
    checkOptions("ScriptedServer", script, SERVER_SCRIPT);
    this.#behind = { server: serverOf(script), capabilities: capabilitiesOf(script) };
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
    this.once(method, async (params, context) => {
      await released;
      const handler = this.#handlers.get(method);
      return handler ? handler(params, context) : context.pass();
    });
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

  #accept(peer: MemoryPeer): void {
    const connection = new ScriptedConnection(peer, this.#behind);
    peer.onMessage = (message) => this.#receive(connection, message);
    this.#connections.add(connection);
    void peer.closed.then(() => this.#connections.delete(connection));
  }

  #receive(connection: ScriptedConnection, message: Message): void {
    this.received.push(message);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    connection.receive(message, isRequest(message) ? this.#handlerOf(message.method) : undefined);
  }

  #handlerOf(method: string): Handler | undefined {
    return this.#once.get(method)?.shift() ?? this.#handlers.get(method);
  }
}

/** The server that a script describes: it answers whatever has no handler of its own. */
function serverOf(script: ServerScript): McpServer {
  const { era = "both", info = { name: "scripted", version: "1.0.0" }, instructions } = script;
  const { tools = {}, resources = {}, prompts = {} } = script;
  const revisions = REVISIONS[era];
  const capabilities = capabilitiesOf(script);
  // A script may say what no schema allows.
  const server = new McpServer({ ...info, instructions, revisions, capabilities, checkValues: false });
  for (const [name, tool] of Object.entries(tools)) {
    const { run, ...definition } = typeof tool === "function" ? { run: tool } : tool;
    const declaration = { inputSchema: { type: "object" }, ...definition, name };
    server.tool(declaration, (args, context) => run(args, scriptContext(context)));
  }
  for (const [uri, read] of Object.entries(resources)) {
    const answer = typeof read === "string" ? () => read : read;
    server.resource({ uri, name: uri }, (_uri, context) => answer(uri, scriptContext(context)));
  }
  for (const [name, get] of Object.entries(prompts)) {
    const answer = typeof get === "string" ? () => get : get;
    server.prompt({ name }, (args, context) => answer(args, scriptContext(context)));
  }
  return server;
}

function capabilitiesOf({ tools, resources, prompts, capabilities }: ServerScript): ServerCapabilities {
  return {
    ...(tools && { tools: { listChanged: true } }),
    ...(resources && { resources: { listChanged: true, subscribe: true } }),
    ...(prompts && { prompts: { listChanged: true } }),
    ...capabilities,
  };
}

/** Questions are asked one by one, and known by their number. */
function scriptContext({ era, signal, progress, ask }: CallContext): ScriptContext {
  let asked = 0;
  return {
    era,
    signal,
    progress,
    ask: async (method, params = {}) => {
      const key = `question-${++asked}`;
      return (await ask({ [key]: { method, params } }))[key] ?? {};
    },
  };
}
