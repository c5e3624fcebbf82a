import { NexusError } from "../../errors/nexus-error.ts";
import { durationText } from "../../text/duration.ts";

export interface AnswerLimits {
  /** For one answer with its waits and repetitions. */
  timeoutMs: number;
  /** Without a single byte. */
  silenceMs: number;
}

/** The time of one answer. Its signal is aborted when the time is over, nothing arrives for too long, or the caller stops. */
export class AnswerClock {
  readonly #controller = new AbortController();
  readonly #name: string;
  readonly #limits: AnswerLimits;
  readonly #caller: AbortSignal | undefined;
  readonly #end: number;
  readonly #timer: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;

  constructor(name: string, limits: AnswerLimits, caller: AbortSignal | undefined) {
    this.#name = name;
    this.#limits = limits;
    this.#caller = caller;
    const { timeoutMs } = limits;
    this.#end = performance.now() + timeoutMs;
    this.#timer = setTimeout(
      () => this.#stop(this.#late(`${name} did not finish its answer within ${durationText(timeoutMs)}`)),
      timeoutMs,
    );
    caller?.addEventListener("abort", this.#cancel, { once: true });
    if (caller?.aborted) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get leftMs(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** Something arrived, or a request begins. */
  readonly hear = (): void => {
    clearTimeout(this.#silence);
    if (this.signal.aborted) return;
    const { silenceMs } = this.#limits;
    this.#silence = setTimeout(
      () => this.#stop(this.#late(`${this.#name} sent nothing for ${durationText(silenceMs)}`)),
      silenceMs,
    );
  };

  /** Nothing is expected, because the request is over. */
  rest(): void {
    clearTimeout(this.#silence);
  }

  /** Ends whatever still runs. */
  close(): void {
    this.#stop(new NexusError("CANCELLED", "The answer is no longer needed"));
  }

  readonly #cancel = (): void => {
    this.#stop(new NexusError("CANCELLED", "The request to the model was cancelled", { cause: this.#caller?.reason }));
  };

  #late(message: string): NexusError {
    return new NexusError("TIMEOUT", message, {
      phase: "request",
      hint: "Try again, use a longer --timeout, or use another model.",
      mayHaveReached: true,
    });
  }

  #stop(reason: NexusError): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#caller?.removeEventListener("abort", this.#cancel);
    this.#controller.abort(reason);
  }
}
