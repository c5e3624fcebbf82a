/** A map whose entries expire some time after they were last set, with one timer for all. */
export class ExpiringMap<T> {
  readonly #lifeMs: number;
  readonly #onExpired: (value: T) => void;
  /** All entries live equally long, so the first one expires first. */
  readonly #entries = new Map<string, { value: T; until: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(lifeMs: number, onExpired: (value: T) => void) {
    this.#lifeMs = lifeMs;
    this.#onExpired = onExpired;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The entry's time starts again. */
  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: performance.now() + this.#lifeMs });
    this.#timer ??= setTimeout(this.#sweep, this.#lifeMs).unref();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  forEach(visit: (value: T) => void): void {
    for (const { value } of this.#entries.values()) visit(value);
  }

  /** Removes the entry without calling `onExpired`: the caller ends the value. */
  take(key: string): T | undefined {
    const value = this.get(key);
    this.#entries.delete(key);
    return value;
  }

  /** Removes the first matching entry to expire; undefined if there is none. */
  takeOldest(isMeant: (value: T) => boolean): T | undefined {
    for (const [key, { value }] of this.#entries) if (isMeant(value)) return this.take(key);
    return undefined;
  }

  takeAll(isMeant: (value: T) => boolean = () => true): T[] {
    const meant = [...this.#entries].filter(([, { value }]) => isMeant(value));
    for (const [key] of meant) this.#entries.delete(key);
    if (this.#entries.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return meant.map(([, { value }]) => value);
  }

  readonly #sweep = () => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [key, { value, until }] of this.#entries) {
      if (until > now) {
        this.#timer ??= setTimeout(this.#sweep, until - now + 1).unref();
        return;
      }
      this.#entries.delete(key);
      this.#onExpired(value);
    }
  };
}
