import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Deadlines, Timed } from "../../async/deadlines.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { ErrorObject, Message, Response } from "../../protocol/json-rpc.ts";
import { accepts } from "./header-checks.ts";
import { LITTLE_BYTES, NO_ROOM } from "../core/byte-budget.ts";
import { retryLater } from "../core/busy-error.ts";
import { overloaded, refuse, sendText } from "./http-refusal.ts";
import { expectReading } from "./stuck-readers.ts";
import type { BatchAnswers } from "../legacy/batch-answers.ts";
import type { EventStream } from "./event-stream.ts";
import { jsonText } from "../core/receipt.ts";
import type { RequestChannel } from "../legacy/request-channel.ts";

export interface PostAnswerOptions {
  deadlines: Deadlines;
  /** The stream that is opened for it if it needs one. */
  newStream: () => EventStream;
  /** Everything is said: the session forgets it. */
  onEnd: () => void;
  requests: number;
  /** Collects the answers of a batch. */
  batch: BatchAnswers | undefined;
  patienceMs: number;
  /** How long a client may take nothing of what waits for it. */
  stuckMs: number;
  /** Whether its client may be asked something, and so expects streams. */
  prefersStream: boolean;
  /** Whether there is room for an answer of this length that is not read at once. */
  mayWrite: (length: number) => boolean;
  /** A stream of one short event, of which nothing is kept. */
  sendWhole: (response: ServerResponse, json: string) => void;
}

/**
 * What goes back on one POST: a stream, which a client that lost its connection can come back to. Clients that cannot be
 * asked anything get plain JSON if the answer is the first thing to be said and comes soon.
 */
export class PostAnswer implements RequestChannel, Timed {
  slot = -1;
  readonly canStream: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly #response: ServerResponse;
  readonly #options: PostAnswerOptions;
  readonly #streamAt: number;
  /** To a message that is no batch. */
  #answer: Response | undefined;
  #waiting: number;
  /** How many requests were refused because of a limit, and when the client may come again. */
  #limited = 0;
  #limitStatus = 503;
  #retrySeconds = 0;
  #stream: EventStream | undefined;
  #isOver = false;

  constructor(request: IncomingMessage, response: ServerResponse, options: PostAnswerOptions) {
    this.#response = response;
    this.headers = request.headers;
    this.#options = options;
    this.#waiting = options.requests;
    const { accept } = request.headers;
    this.canStream = accepts(accept, "text/event-stream");
    if (this.canStream && !accepts(accept, "application/json")) this.#openStream();
    this.#streamAt = this.canStream && !this.#stream ? performance.now() + options.patienceMs : Infinity;
    options.deadlines.add(this);
  }

  get remainingMs(): number {
    return this.#streamAt - performance.now();
  }

  /** Long calls get a stream, so that their answer can be fetched after a broken connection. */
  expire(): void {
    this.#openStream();
  }

  stop(_error: NexusError): void {
    this.abandon();
  }

  send(message: Message): boolean {
    if (this.#isOver || !this.canStream) return false;
    const stream = this.#openStream();
    const text = stream?.isReachable ? jsonText(message) : undefined;
    if (text === undefined) return false;
    stream?.push(text);
    return true;
  }

  /** The server lets go of this call's stream until its answer is there, and so does the client. */
  pause(retryMs: number | undefined): void {
    if (this.#isOver || !this.canStream) return;
    this.#openStream()?.pause(retryMs);
  }

  finish(answer: Response | undefined, written?: string): void {
    const { batch } = this.#options;
    if (answer && "error" in answer) this.#noteLimit(answer.error);
    if (answer && batch) batch.add(answer, written);
    else this.#answer = answer;
    if (--this.#waiting > 0 || this.#isOver) return;
    this.#end();
    const text = batch ? batch.take() : (written ?? (this.#answer && jsonText(this.#answer)));
    if (text !== undefined && this.#limited === this.#options.requests && !this.#stream) return this.#refuseAll(text);
    const stream = this.#stream ?? (this.#isWorthKeeping(text) ? this.#openStream() : undefined);
    if (stream) {
      if (text !== undefined) stream.push(stream.canCarry(text.length) ? text : this.#withoutRoom());
      stream.end();
    } else this.#answerAtOnce(text);
  }

  /** The session is over, and so is the waiting. */
  abandon(): void {
    if (this.#isOver) return;
    this.#waiting = 1;
    this.finish(undefined);
  }

  #noteLimit(error: ErrorObject): void {
    const later = retryLater(error);
    if (!later) return;
    this.#limited++;
    this.#limitStatus = later.status;
    this.#retrySeconds = Math.max(this.#retrySeconds, later.seconds);
  }

  /** Nothing was done for any of the requests. */
  #refuseAll(text: string): void {
    sendText(this.#response, this.#limitStatus, text, { "retry-after": String(this.#retrySeconds) });
  }

  /** A long answer may break off on its way, and then its client comes back for it. */
  #isWorthKeeping(text: string | undefined): boolean {
    const { prefersStream } = this.#options;
    return prefersStream && this.canStream && text !== undefined && text.length > LITTLE_BYTES;
  }

  #withoutRoom(): string {
    const { error } = overloaded(NO_ROOM);
    const id = this.#answer?.id;
    return JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error });
  }

  #answerAtOnce(text: string | undefined): void {
    if (this.#response.destroyed) return;
    if (text === undefined) {
      // Cancelled: there is no answer to wait for.
      this.#response.writeHead(202).end();
      return;
    }
    const { prefersStream, sendWhole, stuckMs, mayWrite } = this.#options;
    if (!mayWrite(text.length)) return refuse(this.#response, overloaded(NO_ROOM), this.#answer?.id ?? undefined);
    if (this.canStream && prefersStream) return sendWhole(this.#response, text);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    this.#response.writeHead(200, headers).end(text);
    expectReading(this.#response, stuckMs);
  }

  #end(): void {
    this.#isOver = true;
    this.#options.deadlines.remove(this);
    this.#options.onEnd();
  }

  #openStream(): EventStream | undefined {
    if (!this.#stream) {
      this.#options.deadlines.remove(this);
      // Only the first bytes of a stream would have told the client how to come back.
      if (this.#response.destroyed) return undefined;
      this.#stream = this.#options.newStream();
      this.#stream.open(this.#response);
    }
    return this.#stream;
  }
}
