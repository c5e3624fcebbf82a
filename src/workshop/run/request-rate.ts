import { NexusError } from "../../errors/nexus-error.ts";

const MINUTE_MS = 60_000;

/** Limits requests per minute: so many at once, and then as many as a minute gives. */
export class RequestRate {
  readonly #perMinute: number;
  #left: number;
  #countedAt = performance.now();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
  }

  /** Counts one request; returns why it must not be sent, if the limit is reached. */
  take(): NexusError | undefined {
    const now = performance.now();
    this.#left = Math.min(this.#perMinute, this.#left + ((now - this.#countedAt) * this.#perMinute) / MINUTE_MS);
    this.#countedAt = now;
    if (this.#left >= 1) {
      this.#left--;
      return undefined;
    }
    const retryAfterMs = Math.ceil(((1 - this.#left) * MINUTE_MS) / this.#perMinute);
    const seconds = Math.ceil(retryAfterMs / 1000);
    const message = `The limit of ${this.#perMinute} requests per minute is reached. Try again in ${seconds} s`;
    return new NexusError("RATE_LIMITED", message, { retryAfterMs, mayHaveReached: false });
  }
}
