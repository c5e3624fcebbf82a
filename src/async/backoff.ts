import { NexusError } from "../errors/nexus-error.ts";

export interface BackoffSettings {
  firstMs: number;
  longestMs: number;
  /** Failures in a row after which it is tried only now and then. */
  patience: number;
  /** How long the circuit stays open then. */
  restMs: number;
  /** A connection that lived this long was a success. */
  settledMs: number;
}

export const DEFAULT_BACKOFF: BackoffSettings = {
  firstMs: 500,
  longestMs: 30_000,
  patience: 10,
  restMs: 300_000,
  settledMs: 10_000,
};

/** When to try again: later each time, with jitter, and hardly ever once it has failed for long. */
export class Backoff {
  readonly #settings: BackoffSettings;
  #failures = 0;
  /** What a success would take back if it turns out to be none. */
  #failuresBefore = 0;
  #lastError: NexusError | undefined;
  /** On the clock that no one sets. */
  #notBefore = 0;

  constructor(settings: BackoffSettings) {
    this.#settings = settings;
  }

  /** Throws what went wrong last while trying again would be hammering. */
  refuseIfHopeless(): void {
    const retryAfterMs = Math.ceil(this.hopelessMs);
    if (retryAfterMs > 0 && this.#lastError) throw this.#lastError.amended({ retryAfterMs });
  }

  /** How long trying again would still be hammering. */
  get hopelessMs(): number {
    return this.#isOpen ? Math.max(0, this.#notBefore - performance.now()) : 0;
  }

  /** How long to wait after this failure. */
  failed(error: NexusError): number {
    const { firstMs, longestMs, restMs } = this.#settings;
    this.#failures++;
    const grown = this.#isOpen ? restMs : Math.min(firstMs * 2 ** (this.#failures - 1), longestMs);
    const delayMs = grown * (0.5 + Math.random() / 2);
    this.#lastError = gist(error);
    this.#notBefore = performance.now() + delayMs;
    return delayMs;
  }

  /** Only failures in a row count. */
  succeeded(): void {
    this.#failuresBefore = this.#failures;
    this.#failures = 0;
  }

  /** A server that crashes as soon as it is up has not recovered. */
  ended(error: NexusError, livedMs: number): number {
    if (livedMs < this.#settings.settledMs) this.#failures = this.#failuresBefore;
    return this.failed(error);
  }

  reset(): void {
    this.#failures = this.#failuresBefore = 0;
  }

  get #isOpen(): boolean {
    return this.#failures >= this.#settings.patience;
  }
}

/** Many are kept, and for long: without what the server wrote, and what went over the wire. */
function gist({ code, message, details: { server, source, phase, command, url, hint } }: NexusError): NexusError {
  const error = new NexusError(code, message, { server, source, phase, command, url, hint, mayHaveReached: false });
  error.stack = `${error.name}: ${message}`;
  return error;
}
