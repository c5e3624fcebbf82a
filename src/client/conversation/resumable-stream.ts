import { inBackground } from "../../async/event-loop.ts";
import { growingPause } from "../../async/backoff.ts";
import type { RequestId } from "../../protocol/json-rpc.ts";
import type { HttpSessionChannel, ResumePoint, Sending, StreamEnd } from "../../transport/transport.ts";
import { isTemporaryStatus, isUnreadable } from "../../errors/error-traits.ts";

export interface ResumableStreamOptions {
  channel: HttpSessionChannel;
  /** Read again at each opening, because the session may have been renewed. */
  headers: () => Record<string, string>;
  /** The request whose stream is continued; undefined for the standalone stream. */
  streamOf?: RequestId;
  /** Where to continue; undefined for a new stream. */
  point?: ResumePoint;
  /** How long the server asked to wait. */
  retryMs?: number | undefined;
  /** Whether it was cut instead of ended by the server. */
  wasCut?: boolean | undefined;
  /** Maximum number of failed openings in a row. */
  maxFailures: number;
  /** How long connections may be refused; they are counted separately from other failures. */
  maxGoneMs: number;
  /** Called when the stream will not be opened again. */
  onGivenUp: (end: StreamEnd, wasOpen: boolean) => void;
}

const REOPEN_PAUSES = { firstMs: 1_000, longestMs: 30_000 };
/**
 * The pause after a cut stream or a refused connection, where it is important to know soon whether the server is there.
 */
const LOOK_AGAIN_MS = 250;
/** Maximum pause, even if the server asks for more. */
const LONGEST_RETRY_MS = 600_000;

/**
 * A GET stream of a legacy server that is reopened when it ends: after the pause that the server asked for, and with
 * the id of the last event, so that nothing is missed.
 */
export class ResumableStream implements Sending {
  readonly #options: ResumableStreamOptions;
  #point: ResumePoint | undefined;
  #sending: Sending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Openings in a row that delivered nothing. */
  #vain = 0;
  #retryMs: number | undefined;
  /** Since when connections have been refused. */
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
    // The server's pause is used as long as the openings succeed: a "retry: 0" must not cause a request storm.
    this.#timer = setTimeout(() => this.#open(), this.#vain > 0 ? Math.max(asked, grown) : asked);
    // Waiting for an answer keeps the process alive; waiting on the standalone stream does not.
    if (this.#options.streamOf === undefined) inBackground(this.#timer);
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

  /**
   * Tries a refused connection again soon: a server that restarts is back in a moment, and one that is gone has lost
   * its work.
   */
  #lookAgain(end: StreamEnd): void {
    this.#goneAt ??= performance.now();
    if (performance.now() - this.#goneAt >= this.#options.maxGoneMs) this.#options.onGivenUp(end, this.#wasOpen);
    else this.#timer = setTimeout(() => this.#open(), LOOK_AGAIN_MS);
  }
}

function isGone(end: StreamEnd): boolean {
  return end.kind === "failed" && end.error.code === "CONNECTION_FAILED";
}

/** Whether the next opening would get the same answer. */
function isFinal(end: StreamEnd): boolean {
  if (end.kind === "refused") return !isTemporaryStatus(end.status);
  return end.kind === "failed" && isUnreadable(end.error.code);
}
