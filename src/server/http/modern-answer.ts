import type { ServerResponse } from "node:http";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Response } from "../../protocol/json-rpc.ts";
import { NO_ROOM } from "../core/byte-budget.ts";
import { jsonText } from "../core/json-text.ts";
import { principalKey, type Principal } from "../core/principal.ts";
import type { WrittenAnswer } from "../core/receipt.ts";
import type { UnreadBytes } from "../core/unread-bytes.ts";
import { EVENT_STREAM_HEADERS } from "./event-stream.ts";
import { overloaded, sendText } from "./http-refusal.ts";
import { expectReading, STUCK_BEATS } from "./stuck-readers.ts";

export interface ModernAnswerOptions {
  principal: Principal;
  isSubscription: boolean;
  bufferedBytes: number;
  unread: UnreadBytes;
  onClose: () => void;
}

/**
 * What goes back on one modern POST: one JSON answer, or a stream that ends with the answer as soon as something goes
 * before it, or the answer is slow. Leaving it cancels the request.
 */
export class ModernAnswer {
  readonly isSubscription: boolean;
  readonly #res: ServerResponse;
  readonly principal: Principal;
  readonly #unread: UnreadBytes;
  readonly #maxBufferedBytes: number;
  readonly #left = new Cancellation();
  #isStream = false;
  #isSlow = false;

  constructor(res: ServerResponse, options: ModernAnswerOptions) {
    this.#res = res;
    this.isSubscription = options.isSubscription;
    this.principal = options.principal;
    this.#unread = options.unread;
    this.#maxBufferedBytes = options.bufferedBytes;
    res.once("close", () => {
      options.onClose();
      if (!res.writableFinished) this.cancel("The caller closed its connection");
    });
  }

  /** Fires when the caller is gone, or when the request is called off here. */
  get signal(): CancelSignal {
    return this.#left;
  }

  isOf(principal: string): boolean {
    return principalKey(this.principal) === principal;
  }

  cancel(why: string): void {
    if (!this.#left.aborted) this.#left.abort(new NexusError("CANCELLED", why));
  }

  notify(message: Notification): void {
    if (this.isOver) return;
    // Whoever does not read must not fill the memory.
    if (this.#res.writableLength > this.#maxBufferedBytes) return this.#giveUp();
    const text = jsonText(message);
    if (text === undefined) return;
    if (!this.#mayWrite(text)) return this.#giveUp();
    this.#stream();
    this.#res.write(`data: ${text}\n\n`);
  }

  /** The answer, which is the last. The status is for JSON only: that of a stream went long ago. */
  finish(
    { answer, text = jsonText(answer) ?? "" }: WrittenAnswer,
    status: number,
    headers?: Record<string, string>,
  ): void {
    if (this.isOver) return;
    if (!this.#mayWrite(text)) return this.#finishWithout(answer);
    if (this.#isStream) this.#res.end(`data: ${text}\n\n`);
    else sendText(this.#res, status, text, headers);
  }

  /** From time to time: shows proxies on the way that something goes on, and gives up on callers that stopped reading. */
  beat(everyMs: number): void {
    expectReading(this.#res, everyMs * STUCK_BEATS);
    if (this.isOver) return;
    if (this.#isStream || this.#isSlow) {
      this.#stream();
      this.#res.write(": \n\n");
    }
    this.#isSlow = true;
  }

  #mayWrite(text: string): boolean {
    return this.#unread.mayWrite(this.#res, this.principal, text.length);
  }

  /** There is no room for the answer: that is told in its place. */
  #finishWithout({ id }: Response): void {
    const { status, error, headers } = overloaded(NO_ROOM);
    const text = JSON.stringify({ jsonrpc: "2.0", id, error });
    if (this.#isStream) this.#res.end(`data: ${text}\n\n`);
    else sendText(this.#res, status, text, headers);
  }

  /** Whether nothing more can be written. */
  get isOver(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  #stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#res.writeHead(200, EVENT_STREAM_HEADERS);
  }

  #giveUp(): void {
    this.#res.destroy();
  }
}
