import type { IncomingHttpHeaders } from "node:http";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { isNotification, type Message, type Response } from "../../protocol/json-rpc.ts";
import type { BatchAnswers } from "./batch-answers.ts";

/** The way back to a client for what belongs to one request. */
export interface RequestChannel {
  /** False: nothing can be sent before the answer, so the client can neither be asked nor told anything. */
  readonly canStream: boolean;
  /** Of the HTTP request that the messages came in. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Messages are handed over as they are, so that no text of them is needed. */
  readonly isInProcess?: boolean;
  /** Sends something before the answer. Never throws; false where it cannot arrive. */
  send(message: Message): boolean;
  /** Lets the client go until there is more to say; absent where it cannot come back. */
  pause?(retryMs: number | undefined): void;
  /** Resolves when the result may follow a progress report; undefined if it may follow at once. */
  afterProgress?(): Promise<void> | undefined;
  /** Once for each request; undefined where none is due, because the client cancelled it. `text`: the answer as JSON, if it is known. */
  finish(answer: Response | undefined, text?: string): void;
}

/** Usually enough for a reader to receive what was written as a chunk of its own. */
const APART_MS = 5;

/** The requests of one message on a way that carries everything: a pipe, or the stream of HTTP+SSE. */
export class SharedChannel implements RequestChannel {
  readonly canStream = true;
  readonly headers: IncomingHttpHeaders | undefined;
  readonly #write: (message: Message | BatchAnswers, text?: string) => boolean;
  readonly #batch: BatchAnswers | undefined;
  readonly #onDone: (() => void) | undefined;
  #waiting: number;
  #reportedAt: number | undefined;

  /** `onDone`: all of them are answered. */
  constructor(
    write: (message: Message | BatchAnswers, text?: string) => boolean,
    {
      headers,
      batch,
      onDone,
    }: {
      headers?: IncomingHttpHeaders | undefined;
      batch?: { answers: BatchAnswers; requests: number } | undefined;
      onDone?: (() => void) | undefined;
    } = {},
  ) {
    this.#write = write;
    this.headers = headers;
    this.#batch = batch?.answers;
    this.#onDone = onDone;
    this.#waiting = batch?.requests ?? 1;
  }

  send(message: Message): boolean {
    if (isNotification(message) && message.method === "notifications/progress") this.#reportedAt = performance.now();
    return this.#write(message);
  }

  /**
   * Clients of the official SDK drop their progress listener with the result, before they have handled a report that came
   * in the same chunk.
   */
  afterProgress(): Promise<void> | undefined {
    if (this.#reportedAt === undefined) return undefined;
    // Always a turn later, even if the time has passed: on a busy machine report and result may be in the same turn.
    return pause(Math.max(1, this.#reportedAt + APART_MS - performance.now())).then(() => nextTurn());
  }

  finish(answer: Response | undefined, text?: string): void {
    this.#waiting -= 1;
    if (answer && this.#batch) this.#batch.add(answer, text);
    else if (answer) this.#write(answer, text);
    if (this.#waiting !== 0) return;
    if (this.#batch) this.#write(this.#batch);
    this.#onDone?.();
  }
}
