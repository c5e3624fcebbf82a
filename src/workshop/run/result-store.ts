import { RecentMap } from "../../async/recent-map.ts";
import { randomBytes } from "node:crypto";

interface ResultStoreOptions {
  maxResults?: number;
  maxBytes?: number;
  lifetimeMs?: number;
  now?: () => number;
}

/** A kept result: JSON text, or a file. */
export interface KeptResult {
  content: string | Uint8Array;
  mimeType: string;
}

interface Kept extends KeptResult {
  caller: string;
  expires: number;
}

/**
 * Results that were too large for an answer, kept for a while for the caller that got the excerpt. The oldest are
 * dropped first.
 */
export class ResultStore {
  readonly #kept: RecentMap<string, Kept>;
  readonly #maxBytes: number;
  readonly #lifetimeMs: number;
  readonly #now: () => number;

  constructor(options: ResultStoreOptions = {}) {
    this.#maxBytes = options.maxBytes ?? 32 * 1024 * 1024;
    this.#kept = new RecentMap<string, Kept>({
      most: options.maxResults ?? 200,
      maxWeight: this.#maxBytes,
      weigh: ({ content }) => content.length,
    });
    this.#lifetimeMs = options.lifetimeMs ?? 15 * 60_000;
    this.#now = options.now ?? Date.now;
  }

  /** No larger result is kept. */
  get most(): number {
    return this.#maxBytes;
  }

  /** The id for reading it; undefined if it is too large to be kept. */
  keep(caller: string, content: string): string | undefined {
    if (content.length > this.#maxBytes) return undefined;
    const id = newResultId();
    this.put(caller, id, { content, mimeType: "application/json" });
    return id;
  }

  put(caller: string, id: string, { content, mimeType }: KeptResult): void {
    const now = this.#now();
    for (const [oldest, { expires }] of this.#kept) {
      if (expires > now) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(id, { caller, content, mimeType, expires: now + this.#lifetimeMs });
  }

  find(caller: string, id: string): KeptResult | undefined {
    const kept = this.#kept.get(id);
    if (kept && kept.expires <= this.#now()) this.#kept.delete(id);
    // Another caller's result is answered like one that does not exist.
    else if (kept?.caller === caller) return kept;
    return undefined;
  }
}

export function newResultId(): string {
  return randomBytes(16).toString("base64url");
}
