import { shorten } from "../../text/shorten.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Params, RequestId } from "../../protocol/json-rpc.ts";
import type { InputRequiredResult, LogLevel, Progress } from "../../protocol/mcp.ts";
import type { Deadlines, Timed } from "../../async/deadlines.ts";
import type { InputProvider } from "./input.ts";
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
  /** The questions of a modern server from an earlier try of this call: they are answered, and the call continues. */
  resume?: InputRequiredResult | undefined;
  /** W3C trace context, sent in `_meta`. */
  trace?: { traceparent: string; tracestate?: string; baggage?: string } | undefined;
  /** Additional `_meta` of the request. */
  meta?: Record<string, unknown> | undefined;
  /** Sends the request even if a cached answer is still valid. */
  fresh?: boolean | undefined;
}

/** The call that a question belongs to. */
export interface CallInfo {
  method: string;
  params?: Params | undefined;
}

export interface ScopeSettings {
  deadlines: Deadlines;
  timeoutMs: number;
  /** Declared for this call beside the client's own: the call can handle what they bring. */
  extensions?: Record<string, unknown> | undefined;
  /** Whose call it is, where several share the connection; absent for the one who opened it. */
  sharedClient?: SharedClient | undefined;
}

/** Something that can be told to stop because its call is over. */
export interface Stoppable {
  stop(error: NexusError): void;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_TOTAL_MS = 600_000;
/** Characters of a server's progress that an error repeats. */
const MAX_LAST_WORDS = 1_000;

/**
 * The life of one call over all its tries and rounds: its clock, the caller's signal, and what has to stop
 * when either says so. The clock stands while the user is being asked.
 */
export class CallScope implements Timed {
  readonly call: CallInfo;
  readonly options: CallOptions;
  readonly extensions: Record<string, unknown> | undefined;
  readonly sharedClient: SharedClient | undefined;
  /** Why the call was stopped. */
  stopped: NexusError | undefined;
  /** Came to its end, and was not stopped. */
  isFinished = false;
  slot = -1;
  /** How often somebody was asked. */
  questions = 0;
  /** Of the request that asked for progress last. */
  progressToken: RequestId | undefined;
  /** What the server said with its last progress, as it came. */
  lastProgress: unknown;
  readonly #deadlines: Deadlines;
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
    if (!(this.#timeoutMs >= 0 && this.#totalMs >= 0)) {
      throw new NexusError("ARGUMENTS_INVALID", "A timeout must be a number of milliseconds, 0 or more", {
        mayHaveReached: false,
      });
    }
    this.#startedAt = this.#activeAt = performance.now();
    deadlines.add(this);
    if (options.signal) this.#obey(options.signal);
  }

  /** Fires when the call is stopped or over, for the handlers that answer its questions. */
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

  /** From now on, `target` is what a stop reaches; undefined when nothing is in flight. */
  setInFlight(target: Stoppable | undefined): void {
    this.#inFlight = target;
  }

  /** Something happened: the server is alive. The deadline moves; nobody needs to be told before it would be over. */
  touch(): void {
    this.#activeAt = performance.now();
  }

  /** From here on only the total counts: the server has said that it will take its time. */
  waitPatiently(): void {
    this.#activeAt = Infinity;
  }

  pause(): void {
    this.questions++;
    if (this.#pauses++ === 0) this.#pausedAt = performance.now();
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
    const seconds = Math.round((performance.now() - this.#startedAt) / 100) / 10;
    this.stop(
      new NexusError("TIMEOUT", `No answer ${this.#source} after ${seconds} s${this.#lastWords()}`, {
        hint: "Raise the timeout if the server needs longer, or check what it is doing.",
      }),
    );
  }

  /** From what: the tool or prompt, or of other methods to which of them. */
  get #source(): string {
    const { method, params } = this.call;
    const kind = targetKind(method);
    return kind !== "tool" && kind !== "prompt"
      ? `to ${method}`
      : `from the ${kind} ${JSON.stringify(params?.["name"])}`;
  }

  /** Waits, unless the call is stopped first. */
  async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await this.until(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits because the server asked for it: that is no silence of the server's. */
  async rest(ms: number): Promise<void> {
    this.waitPatiently();
    await this.sleep(ms);
    this.touch();
    this.#deadlines.wakeWithin(this.remainingMs);
  }

  /** Waits for something that is not this call's own, unless the call is stopped first. */
  async until<T>(promise: Promise<T>): Promise<T> {
    if (this.stopped) throw this.stopped;
    try {
      return await Promise.race([promise, new Promise<never>((_, reject) => this.setInFlight({ stop: reject }))]);
    } finally {
      this.setInFlight(undefined);
    }
  }

  /** The call has ended: nothing of it may stay behind. */
  finish(): void {
    this.isFinished = !this.stopped;
    this.#deadlines.remove(this);
    this.#inFlight = undefined;
    if (this.#onAbort) this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#handlers?.abort(new NexusError("CANCELLED", "The call has ended"));
  }

  /** A server may say beforehand what a caller needs to know where no answer comes. */
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
