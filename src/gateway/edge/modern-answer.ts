import type { ServerResponse } from "node:http";
import { Cancellation, type CancelSignal } from "../../client/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Response } from "../../protocol/json-rpc.ts";
import { sendJson } from "./http-refusal.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** How often a caller that takes nothing of its answer is looked at before it is given up. */
const PATIENCE_BEATS = 2;

/**
 * What goes back on one modern POST: one JSON answer, or a stream that ends with the answer as soon as something goes
 * before it, or the answer is slow. Leaving it cancels the request.
 */
export class ModernAnswer {
  readonly isSubscription: boolean;
  readonly #res: ServerResponse;
  readonly #maxBufferedBytes: number;
  readonly #left = new Cancellation();
  #isStream = false;
  #isSlow = false;
  #stuckBeats = 0;
  #sentAtBeat = -1;

  constructor(res: ServerResponse, options: { isSubscription: boolean; bufferedBytes: number; onClose: () => void }) {
    this.#res = res;
    this.isSubscription = options.isSubscription;
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

  cancel(why: string): void {
    if (!this.#left.aborted) this.#left.abort(new NexusError("CANCELLED", why));
  }

  notify(message: Notification): void {
    if (this.#isOver) return;
    // Whoever does not read must not fill the memory.
    if (this.#res.writableLength > this.#maxBufferedBytes) return this.#giveUp();
    this.#stream();
    this.#res.write(`data: ${JSON.stringify(message)}\n\n`);
  }

  /** The answer, which is the last. The status is for JSON only: that of a stream went long ago. */
  finish(response: Response, status: number, headers?: Record<string, string>): void {
    if (this.#isOver) return;
    if (this.#isStream) this.#res.end(`data: ${JSON.stringify(response)}\n\n`);
    else sendJson(this.#res, status, response, headers);
  }

  /** From time to time: shows proxies on the way that something goes on, and gives up on callers that stopped reading. */
  beat(): void {
    const sent = this.#res.socket?.bytesWritten ?? 0;
    const isStuck = this.#res.writableLength > 0 && sent === this.#sentAtBeat;
    this.#stuckBeats = isStuck ? this.#stuckBeats + 1 : 0;
    this.#sentAtBeat = sent;
    if (this.#stuckBeats >= PATIENCE_BEATS) return this.#giveUp();
    if (this.#isOver || isStuck) return;
    if (this.#isStream || this.#isSlow) {
      this.#stream();
      this.#res.write(": \n\n");
    }
    this.#isSlow = true;
  }

  get #isOver(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  #stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#res.writeHead(200, STREAM_HEADERS);
  }

  #giveUp(): void {
    this.#res.destroy();
  }
}
