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

  constructor(settings: BackoffSettings) {
    this.#settings = settings;
  }

  /** True while trying again would be hammering. */
  get isOpen(): boolean {
    return this.#failures >= this.#settings.patience;
  }

  /** How long to wait after this failure. */
  failed(): number {
    const { firstMs, longestMs, restMs } = this.#settings;
    this.#failures++;
    const grown = this.isOpen ? restMs : Math.min(firstMs * 2 ** (this.#failures - 1), longestMs);
    return grown * (0.5 + Math.random() / 2);
  }

  /** A server that crashes as soon as it is up has not recovered. */
  ended(livedMs: number): number {
    if (livedMs >= this.#settings.settledMs) this.#failures = 0;
    return this.failed();
  }

  reset(): void {
    this.#failures = 0;
  }
}
