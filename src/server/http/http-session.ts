import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from "node:http";
import type { Timed, Deadlines } from "../../async/deadlines.ts";
import { Roster } from "../../async/roster.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { isRequest, isResponse, type Message, type Response, type ErrorObject } from "../../protocol/json-rpc.ts";
import { type HttpRefusal, invalidRequest, overloaded, refuse, sendText } from "./http-refusal.ts";
import { STUCK_BEATS, expectReading } from "./stuck-readers.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import type { Core } from "../core/core.ts";
import { BatchAnswers } from "../legacy/batch-answers.ts";
import { EventStream, OWN_STREAM, sendWholeStream, type StreamSurroundings } from "./event-stream.ts";
import { jsonText } from "../core/receipt.ts";
import { LegacySession, type SessionOptions } from "../legacy/legacy-session.ts";
import { accepts } from "./header-checks.ts";
import { LITTLE_BYTES, NO_ROOM } from "../core/byte-budget.ts";
import { retryLater } from "../core/busy-error.ts";
import type { RequestChannel } from "../legacy/request-channel.ts";

interface HttpSessionOptions extends Omit<SessionOptions, "outside" | "hearsChanges"> {
  streams: StreamSurroundings;
  idleMs: number;
  patienceMs: number;
  /** Nobody has used it for so long that it ends. */
  onIdle: (session: HttpSession) => void;
  batchBytes: number;
  /**
   * Where streams and events begin to be numbered: above those of an earlier session of the same id, after which a client
   * may still ask.
   */
  start?: number | undefined;
}

/** The messages of one POST. */
export interface ReceivedMessages {
  messages: readonly Message[];
  isBatch: boolean;
  /** Requests that exceed a limit, each with its answer. */
  refused?: ReadonlyMap<Message, Response> | undefined;
  /** Called once, when none of them is needed any more. */
  onDone: (() => void) | undefined;
}

/** Streams that have ended and can still be fetched by a client that lost the end. */
const MAX_ENDED_STREAMS = 8;

/** Clients of the official SDK take any other answer as a reason to ask again, some of them every second without end. */
const STREAM_IS_OVER: HttpRefusal = {
  ...invalidRequest("This stream has ended: there are no events after Last-Event-ID", 405),
  headers: { allow: "POST, DELETE" },
};
const UNKNOWN_EVENT = invalidRequest("Last-Event-ID is not an event that this session can resume from");

