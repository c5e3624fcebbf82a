import { isRecord } from "../../json/is-record.ts";
import { isRequest, type Message, type Request, type RequestId } from "../../protocol/json-rpc.ts";
import { LegacySession } from "./legacy-session.ts";
import type { McpServer } from "./mcp-server.ts";
import { answerModern, claimedVersion } from "./modern.ts";

/** The server's end of a connection within this process. */
export interface MemoryEnd {
  onMessage: (message: Message) => void;
  send(message: Message): void;
  readonly closed: Promise<void>;
}

/** Answers a client in the same process, in whichever era each of its messages speaks, until it leaves. */
export function serveInMemory(server: McpServer, end: MemoryEnd): void {
  const connection = new MemoryConnection(server, end);
  end.onMessage = (message) => connection.receive(message);
  void end.closed.then(() => connection.close());
}

class MemoryConnection {
  readonly #server: McpServer;
  readonly #end: MemoryEnd;
  readonly #session: LegacySession | undefined;
  readonly #calls = new Map<RequestId, AbortController>();

  constructor(server: McpServer, end: MemoryEnd) {
    this.#server = server;
    this.#end = end;
    if (server.legacyRevisions.length > 0) this.#session = new LegacySession(server, end);
  }

  receive(message: Message): void {
    if (isRequest(message) && this.#speaksModern(message)) return void this.#answer(message);
    if ("method" in message && message.method === "notifications/cancelled" && isRecord(message.params)) {
      this.#calls.get(message.params["requestId"] as RequestId)?.abort();
    }
    void this.#session?.receive(message, this.#end);
  }

  close(): void {
    this.#session?.close();
    for (const call of this.#calls.values()) call.abort();
  }

  #speaksModern({ params }: Request): boolean {
    if (!this.#session) return true;
    return this.#server.modernRevisions.length > 0 && claimedVersion(params) !== undefined;
  }

  async #answer(request: Request): Promise<void> {
    const cancelled = new AbortController();
    this.#calls.set(request.id, cancelled);
    const send = (message: Message) => this.#end.send(message);
    await answerModern(this.#server, request, { send, signal: cancelled.signal });
    this.#calls.delete(request.id);
  }
}
