import type { Result } from "../../protocol/json-rpc.ts";

export type CacheScope = "public" | "private";

/** How old a list is, for how long its server said it would be good, and for whom. */
export class Freshness {
  readonly readAt = performance.now();
  readonly #isTold: boolean;
  readonly #believedMs: number;
  /** The least of its pages. */
  #ttlMs = Infinity;
  #scope: CacheScope = "public";
  #isOutdated = false;

  constructor({ isTold, believedMs }: { isTold: boolean; believedMs: number }) {
    this.#isTold = isTold;
    this.#believedMs = believedMs;
  }

  /** Of a list that a server does not have: it says nothing about the others'. */
  static ofNothing(): Freshness {
    return new Freshness({ isTold: true, believedMs: 0 });
  }

  /** One page of the list has come. */
  add({ ttlMs, cacheScope }: Result): void {
    this.#ttlMs = Math.min(this.#ttlMs, typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0);
    if (cacheScope !== "public") this.#scope = "private";
  }

  get scope(): CacheScope {
    return this.#scope;
  }

  get ageMs(): number {
    return performance.now() - this.readAt;
  }

  /** How long callers may keep it from now on. */
  get remainingMs(): number {
    return this.#isOutdated ? 0 : Math.max(0, this.#ttlMs - this.ageMs);
  }

  /** The server said that it changed, or was started anew. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Whether it can be shown without asking. A server that tells of changes need not be asked until it does. */
  get isFresh(): boolean {
    if (this.#isOutdated) return false;
    if (this.#ttlMs > 0) return this.remainingMs > 0;
    return this.#isTold || this.ageMs < this.#believedMs;
  }

  expire(): void {
    this.#isOutdated = true;
  }
}
