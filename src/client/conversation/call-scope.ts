import { MILLISECONDS, type OptionNames, SIGNAL } from "../../errors/check-options.ts";
import { afterThisTurn } from "../../async/event-loop.ts";
import { shorten } from "../../text/shorten.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Params, RequestId } from "../../protocol/json-rpc.ts";
import type { InputRequiredResult, LogLevel, Progress } from "../../protocol/mcp.ts";
import type { Deadlines, Timed } from "../../async/deadlines.ts";
import { INPUT, type InputProvider } from "./input.ts";
import type { SharedClient } from "./shared-client.ts";
import { targetKind } from "../../protocol/methods.ts";

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call, also at the server. */
  signal?: CancelSignal | undefined;
  /** How long to wait without an answer or progress; default: the entry's timeout, or 30 seconds. */
  timeoutMs?: number | undefined;
  /** Maximum duration of the call with progress and question rounds; default: ten minutes. */
  totalTimeoutMs?: number | undefined;
  /** Requests progress reports; each report extends the timeout. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called for other notifications of this call, such as log messages, if the transport can assign them to it. */
  onNotification?: ((notification: Notification) => void) | undefined;
  /** Called when the server closed the stream of the call; the client resumes it after a pause (2025-11-25). */
  onStreamPaused?: ((retryMs: number | undefined) => void) | undefined;
  /** Log level of a modern server for this call, instead of the client's level. */
  logLevel?: LogLevel | undefined;
  /** Answers the server's questions during this call, instead of the client's input provider. */
  input?: InputProvider | undefined;
  /**
   * The questions of a modern server from an earlier attempt of this call: they are answered, and the call continues.
   */
  resume?: InputRequiredResult | undefined;
  /** Identifies what the call belongs to in logs: sent in `_meta` and, over HTTP, as `X-Request-Id`. */
  correlationId?: string | undefined;
  /** W3C trace context, sent in `_meta` and, over HTTP, in headers. */
  trace?: { traceparent: string; tracestate?: string; baggage?: string } | undefined;
  /** Additional `_meta` of the request. */
  meta?: Record<string, unknown> | undefined;
  /** Counts while the call runs. */
  observed?: CallObservation | undefined;
  /** Sends the request even if a cached answer is still valid. */
  fresh?: boolean | undefined;
}

/** What is wrong with a call is a mistake in its arguments. */
const TIME_OF_CALL = { ...MILLISECONDS, code: "ARGUMENTS_INVALID" } as const;

export const CALL_OPTIONS: OptionNames<CallOptions> = {
  signal: SIGNAL,
  timeoutMs: TIME_OF_CALL,
  totalTimeoutMs: TIME_OF_CALL,
  onProgress: true,
  onNotification: true,
  onStreamPaused: true,
  logLevel: true,
  input: INPUT,
  resume: true,
  correlationId: true,
  trace: true,
  meta: true,
  observed: true,
  fresh: true,
};

/** What happened to a call on its way. */
interface CallObservation {
  /** How often it was sent again after a failure. */
  retries?: number | undefined;
}

/** The call that a question belongs to. */
export interface CallInfo {
  method: string;
  params?: Params | undefined;
}

interface ScopeSettings {
  deadlines: Deadlines;
  timeoutMs: number;
  /** Extensions that are declared for this call, in addition to the client's own. */
  extensions?: Record<string, unknown> | undefined;
  /** The client that makes the call, if several share the connection; undefined for the client that opened it. */
  sharedClient?: SharedClient | undefined;
}

/** Something that stops when its call ends. */
export interface Stoppable {
  stop(error: NexusError): void;
}

const DEFAULT_TOTAL_MS = 600_000;
/** Maximum number of characters of a progress message in an error. */
const MAX_LAST_WORDS = 1_000;
/** A timer that fires so much later was held up. */
const LATE_MS = 20;

/**
 * The lifetime of one call with all attempts and rounds: its timeout, the caller's signal, and what must stop with it.
 * The timeout is paused while the user is asked.
 */
export class CallScope implements Timed {
  readonly call: CallInfo;
  readonly options: CallOptions;
  readonly extensions: Record<string, unknown> | undefined;
  readonly sharedClient: SharedClient | undefined;
  /** Why the call was stopped. */
  stopped: NexusError | undefined;
  /** Whether the call has ended without being stopped. */
  isFinished = false;
  slot = -1;
  /** How often the user was asked. */
  questions = 0;
  /** The token of the last request that asked for progress. */
  progressToken: RequestId | undefined;
  /** The message of the last progress report, unchanged. */
  lastProgress: unknown;
  readonly #deadlines: Deadlines;
  #isExpiring = false;
  readonly #timeoutMs: number;
  readonly #totalMs: number;
  #startedAt: number;
  #activeAt: number;
  #pauses = 0;
  #pausedAt = 0;
  #inFlight: Stoppable | undefined;
  #handlers: AbortController | undefined;
  #onAbort: (() => void) | undefined;

