import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { callListener } from "../../async/call-listener.ts";
import type { Timed } from "../../async/deadlines.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { isRequest, isResponse, type Message, type Request } from "../../protocol/json-rpc.ts";
import type { Principal } from "../core/principal.ts";
import type { Core } from "../core/core.ts";
import type { Agreed } from "../sessions/session-ids.ts";
import { expectReading, STUCK_BEATS } from "./stuck-readers.ts";
import { BatchAnswers } from "../legacy/batch-answers.ts";
import { EVENT_STREAM_HEADERS, type StreamSurroundings } from "./event-stream.ts";
import type { ReceivedMessages } from "./http-session.ts";
import { jsonText } from "../core/receipt.ts";
import { LegacySession, type SessionOptions } from "../legacy/legacy-session.ts";
import { type RequestChannel, SharedChannel } from "../legacy/request-channel.ts";

interface SseSessionOptions extends Omit<SessionOptions, "outside" | "hearsChanges"> {
  streams: StreamSurroundings;
  /** Where its client posts; the session's id is added. */
  messagesPath: string;
  onEnd: (session: SseSession) => void;
  batchBytes: number;
  /** What its client agreed to in an earlier session; it may be a guess. */
  earlier?: (Agreed & { isCertain: boolean }) | undefined;
  /** An id that says what was agreed to, by which the client is known when it comes back. */
  seal: (agreed: Agreed) => string;
}

/**
 * HTTP+SSE of 2024-11-05: a session is its one stream, carries everything on it, and ends with it. Browsers' `EventSource`, and
 * whatever is built on it, opens a stream that broke again without `initialize`; it sends the last event's id with it.
 */
export class SseSession implements Timed {
  slot = -1;
  readonly id = randomBytes(24).toString("base64url");
  readonly core: Core;
  readonly principal: Principal;
  readonly conversation: LegacySession;
  readonly #response: ServerResponse;
  readonly #options: SseSessionOptions;
  #wroteAt = performance.now();
  /** For the next event. */
  #newId: string | undefined;

  constructor(response: ServerResponse, options: SseSessionOptions) {
    this.#response = response;
    this.#options = options;
    this.core = options.core;
    this.principal = options.principal;
    this.conversation = new LegacySession({
      ...options,
      hearsChanges: () => true,
      outside: (notification) => this.#send(notification),
    });
    options.deadlines.add(this);
    response.writeHead(200, EVENT_STREAM_HEADERS);
    const { earlier, messagesPath, seal } = options;
    const id = earlier ? `id: ${seal(earlier)}\n` : "";
    response.write(`${id}event: endpoint\ndata: ${messagesPath}?sessionId=${this.id}\n\n`);
    response.once("close", () => void this.close());
    if (earlier) callListener(() => this.conversation.resume(earlier, earlier), options.logger);
  }

  /** The messages of one POST; their answers go on the stream. */
  receive({ headers }: IncomingMessage, { messages, isBatch, refused, onDone }: ReceivedMessages): void {
    const requests = messages.filter(isRequest).length;
    const answers = isBatch
      ? new BatchAnswers(this.#options.batchBytes, this.#options.streams.unread.hold(this.principal))
      : undefined;
    const batch = answers && { answers, requests };
    const channel = new SharedChannel((message, text) => this.#send(message, text), { headers, batch, onDone });
    for (const message of messages) {
      if (isResponse(message)) this.conversation.settle(message);
      else if (isRequest(message)) {
        const refusal = refused?.get(message);
        if (refusal) channel.finish(refusal);
        else this.conversation.request(message, this.#channelFor(message, channel));
      } else this.conversation.notified(message);
    }
    if (requests === 0) onDone?.();
  }

  get remainingMs(): number {
    return this.#wroteAt + this.#options.streams.keepAliveMs - performance.now();
  }

  expire(): void {
    this.#write(": still here\n\n");
    expectReading(this.#response, this.#options.streams.keepAliveMs * STUCK_BEATS);
    this.#options.deadlines.wakeWithin(this.#options.streams.keepAliveMs);
  }

  stop(): void {
    void this.close();
  }

  close(why?: NexusError): Promise<void> {
    this.#options.deadlines.remove(this);
    this.#options.onEnd(this);
    const closed = this.conversation.close(why);
    this.#response.end();
    return closed;
  }

  /** The answer to `initialize` is the first event that can carry what was agreed to. */
  #channelFor({ method }: Request, channel: RequestChannel): RequestChannel {
    if (method !== "initialize") return channel;
    return {
      canStream: channel.canStream,
      send: (message) => channel.send(message),
      finish: (answer) => {
        const { agreed } = this.conversation;
        this.#newId = answer && "result" in answer && agreed ? this.#options.seal(agreed) : undefined;
        channel.finish(answer);
      },
    };
  }

  #send(message: Message | BatchAnswers, written?: string): boolean {
    const text = message instanceof BatchAnswers ? message.take() : (written ?? jsonText(message));
    const id = this.#newId === undefined ? "" : `id: ${this.#newId}\n`;
    this.#newId = undefined;
    return text !== undefined && this.#write(`${id}event: message\ndata: ${text}\n\n`);
  }

  #write(text: string): boolean {
    if (this.#response.destroyed || this.#response.writableEnded) return false;
    const { unread, unreadBytes } = this.#options.streams;
    // Who does not read must not fill our memory.
    const isRead = this.#response.writableLength <= unreadBytes;
    if (!isRead || !unread.mayWrite(this.#response, this.principal, text.length)) {
      this.#response.destroy();
      return false;
    }
    this.#response.write(text);
    this.#wroteAt = performance.now();
    return true;
  }
}
