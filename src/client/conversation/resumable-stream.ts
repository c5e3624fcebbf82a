import { growingPause } from "../../async/backoff.ts";
import type { RequestId } from "../../protocol/json-rpc.ts";
import type { HttpSessionChannel, ResumePoint, Sending, StreamEnd } from "../../transport/transport.ts";
import { isUnreadable } from "../../errors/error-traits.ts";

export interface ResumableStreamOptions {
  channel: HttpSessionChannel;
  /** Read anew at each opening: a session may have been renewed meanwhile. */
  headers: () => Record<string, string>;
  /** The request whose stream this goes on with; absent for the standalone stream. */
  streamOf?: RequestId;
  /** Where to take it up; absent for one that begins now. */
  point?: ResumePoint;
  /** How long the server asked to wait before. */
  retryMs?: number | undefined;
  /** It did not end by the server's wish. */
  wasCut?: boolean | undefined;
  /** Openings that may fail in a row. */
  maxFailures: number;
  /** How long nobody may be there who could be asked: openings whose connection is refused count apart. */
  maxGoneMs: number;
  /** The stream will not be opened again. */
  onGivenUp: (end: StreamEnd, wasOpen: boolean) => void;
}

const REOPEN_PAUSES = { firstMs: 1_000, longestMs: 30_000 };
/** A stream that was cut, or a server that is gone: it matters soon whether there is anything to go on with. */
const LOOK_AGAIN_MS = 250;
/** However long the server asks to wait. */
const LONGEST_RETRY_MS = 600_000;

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
  /** Openings in a row that brought nothing. */
  #vain = 0;
  #retryMs: number | undefined;
  /** Since when connections are refused. */
  #goneAt: number | undefined;
  #wasOpen = false;
  #abandoned = false;

  constructor(options: ResumableStreamOptions) {
    this.#options = options;
    this.#point = options.point;
    this.#retryMs = options.retryMs;
    if (options.point) this.#openLater(options.wasCut);
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
      onHead: () => (this.#wasOpen = true),
      onEnd: (end: StreamEnd) => this.#ended(end),
    };
    this.#sending = channel.listen(delivery, streamOf);
  }

  #openLater(isUrgent = false): void {
    const firstMs = isUrgent ? LOOK_AGAIN_MS : REOPEN_PAUSES.firstMs;
    const grown = growingPause(this.#vain, { ...REOPEN_PAUSES, firstMs });
    const asked = Math.min(this.#retryMs ?? grown, LONGEST_RETRY_MS);
    // The server's word counts as long as it leads anywhere; a "retry: 0" that does not must not become a storm.
    this.#timer = setTimeout(() => this.#open(), this.#vain > 0 ? Math.max(asked, grown) : asked);
    // Waiting for what a server may say some day keeps no process alive; waiting for an answer does.
    if (this.#options.streamOf === undefined) this.#timer.unref();
  }

  #ended(end: StreamEnd): void {
    if (this.#abandoned) return;
    if (isGone(end) && this.#options.maxGoneMs < Infinity) return this.#lookAgain(end);
    this.#goneAt = undefined;
    this.#failures = end.kind === "ended" ? 0 : this.#failures + 1;
    if (isFinal(end) || this.#failures > this.#options.maxFailures) return this.#options.onGivenUp(end, this.#wasOpen);
    const point = end.kind === "refused" ? undefined : end.resume;
    if (end.kind !== "refused") this.#retryMs = end.retryMs ?? this.#retryMs;
    this.#vain = point && point.lastEventId !== this.#point?.lastEventId ? 0 : this.#vain + 1;
    this.#point = point ?? this.#point;
    this.#openLater();
  }

  /** Nobody is there: one that is being restarted is back in a moment, and one that is not has lost what it did. */
  #lookAgain(end: StreamEnd): void {
    this.#goneAt ??= performance.now();
    if (performance.now() - this.#goneAt >= this.#options.maxGoneMs) this.#options.onGivenUp(end, this.#wasOpen);
    else this.#timer = setTimeout(() => this.#open(), LOOK_AGAIN_MS);
  }
}

function isGone(end: StreamEnd): boolean {
  return end.kind === "failed" && end.error.code === "CONNECTION_FAILED";
}

/** Asking again would get the same answer. */
function isFinal(end: StreamEnd): boolean {
  if (end.kind === "refused") return end.status < 500 && end.status !== 429;
  return end.kind === "failed" && isUnreadable(end.error.code);
}
