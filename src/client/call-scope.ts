import { NexusError } from "../errors/nexus-error.ts";
import type { Params } from "../protocol/json-rpc.ts";
import type { Progress } from "../protocol/mcp.ts";
import type { InputProvider } from "./input.ts";

/** What every call takes. */
export interface CallOptions {
  /** Cancels the call down to the server. */
  signal?: AbortSignal | undefined;
  /** How long to wait without an answer or progress; 30 seconds unless the entry says otherwise. */
  timeoutMs?: number | undefined;
  /** How long progress and rounds may extend the call; ten minutes. */
  totalTimeoutMs?: number | undefined;
  /** Asks the server to report progress, and extends the timeout with each report. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Answers the server's questions during this call, in place of the client's own provider. */
  input?: InputProvider | undefined;
  /** W3C trace context, sent in `_meta`. */
  trace?: { traceparent: string; tracestate?: string; baggage?: string } | undefined;
  /** Further `_meta` of the request. */
  meta?: Record<string, unknown> | undefined;
}

/** What a question tells about the call it belongs to. */
export interface CallInfo {
  method: string;
  params?: Params | undefined;
}

/** Something that can be told to stop because its call is over. */
export interface Stoppable {
  stop(error: NexusError): void;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_TOTAL_MS = 600_000;

/**
 * The life of one call over all its tries and rounds: its clock, the caller's signal, and what has to stop
 * when either says so. The clock stands while the user is being asked.
 */
export class CallScope {
  readonly call: CallInfo;
  readonly options: CallOptions;
  /** Why the call was stopped. */
  stopped: NexusError | undefined;
  readonly #timeoutMs: number;
  readonly #totalMs: number;
  #startedAt = performance.now();
  #activeAt = this.#startedAt;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #pausedAt = 0;
  #finished = false;
  #inFlight: Stoppable | undefined;
  #handlers: AbortController | undefined;

  constructor(call: CallInfo, options: CallOptions = {}, timeoutMs = DEFAULT_TIMEOUT_MS) {
    this.call = call;
    this.options = options;
    this.#timeoutMs = options.timeoutMs ?? timeoutMs;
    this.#totalMs = Math.max(options.totalTimeoutMs ?? DEFAULT_TOTAL_MS, options.totalTimeoutMs ? 0 : this.#timeoutMs);
    this.#arm(Math.min(this.#timeoutMs, this.#totalMs));
    const { signal } = options;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Fires when the call is stopped or over, for the handlers that answer its questions. */
  get handlerSignal(): AbortSignal {
    this.#handlers ??= new AbortController();
    if (this.stopped) this.#handlers.abort(this.stopped);
    return this.#handlers.signal;
  }

  get remainingMs(): number {
    return Math.min(this.#activeAt + this.#timeoutMs, this.#startedAt + this.#totalMs) - performance.now();
  }

  /** From now on, `target` is what a stop reaches; undefined when nothing is in flight. */
  inFlight(target: Stoppable | undefined): void {
    this.#inFlight = target;
  }

  /** Something happened: the server is alive. */
  touch(): void {
    this.#activeAt = performance.now();
  }

  pause(): void {
    if (this.#pauses++ > 0) return;
    this.#pausedAt = performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (--this.#pauses > 0) return;
    const pausedMs = performance.now() - this.#pausedAt;
    this.#startedAt += pausedMs;
    this.#activeAt += pausedMs;
    if (!this.stopped && !this.#finished) this.#arm(this.remainingMs);
  }

  stop(error: NexusError): void {
    if (this.stopped) return;
    this.stopped = error;
    clearTimeout(this.#timer);
    this.#inFlight?.stop(error);
    this.#handlers?.abort(error);
  }

  /** Waits, unless the call is stopped first or its time would be over before. */
  async sleep(ms: number): Promise<void> {
    if (this.stopped) throw this.stopped;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      this.inFlight({
        stop(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
    });
    this.inFlight(undefined);
  }

  /** The call is over: nothing of it may stay behind. */
  finish(): void {
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#inFlight = undefined;
    this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#handlers?.abort(new NexusError("CANCELLED", "The call is over"));
  }

  readonly #onAbort = () => {
    const cause: unknown = this.options.signal?.reason;
    this.stop(new NexusError("CANCELLED", `${this.call.method} was cancelled`, { cause, method: this.call.method }));
  };

  #arm(ms: number): void {
    this.#timer = setTimeout(this.#onTimer, Math.max(ms, 1));
  }

  /** Progress only notes the time; the timer looks at it when it fires. */
  readonly #onTimer = () => {
    const left = this.remainingMs;
    if (left > 1) return this.#arm(left);
    const seconds = Math.round((performance.now() - this.#startedAt) / 100) / 10;
    this.stop(
      new NexusError("TIMEOUT", `No answer to ${this.call.method} after ${seconds} s`, {
        method: this.call.method,
        hint: "Raise the timeout if the server needs longer, or look at what it is doing.",
      }),
    );
  };
}