/** A session over Streamable HTTP: the conversation, a stream for each POST that needs one, and its own by GET. */
export class HttpSession implements Timed {
  slot = -1;
  /** Given when it is known what was agreed upon. */
  id = "";
  readonly conversation: LegacySession;
  readonly core: Core;
  readonly principal: Principal;
  /** Of the principal. */
  readonly principalKey: string;
  readonly #options: HttpSessionOptions;
  readonly #answers = new Roster<PostAnswer>();
  readonly #streams = new Map<number, EventStream>();
  #own: EventStream | undefined;
  #lastStream: number;
  #usedAt = performance.now();

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.#lastStream = options.start ?? 0;
    this.core = options.core;
    this.principal = options.principal;
    this.principalKey = principalKey(options.principal);
    this.conversation = new LegacySession({
      ...options,
      hearsChanges: () => this.#own?.isOpen === true,
      outside: (notification) => {
        const text = jsonText(notification);
        if (text !== undefined && !this.#ownStream.isWaiting(text)) this.#ownStream.push(text);
      },
    });
    options.deadlines.add(this);
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** Whether its client waits for something, or listens. */
  get isBusy(): boolean {
    return this.#answers.size > 0 || this.#own?.isOpen === true;
  }

  get remainingMs(): number {
    return this.isBusy ? Infinity : this.#usedAt + this.#options.idleMs - performance.now();
  }

  expire(): void {
    this.#options.onIdle(this);
  }

  stop(): void {
    void this.close();
  }

  touch(): void {
    this.#usedAt = performance.now();
    this.#options.deadlines.wakeWithin(this.#options.idleMs);
  }

  /** The messages of one POST. */
  receive(
    request: IncomingMessage,
    response: ServerResponse,
    { messages, isBatch, refused, onDone }: ReceivedMessages,
  ): void {
    this.touch();
    const requests = messages.filter(isRequest).length;
    const { batchBytes, streams } = this.#options;
    const batch = isBatch ? new BatchAnswers(batchBytes, streams.unread.hold(this.principal)) : undefined;
    const answer = requests > 0 ? this.#answerTo(request, response, { requests, batch, onDone }) : undefined;
    for (const message of messages) {
      if (isResponse(message)) this.conversation.settle(message);
      else if (!isRequest(message)) this.conversation.notified(message);
      else if (answer) {
        const refusal = refused?.get(message);
        if (refusal) answer.finish(refusal);
        else this.conversation.request(message, answer);
      }
    }
    if (answer) return;
    response.writeHead(202).end();
    onDone?.();
  }

  /**
   * The session's own stream; the latest to ask for it has it, since an earlier connection may be dead unnoticed. Like
   * `resume`, it returns why it is refused.
   */
  openOwnStream(response: ServerResponse): HttpRefusal | undefined {
    return this.#open(this.#ownStream, response);
  }

  /** Goes on with a stream after the event that its client saw last, where that can be done without a gap. */
  resume(response: ServerResponse, lastEventId: string): HttpRefusal | undefined {
    const [, number = NaN, sequence = NaN] = (/^(\d{1,15})-(\d{1,15})$/.exec(lastEventId) ?? []).map(Number);
    if (number === OWN_STREAM) return this.#open(this.#ownStream, response, sequence);
    const stream = this.#streams.get(number);
    const canGoOn = stream?.canGoOnAfter(sequence) === true;
    if (canGoOn && stream.hasMoreAfter(sequence)) return this.#open(stream, response, sequence);
    this.touch();
    const isOver = stream ? stream.isOver : number <= this.#lastStream;
    return isOver && (canGoOn || !stream) ? STREAM_IS_OVER : UNKNOWN_EVENT;
  }

  /** What is in flight is answered with `why`, where there is somebody to tell. */
  async close(why?: NexusError): Promise<void> {
    this.#options.deadlines.remove(this);
    const closed = this.conversation.close(why);
    for (const answer of this.#answers.values()) answer.abandon();
    for (const stream of this.#streams.values()) stream.discard();
    await closed;
  }

  #open(stream: EventStream, response: ServerResponse, after?: number): HttpRefusal | undefined {
    this.touch();
    const problem = stream.open(response, after);
    if (problem !== undefined) return overloaded(problem);
    this.#touchAtEnd(response);
    return undefined;
  }

  get #isPrimed(): boolean {
    return this.conversation.version === "2025-11-25";
  }

  get #ownStream(): EventStream {
    this.#own ??= this.#newStream(OWN_STREAM);
    return this.#own;
  }

  #answerTo(
    request: IncomingMessage,
    response: ServerResponse,
    { requests, batch, onDone }: Pick<PostAnswerOptions, "requests" | "batch"> & Pick<ReceivedMessages, "onDone">,
  ): PostAnswer {
    const { deadlines, patienceMs } = this.#options;
    const newStream = () => this.#newStream(++this.#lastStream);
    const onEnd = () => {
      this.#answers.leave(number);
      this.touch();
      onDone?.();
    };
    const prefersStream = this.conversation.canBeAsked;
    const answer = new PostAnswer(request, response, {
      deadlines,
      patienceMs,
      newStream,
      onEnd,
      requests,
      batch,
      prefersStream,
      sendWhole: sendWholeStream,
      stuckMs: this.#options.streams.keepAliveMs * STUCK_BEATS,
      mayWrite: (length) => this.#options.streams.unread.mayWrite(response, this.principal, length),
    });
    const number = this.#answers.enter(answer);
    return answer;
  }

  #newStream(number: number): EventStream {
    this.#forgetEndedStreams();
    const { principal } = this;
    const { streams, start = 0 } = this.#options;
    const first = number === OWN_STREAM ? start : 0;
    const stream = new EventStream(number, streams, { isPrimed: this.#isPrimed, principal, start: first });
    this.#streams.set(number, stream);
    return stream;
  }

  /** The oldest ones first: a client comes back soon or not at all. */
  #forgetEndedStreams(): void {
    const ended = [...this.#streams.values()].filter((stream) => stream.isOver);
    for (const stream of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_STREAMS))) {
      stream.discard();
      this.#streams.delete(stream.number);
    }
  }

  /** The time of idleness counts from when its client left. */
  #touchAtEnd(response: ServerResponse): void {
    response.once("close", () => this.touch());
  }
}

interface PostAnswerOptions {
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
class PostAnswer implements RequestChannel, Timed {
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
