import type { Readable, Writable } from "node:stream";
import { isRecord } from "../../json/is-record.ts";
import {
  asMessage,
  INVALID_REQUEST,
  isRequest,
  isRequestId,
  isResponse,
  type Message,
  PARSE_ERROR,
  type Request,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import type { Exchange } from "./call-context.ts";
import { LegacySession } from "./legacy-session.ts";
import type { McpServer } from "./mcp-server.ts";
import { answerModern, claimedVersion } from "./modern.ts";

export interface StdioHooks {
  /** Sees each message first and may answer it instead of the server, or swallow it. */
  intercept?(message: Message): Message | "swallow" | undefined | Promise<Message | "swallow" | undefined>;
  /** Sees each message that leaves. */
  sent?(message: unknown): void;
  /** The bytes of one message: normally its JSON and a newline. */
  frame?(json: string): string;
}

/** One request's way back to the client of a pipe. */
export class StdioExchange implements Exchange {
  readonly #connection: StdioConnection;
  readonly #collect: Message[] | undefined;
  readonly signal: AbortSignal;

  /** `batch` collects the answers of a 2025-03-26 batch, which leave together. */
  constructor(connection: StdioConnection, signal: AbortSignal, batch?: Message[]) {
    this.#connection = connection;
    this.#collect = batch;
    this.signal = signal;
  }

  send(message: Message): void {
    if (this.#collect && isResponse(message)) this.#collect.push(message);
    else this.#connection.write(message);
  }

  /** Bytes as they are, for those who need to break the rules. */
  writeRaw(bytes: string | Uint8Array): void {
    this.#connection.writeRaw(bytes);
  }
}

/** A client on a pair of pipes, in whichever era each of its messages speaks. */
export class StdioConnection {
  readonly #server: McpServer;
  readonly #output: Writable;
  readonly #hooks: StdioHooks;
  readonly #session: LegacySession;
  readonly #modernCalls = new Map<RequestId, AbortController>();
  readonly #ended = new AbortController();

  constructor(server: McpServer, output: Writable, hooks: StdioHooks = {}) {
    this.#server = server;
    this.#output = output;
    this.#hooks = hooks;
    this.#session = new LegacySession(server, this.#exchange());
    // The client may be gone before the last answer is written; that is its right.
    output.on("error", () => {});
  }

  /** Serves until the input ends; then everything under way is given up. */
  async serve(input: Readable): Promise<void> {
    let rest = "";
    input.setEncoding("utf8");
    for await (const chunk of input as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) void this.#receiveLine(line);
    }
    this.#ended.abort();
    this.#session.close();
    for (const controller of this.#modernCalls.values()) controller.abort();
  }

  write(message: unknown): void {
    this.#hooks.sent?.(message);
    const json = JSON.stringify(message);
    this.writeRaw(this.#hooks.frame?.(json) ?? `${json}\n`);
  }

  writeRaw(bytes: string | Uint8Array): void {
    if (!this.#output.destroyed) this.#output.write(bytes);
  }

  async #receiveLine(line: string): Promise<void> {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return this.#refuse(null, PARSE_ERROR, "Parse error");
    }
    if (Array.isArray(value)) return this.#receiveBatch(value);
    const message = asMessage(value);
    if (message) return this.#receive(message);
    const id = isRecord(value) && isRequestId(value["id"]) ? value["id"] : null;
    return this.#refuse(id, INVALID_REQUEST, "Invalid request");
  }

  /** Only 2025-03-26 has batches. */
  async #receiveBatch(items: unknown[]): Promise<void> {
    const messages = items.map(asMessage).filter((message) => message !== undefined);
    const whole = messages.length === items.length && messages.length > 0;
    if (!whole || this.#session.revision !== "2025-03-26") {
      return this.#refuse(null, INVALID_REQUEST, "Batches are not served here");
    }
    const answers: Message[] = [];
    await Promise.all(messages.map((message) => this.#receive(message, answers)));
    if (answers.length > 0) this.write(answers);
  }

  async #receive(message: Message, batch?: Message[]): Promise<void> {
    const taken = await this.#hooks.intercept?.(message);
    if (taken === "swallow") return;
    if (taken) return this.write(taken);
    if (isRequest(message) && this.#speaksModern(message)) return this.#answerModern(message, batch);
    if ("method" in message && message.method === "notifications/cancelled") {
      this.#modernCalls.get(message.params?.["requestId"] as RequestId)?.abort();
    }
    await this.#session.receive(message, this.#exchange(batch));
  }

  #speaksModern({ params }: Request): boolean {
    if (this.#server.modernRevisions.length === 0) return false;
    return claimedVersion(params) !== undefined || this.#server.legacyRevisions.length === 0;
  }

  async #answerModern(request: Request, batch?: Message[]): Promise<void> {
    const cancelled = new AbortController();
    this.#modernCalls.set(request.id, cancelled);
    await answerModern(this.#server, request, new StdioExchange(this, cancelled.signal, batch));
    this.#modernCalls.delete(request.id);
  }

  #exchange(batch?: Message[]): StdioExchange {
    return new StdioExchange(this, this.#ended.signal, batch);
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    this.write({ jsonrpc: "2.0", id, error: { code, message } });
  }
}
