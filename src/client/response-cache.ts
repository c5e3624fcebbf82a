import type { Params, Result } from "../protocol/json-rpc.ts";

/** Where cached answers are kept. A shared one may serve several clients; keys keep apart what must not meet. */
export interface CacheStore {
  get(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  set(key: string, answer: CachedAnswer): void | Promise<void>;
  /** Forgets every answer whose key begins so. */
  forget(prefix: string): void | Promise<void>;
}

export interface CachedAnswer {
  result: Result;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The default store: in memory, and bounded; the least recently used goes first. */
export class MemoryCache implements CacheStore {
  readonly #answers = new Map<string, CachedAnswer>();
  readonly #maxAnswers: number;

  constructor({ maxAnswers = 500 } = {}) {
    this.#maxAnswers = maxAnswers;
  }

  get(key: string): CachedAnswer | undefined {
    const answer = this.#answers.get(key);
    if (!answer) return undefined;
    this.#answers.delete(key);
    if (answer.expiresAt <= Date.now()) return undefined;
    this.#answers.set(key, answer);
    return answer;
  }

  set(key: string, answer: CachedAnswer): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > this.#maxAnswers && oldest !== undefined) this.#answers.delete(oldest);
  }

  forget(prefix: string): void {
    for (const key of this.#answers.keys()) if (key.startsWith(prefix)) this.#answers.delete(key);
  }
}

export interface CacheContext {
  /** Which server: its command or URL. */
  server: string;
  /** Who asks: private answers are never given to anybody else. */
  principal: string;
}

/**
 * Answers that the server said stay good for a while (`ttlMs`, `cacheScope`). Change notifications make them stale at
 * once, also those that are still on their way.
 */
export class ResponseCache {
  readonly #store: CacheStore;
  readonly #context: CacheContext;
  #generation = 0;

  constructor(store: CacheStore, context: CacheContext) {
    this.#store = store;
    this.#context = context;
  }

  async find(method: string, params: Params | undefined): Promise<Result | undefined> {
    for (const scope of ["private", "public"] as const) {
      const answer = await this.#store.get(this.#key(scope, method, params));
      if (answer && answer.expiresAt > Date.now()) return answer.result;
    }
    return undefined;
  }

  /** Asks, and keeps the answer if it may be kept and nothing changed meanwhile. */
  async load(method: string, params: Params | undefined, ask: () => Promise<CacheableAnswer>): Promise<Result> {
    const generation = this.#generation;
    const { result, cacheable } = await ask();
    const { ttlMs, cacheScope } = result;
    if (cacheable && typeof ttlMs === "number" && ttlMs > 0 && generation === this.#generation) {
      const scope = cacheScope === "public" ? "public" : "private";
      await this.#store.set(this.#key(scope, method, params), { result, expiresAt: Date.now() + ttlMs });
    }
    return result;
  }

  /** What a notification makes stale is forgotten. */
  async invalidate(notification: string): Promise<void> {
    const methods = STALE[notification];
    if (!methods) return;
    this.#generation++;
    for (const method of methods) {
      await this.#store.forget(this.#prefix("private", method));
      await this.#store.forget(this.#prefix("public", method));
    }
  }

  #key(scope: "private" | "public", method: string, params: Params | undefined): string {
    return this.#prefix(scope, method) + JSON.stringify(params ?? {});
  }

  #prefix(scope: "private" | "public", method: string): string {
    const { server, principal } = this.#context;
    return JSON.stringify(scope === "public" ? [server, method] : [server, method, principal]);
  }
}

export interface CacheableAnswer {
  result: Result;
  /** False: the answer depends on more than its parameters. */
  cacheable: boolean;
}

/** What a change makes stale. An update may name a part of what was read, so all that was read goes. */
const STALE: Record<string, readonly string[]> = {
  "notifications/tools/list_changed": ["tools/list"],
  "notifications/prompts/list_changed": ["prompts/list"],
  "notifications/resources/list_changed": ["resources/list", "resources/templates/list"],
  "notifications/resources/updated": ["resources/read"],
};
