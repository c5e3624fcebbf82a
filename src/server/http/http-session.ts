import type { IncomingMessage, ServerResponse } from "node:http";
import type { Timed } from "../../async/deadlines.ts";
import { Roster } from "../../async/roster.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { isRequest, isResponse, type Message, type Response } from "../../protocol/json-rpc.ts";
import { type HttpRefusal, invalidRequest, overloaded } from "./http-refusal.ts";
import { STUCK_BEATS } from "./stuck-readers.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import type { Core } from "../core/core.ts";
import { BatchAnswers } from "../legacy/batch-answers.ts";
import { EventStream, OWN_STREAM, sendWholeStream, type StreamSurroundings } from "./event-stream.ts";
import { jsonText } from "../core/receipt.ts";
import { LegacySession, type SessionOptions } from "../legacy/legacy-session.ts";
import { PostAnswer, type PostAnswerOptions } from "./post-answer.ts";

export interface HttpSessionOptions extends Omit<SessionOptions, "outside" | "hearsChanges"> {
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
