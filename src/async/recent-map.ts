interface RecentLimits<V> {
  /** Entries. */
  most?: number | undefined;
  /** What all values may weigh together. */
  maxWeight?: number | undefined;
  weigh?: (value: V) => number;
}

/** A map of limited size: entries that were set or used longest ago are dropped first. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #most: number;
  readonly #maxWeight: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  constructor({ most = Infinity, maxWeight = Infinity, weigh = () => 0 }: RecentLimits<V>) {
    super();
    this.#most = most;
    this.#maxWeight = maxWeight;
    this.#weigh = weigh;
  }

  /** The value, which counts as used now. */
  use(key: K): V | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  /** A value that alone weighs more than all may is not kept. */
  override set(key: K, value: V): this {
    this.delete(key);
    const weight = this.#weigh(value);
    if (weight > this.#maxWeight) return this;
    super.set(key, value);
    this.#weight += weight;
    for (const oldest of this.keys()) {
      if (this.size <= this.#most && this.#weight <= this.#maxWeight) break;
      this.delete(oldest);
    }
    return this;
  }

  override delete(key: K): boolean {
    const value = this.get(key);
    if (value !== undefined) this.#weight -= this.#weigh(value);
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#weight = 0;
  }
}
