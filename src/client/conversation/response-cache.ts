import { checkOptions } from "../../errors/check-options.ts";
import { RecentMap } from "../../async/recent-map.ts";
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
  readonly #answers: RecentMap<string, { answer: CachedAnswer; bytes: number }>;

  /** `maxBytes` is the approximate memory; default: 64 MiB. */
  constructor(options: { maxAnswers?: number | undefined; maxBytes?: number | undefined } = {}) {
    checkOptions("MemoryCache", options, { maxAnswers: true, maxBytes: true });
    const { maxAnswers = 500, maxBytes = 64 * 1024 * 1024 } = options;
    this.#answers = new RecentMap<string, { answer: CachedAnswer; bytes: number }>({
      most: maxAnswers,
      maxWeight: maxBytes,
      weigh: ({ bytes }) => bytes,
    });
  }

  get(key: string): CachedAnswer | undefined {
    const answer = this.#answers.use(key)?.answer;
    if (!answer || answer.expiresAt > Date.now()) return answer;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: CachedAnswer): void {
    this.#answers.set(key, { answer, bytes: key.length + weightOf(answer.result) });
  }

  forget(prefix: string): void {
    for (const key of this.#answers.keys()) if (key.startsWith(prefix)) this.#answers.delete(key);
  }
}

interface CacheContext {
  /** The server: its command or URL. */
  server: string;
  /** The principal: private answers are never returned to another one. */
  principal: string;
  /** The login that the principal has there now; likewise. */
  login?: (() => string | undefined) | undefined;
}

/**
 * Keeps answers for as long as the server says (`ttlMs`, `cacheScope`). Change notifications remove them at once, and
 * answers that are still on their way are not kept.
 */
export class ResponseCache {
  readonly #store: CacheStore;
  readonly #context: CacheContext;
  readonly #logger: Logger;
  #generation = 0;
  /** Set while outdated answers are being removed; reading waits for it. */
  #forgetting: Promise<unknown> | undefined;

  constructor(store: CacheStore, context: CacheContext, logger: Logger) {
    this.#store = store;
    this.#context = context;
    this.#logger = logger;
  }

  /** A copy, because the caller may change it. */
  async find(method: string, params: Params | undefined): Promise<Result | undefined> {
    await this.#forgetting;
    for (const scope of ["private", "public"] as const) {
      const answer = await this.#guarded(async () => this.#store.get(this.#key(scope, method, params)));
      if (answer && answer.expiresAt > Date.now()) return structuredClone(answer.result);
    }
    return undefined;
  }

  /** Sends the request, and keeps the answer if that is allowed and nothing changed in the meantime. */
  async load(method: string, params: Params | undefined, ask: () => Promise<CacheableAnswer>): Promise<Result> {
    const [generation, login] = [this.#generation, this.#context.login?.()];
    const { result, cacheable } = await ask();
    const { ttlMs, cacheScope } = result;
    const isCurrent = generation === this.#generation && login === this.#context.login?.();
    if (cacheable && typeof ttlMs === "number" && ttlMs > 0 && isCurrent) {
      const key = this.#key(cacheScope === "public" ? "public" : "private", method, params);
      const answer = { result: structuredClone(result), expiresAt: Date.now() + ttlMs };
      await this.#guarded(async () => this.#store.set(key, answer));
    }
    return result;
  }

  /** Removes the answers that a notification makes outdated, before its listeners can ask again. */
  invalidate(notification: string): void {
    const methods = madeStaleBy(notification);
    if (methods.length === 0) return;
    this.#generation++;
    const prefixes = methods.flatMap((method) => [this.#prefix("private", method), this.#prefix("public", method)]);
    const forgetting = Promise.all(prefixes.map((prefix) => this.#guarded(async () => this.#store.forget(prefix))));
    const before = this.#forgetting;
    this.#forgetting = before ? Promise.all([before, forgetting]) : forgetting;
  }

  /** A store that fails counts as empty. */
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
    if (scope === "public") return JSON.stringify([server, method]);
    const login = this.#context.login?.();
    return JSON.stringify([server, method, principal, ...(login === undefined ? [] : [login])]);
  }
}

interface CacheableAnswer {
  result: Result;
  /** False if the answer depends on more than its parameters. */
  cacheable: boolean;
}