  constructor(call: CallInfo, options: CallOptions, { deadlines, timeoutMs, extensions, sharedClient }: ScopeSettings) {
    this.call = call;
    this.options = options;
    this.extensions = extensions;
    this.sharedClient = sharedClient;
    this.#deadlines = deadlines;
    this.#timeoutMs = options.timeoutMs ?? timeoutMs;
    this.#totalMs = options.totalTimeoutMs ?? Math.max(DEFAULT_TOTAL_MS, this.#timeoutMs);
    this.#startedAt = this.#activeAt = performance.now();
    deadlines.add(this);
    if (options.signal) this.#obey(options.signal);
  }

  /** Aborted when the call is stopped or has ended; for the handlers that answer its questions. */
  get handlerSignal(): AbortSignal {
    this.#handlers ??= new AbortController();
    if (this.stopped) this.#handlers.abort(this.stopped);
    return this.#handlers.signal;
  }

  get remainingMs(): number {
    if (this.#pauses > 0) return Infinity;
    return Math.min(this.#activeAt + this.#timeoutMs, this.#startedAt + this.#totalMs) - performance.now();
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Sets what a stop reaches; undefined if no request is in flight. */
  setInFlight(target: Stoppable | undefined): void {
    this.#inFlight = target;
  }

  /**
   * Moves the deadline, because the server has sent something. The timer is not restarted; it checks the deadline when
   * it fires.
   */
  touch(): void {
    this.#activeAt = performance.now();
  }

  /** From now on only the total timeout applies, because the server has announced that it needs time. */
  waitPatiently(): void {
    this.#activeAt = Infinity;
    this.#deadlines.review();
  }

  pause(): void {
    this.questions++;
    if (this.#pauses++ > 0) return;
    this.#pausedAt = performance.now();
    this.#deadlines.review();
  }

  resume(): void {
    if (--this.#pauses > 0) return;
    const pausedMs = performance.now() - this.#pausedAt;
    this.#startedAt += pausedMs;
    this.#activeAt += pausedMs;
    this.#deadlines.wakeWithin(this.remainingMs);
  }

  stop(error: NexusError): void {
    if (this.stopped) return;
    this.stopped = error;
    this.#deadlines.remove(this);
    this.#inFlight?.stop(error);
    this.#handlers?.abort(error);
  }

  expire(): void {
    if (this.#isExpiring) return;
    if (this.remainingMs > -LATE_MS) return this.#timeOut();
    // This program was busy: what has arrived meanwhile, perhaps in time, is read in this turn.
    this.#isExpiring = true;
    afterThisTurn(() => {
      this.#isExpiring = false;
      if (this.isFinished || this.stopped) return;
      if (this.remainingMs <= 0) this.#timeOut();
      else this.#deadlines.wakeWithin(this.remainingMs);
    });
  }

  #timeOut(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 100) / 10;
    this.stop(
      new NexusError("TIMEOUT", `No answer ${this.#source} after ${seconds} s${this.#lastWords()}`, {
        hint: "Raise the timeout if the server needs longer, or check what it is doing.",
      }),
    );
  }

  /** What the call was waiting for: the tool or prompt, or the method. */
  get #source(): string {
    const { method, params } = this.call;
    const kind = targetKind(method);
    return kind !== "tool" && kind !== "prompt"
      ? `to ${method}`
      : `from the ${kind} ${JSON.stringify(params?.["name"])}`;
  }

  /** Waits; rejects if the call is stopped first. */
  async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await this.until(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits because the server asked for a pause; the time does not count as silence of the server. */
  async rest(ms: number): Promise<void> {
    this.waitPatiently();
    await this.sleep(ms);
    this.touch();
    this.#deadlines.wakeWithin(this.remainingMs);
  }

  /** Waits for something that other calls also wait for; rejects if this call is stopped first. */
  async until<T>(promise: Promise<T>): Promise<T> {
    if (this.stopped) throw this.stopped;
    try {
      return await Promise.race([promise, new Promise<never>((_, reject) => this.setInFlight({ stop: reject }))]);
    } finally {
      this.setInFlight(undefined);
    }
  }

  /** Call this when the call has ended; it cleans up. */
  finish(): void {
    this.isFinished = !this.stopped;
    this.#deadlines.remove(this);
    this.#inFlight = undefined;
    if (this.#onAbort) this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#handlers?.abort(new NexusError("CANCELLED", "The call has ended"));
  }

  /** The server's last progress message, which may say what happens if no answer comes. */
  #lastWords(): string {
    const { lastProgress } = this;
    if (typeof lastProgress !== "string" || lastProgress === "") return "";
    return `. Last progress: ${shorten(lastProgress, MAX_LAST_WORDS)}`;
  }

  #obey(signal: CancelSignal): void {
    const cancel = () => {
      this.stop(
        new NexusError("CANCELLED", `${this.call.method} was cancelled${this.#lastWords()}`, { cause: signal.reason }),
      );
    };
    if (signal.aborted) return cancel();
    this.#onAbort = cancel;
    signal.addEventListener("abort", cancel, { once: true });
  }
}
