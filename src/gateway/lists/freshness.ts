import type { Result } from "../../protocol/json-rpc.ts";

export type CacheScope = "public" | "private";

/** The age, lifetime and scope of a list. */
export class Freshness {
  readonly #readAt: number;
  readonly #isTold: boolean;
  readonly #believedMs: number;
  /** The shortest of all its pages. */
  #ttlMs = Infinity;
  #scope: CacheScope = "public";
  #isOutdated = false;

  constructor({ isTold, believedMs, ageMs = 0 }: { isTold: boolean; believedMs: number; ageMs?: number }) {
    this.#readAt = performance.now() - ageMs;
    this.#isTold = isTold;
    this.#believedMs = believedMs;
  }

  /** For a list that the server does not have: it does not limit the lifetime of others. */
  static ofNothing(): Freshness {
    return new Freshness({ isTold: true, believedMs: 0 });
  }

  /** For a list that was read at an earlier time: the server may list something else now. */
  static ofEarlier(ageMs: number): Freshness {
    const freshness = new Freshness({ isTold: false, believedMs: 0, ageMs });
    freshness.expire();
    return freshness;
  }

  /** Adds one page of the list. */
  add({ ttlMs, cacheScope }: Result): void {
    this.#ttlMs = Math.min(this.#ttlMs, typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0);
    if (cacheScope !== "public") this.#scope = "private";
  }

  get scope(): CacheScope {
    return this.#scope;
  }

  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  /** How long callers may still keep the list. */
  get remainingMs(): number {
    return this.#isOutdated ? 0 : Math.max(0, this.#ttlMs - this.ageMs);
  }

  /** Whether the server reported a change or was restarted. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /**
   * Whether it can be shown without asking the server. A server that reports changes is asked again only after a
   * report.
   */
  get isFresh(): boolean {
    if (this.#isOutdated) return false;
    if (this.#ttlMs > 0) return this.remainingMs > 0;
    return this.#isTold || this.ageMs < this.#believedMs;
  }

  expire(): void {
    this.#isOutdated = true;
  }
}
