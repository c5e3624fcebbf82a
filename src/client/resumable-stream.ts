import type { RequestId } from "../protocol/json-rpc.ts";
import type { HttpSessionChannel, ResumePoint, Sending, StreamEnd } from "../transport/transport.ts";

export interface ResumableStreamOptions {
  channel: HttpSessionChannel;
  /** Read anew at each opening: a session may have been renewed meanwhile. */
  headers: () => Record<string, string>;
  /** The request whose stream this goes on with; absent for the standalone stream. */
  streamOf?: RequestId;
  /** Where to take it up; absent for one that begins now. */
  point?: ResumePoint;
  /** Openings that may fail in a row. */
  maxFailures: number;
  /** The stream will not be opened again. */
  onGivenUp: (end: StreamEnd) => void;
}

const REOPEN_MS = { first: 1_000, longest: 30_000 };

/**
 * A GET stream of a legacy server, opened again whenever it ends: after the pause the server asked for, and with the
 * id of the last event, so that nothing is missed.
 */
export class ResumableStream implements Sending {
  readonly #options: ResumableStreamOptions;
  #point: ResumePoint | undefined;
  #sending: Sending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #abandoned = false;

  constructor(options: ResumableStreamOptions) {
    this.#options = options;
    this.#point = options.point;
    if (options.point) this.#openLater();
    else this.#open();
  }

  abandon(): void {
    this.#abandoned = true;
    clearTimeout(this.#timer);
    this.#sending?.abandon();
  }

  #open(): void {
    const { channel, headers, streamOf } = this.#options;
    const resuming = this.#point ? { "last-event-id": this.#point.lastEventId } : {};
    const delivery = {
      headers: { ...headers(), ...resuming },
      onHead: () => (this.#failures = 0),
      onEnd: (end: StreamEnd) => this.#ended(end),
    };
    this.#sending = channel.listen(delivery, streamOf);
  }

  #openLater(): void {
    const grown = Math.min(REOPEN_MS.first * 2 ** this.#failures, REOPEN_MS.longest);
    this.#timer = setTimeout(() => this.#open(), this.#point?.retryMs ?? grown);
    // Waiting for what a server may say some day keeps no process alive; waiting for an answer does.
    if (this.#options.streamOf === undefined) this.#timer.unref();
  }

  #ended(end: StreamEnd): void {
    if (this.#abandoned) return;
    const isFinal = end.kind === "refused" && end.status < 500 && end.status !== 429;
    if (end.kind !== "ended") this.#failures++;
    if (isFinal || this.#failures > this.#options.maxFailures) return this.#options.onGivenUp(end);
    if (end.kind !== "refused" && end.resume) this.#point = end.resume;
    this.#openLater();
  }
}
