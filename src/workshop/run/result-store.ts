import { randomBytes } from "node:crypto";

export interface ResultStoreOptions {
  maxResults?: number;
  maxBytes?: number;
  lifetimeMs?: number;
  now?: () => number;
}

interface Kept {
  caller: string;
  text: string;
  expires: number;
}

/**
 * Results that were too large for an answer, kept for a while for the caller that got the excerpt. The oldest are
 * dropped first.
 */
export class ResultStore {
  readonly #kept = new Map<string, Kept>();
  readonly #maxResults: number;
  readonly #maxBytes: number;
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  #bytes = 0;

  constructor(options: ResultStoreOptions = {}) {
    this.#maxResults = options.maxResults ?? 200;
    this.#maxBytes = options.maxBytes ?? 32 * 1024 * 1024;
    this.#lifetimeMs = options.lifetimeMs ?? 15 * 60_000;
    this.#now = options.now ?? Date.now;
  }

  /** The id for reading it; undefined if it is too large to be kept. */
  keep(caller: string, text: string): string | undefined {
    if (text.length > this.#maxBytes) return undefined;
    const id = randomBytes(16).toString("base64url");
    this.#kept.set(id, { caller, text, expires: this.#now() + this.#lifetimeMs });
    this.#bytes += text.length;
    for (const [oldest, { expires }] of this.#kept) {
      const isOver = this.#kept.size > this.#maxResults || this.#bytes > this.#maxBytes;
      if (!isOver && expires > this.#now()) break;
      this.#forget(oldest);
    }
    return id;
  }

  find(caller: string, id: string): string | undefined {
    const kept = this.#kept.get(id);
    if (kept && kept.expires <= this.#now()) this.#forget(id);
    // Another caller's result is answered like one that does not exist.
    else if (kept?.caller === caller) return kept.text;
    return undefined;
  }

  #forget(id: string): void {
    this.#bytes -= this.#kept.get(id)?.text.length ?? 0;
    this.#kept.delete(id);
  }
}
