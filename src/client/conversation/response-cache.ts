import { messageOf } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { weightOf } from "../../json/weight.ts";
import type { Logger } from "../../text/logger.ts";
import { madeStaleBy } from "../../protocol/methods.ts";

/** A store for cached answers. Several clients can share it; keys separate servers and principals. */
export interface CacheStore {
  get(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  set(key: string, answer: CachedAnswer): void | Promise<void>;
  /** Removes every answer whose key starts with this prefix. */
  forget(prefix: string): void | Promise<void>;
}

export interface CachedAnswer {
  result: Result;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The default store: in memory, with limits for entries and bytes; the least recently used entry is removed first. */
export class MemoryCache implements CacheStore {
  readonly #answers = new Map<string, { answer: CachedAnswer; bytes: number }>();
  readonly #maxAnswers: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes` is the approximate memory; default: 64 MiB. */
  constructor({ maxAnswers = 500, maxBytes = 64 * 1024 * 1024 } = {}) {
    this.#maxAnswers = maxAnswers;
    this.#maxBytes = maxBytes;
  }

  get(key: string): CachedAnswer | undefined {
    const kept = this.#answers.get(key);
    if (!kept) return undefined;
    if (kept.answer.expiresAt <= Date.now()) {
      this.#delete(key);
      return undefined;
    }
    this.#answers.delete(key);
    this.#answers.set(key, kept);
    return kept.answer;
  }

  set(key: string, answer: CachedAnswer): void {
    this.#delete(key);
    const bytes = key.length + weightOf(answer.result);
    if (bytes > this.#maxBytes) return;
    this.#answers.set(key, { answer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#maxAnswers && this.#bytes <= this.#maxBytes) return;
      this.#delete(oldest);
    }
  }

  forget(prefix: string): void {
    for (const key of this.#answers.keys()) if (key.startsWith(prefix)) this.#delete(key);
  }

  #delete(key: string): void {
    this.#bytes -= this.#answers.get(key)?.bytes ?? 0;
    this.#answers.delete(key);
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
  readonly #logger: Logger;
  #generation = 0;
  /** What a change made stale is being forgotten; nothing is read meanwhile. */
  #forgetting: Promise<unknown> | undefined;

  constructor(store: CacheStore, context: CacheContext, logger: Logger) {
    this.#store = store;
    this.#context = context;
    this.#logger = logger;
  }

  /** A copy: what the caller does with it is its own business. */
  async find(method: string, params: Params | undefined): Promise<Result | undefined> {
    await this.#forgetting;
    for (const scope of ["private", "public"] as const) {
      const answer = await this.#guarded(async () => this.#store.get(this.#key(scope, method, params)));
      if (answer && answer.expiresAt > Date.now()) return structuredClone(answer.result);
    }
    return undefined;
  }

  /** Asks, and keeps the answer if it may be kept and nothing changed meanwhile. */
  async load(method: string, params: Params | undefined, ask: () => Promise<CacheableAnswer>): Promise<Result> {
    const generation = this.#generation;
    const { result, cacheable } = await ask();
    const { ttlMs, cacheScope } = result;
    if (cacheable && typeof ttlMs === "number" && ttlMs > 0 && generation === this.#generation) {
      const key = this.#key(cacheScope === "public" ? "public" : "private", method, params);
      const answer = { result: structuredClone(result), expiresAt: Date.now() + ttlMs };
      await this.#guarded(async () => this.#store.set(key, answer));
    }
    return result;
  }

  /** What a notification makes stale is forgotten, before anybody who heard of it can ask. */
  invalidate(notification: string): void {
    const methods = madeStaleBy(notification);
    if (methods.length === 0) return;
    this.#generation++;
    const prefixes = methods.flatMap((method) => [this.#prefix("private", method), this.#prefix("public", method)]);
    const forgetting = Promise.all(prefixes.map((prefix) => this.#guarded(async () => this.#store.forget(prefix))));
    const before = this.#forgetting;
    this.#forgetting = before ? Promise.all([before, forgetting]) : forgetting;
  }

  /** A store that fails is as good as an empty one. */
  async #guarded<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      this.#logger.warn(`the cache could not be used: ${messageOf(error)}`);
      return undefined;
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
