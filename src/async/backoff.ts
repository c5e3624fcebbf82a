import { NexusError } from "../errors/nexus-error.ts";

export interface BackoffSettings {
  firstMs: number;
  longestMs: number;
  /** After this many consecutive failures, restarts wait `restMs`. */
  patience: number;
  /** The pause after this many failures. */
  restMs: number;
  /** A connection that lasted this long counts as a success. */
  settledMs: number;
}

export const DEFAULT_BACKOFF: BackoffSettings = {
  firstMs: 500,
  longestMs: 30_000,
  patience: 10,
  restMs: 300_000,
  settledMs: 10_000,
};

/** The pauses between attempts. */
type Pauses = Pick<BackoffSettings, "firstMs" | "longestMs">;

/** The pause after this many failures in a row, counted from 0: it doubles up to the longest. */
export function growingPause(failures: number, { firstMs, longestMs }: Pauses): number {
  return Math.min(firstMs * 2 ** failures, longestMs);
}

/** Between half and all of a pause, so that clients that failed together do not come back together. */
export function withJitter(pauseMs: number): number {
  return pauseMs * (0.5 + Math.random() / 2);
}

/** The pause that a `Retry-After` header asks for: a number of seconds or a date. */
export function retryAfterMs(header: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof header !== "string") return undefined;
  // A number with hundreds of digits would be infinite.
  if (/^\s*\d+\s*$/.test(header)) return Math.min(Number(header) * 1_000, Number.MAX_SAFE_INTEGER);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Decides when to try again: later each time, with jitter, and rarely after many failures in a row. */
export class Backoff {
  readonly #settings: BackoffSettings;
  #failures = 0;
  /** Restored when a connection ends too early to count as a success. */
  #failuresBefore = 0;
  #lastError: NexusError | undefined;
  /** By `performance.now()`. */
  #notBefore = 0;

  constructor(settings: BackoffSettings) {
    this.#settings = settings;
  }

  /** Throws the last error while restarts wait for `restMs`. */
  refuseIfHopeless(): void {
    const retryAfterMs = Math.ceil(this.hopelessMs);
    if (retryAfterMs > 0 && this.#lastError) throw this.#lastError.amended({ retryAfterMs });
  }

  /** How long restarts still wait; 0 if they do not. */
  get hopelessMs(): number {
    return this.#isOpen ? Math.max(0, this.#notBefore - performance.now()) : 0;
  }

  /** Counts a failure; returns the pause before the next attempt. */
  failed(error: NexusError): number {
    this.#failures++;
    const { restMs } = this.#settings;
    const delayMs = withJitter(this.#isOpen ? restMs : growingPause(this.#failures - 1, this.#settings));
    this.#lastError = gist(error);
    this.#notBefore = performance.now() + delayMs;
    return delayMs;
  }

  /** Resets the count: only failures in a row count. */
  succeeded(): void {
    this.#failuresBefore = this.#failures;
    this.#failures = 0;
  }

  /** A server that exits soon after its start counts as a failure. */
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

/** Errors are kept for long, so the copy has neither the server's output nor its messages. */
function gist({ code, message, details: { server, source, phase, command, url, hint } }: NexusError): NexusError {
  const error = new NexusError(code, message, { server, source, phase, command, url, hint, mayHaveReached: false });
  error.stack = `${error.name}: ${message}`;
  return error;
}
