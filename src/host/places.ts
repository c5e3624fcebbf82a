/** So many at a time: who comes later waits until somebody leaves, whoever has waited longest first. */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** False where there is none. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Waits for one; `signal` gives up, and is what it rejects with. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    let giveUp: () => void = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        giveUp = () => this.#waiting.delete(resolve) && reject(signal.reason as Error);
        signal.addEventListener("abort", giveUp);
        this.#waiting.add(resolve);
      });
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  leave(): void {
    const [next] = this.#waiting;
    if (!next) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
