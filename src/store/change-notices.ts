import type { Kysely } from "kysely";
import { loadGenerations, TOPICS, type ChangeTopic } from "./keep/generations.ts";
import type { StoreTables } from "./tables/tables.ts";

/** Other processes notice a change within a second. */
const POLL_MS = 400;

type TopicListener = (topic: ChangeTopic) => void;

/** Reports changes in the store, including those of other processes. Polls only while there are listeners. */
export class ChangeNotices {
  readonly #db: Kysely<StoreTables>;
  readonly #listeners = new Set<TopicListener>();
  #known: Map<string, number> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silentSince: number | undefined;

  constructor(db: Kysely<StoreTables>) {
    this.#db = db;
  }

  /** When the database stopped answering, by `performance.now()`; undefined while it answers. */
  get silentSince(): number | undefined {
    return this.#silentSince;
  }

  /** Calls the listener for each change from now on. Returns a function that stops it. */
  async listen(listener: TopicListener): Promise<() => void> {
    if (this.#listeners.size === 0) this.#known = await loadGenerations(this.#db);
    this.#listeners.add(listener);
    this.#schedule();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#listeners.size === 0 || this.#timer) return;
    this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    try {
      const now = await loadGenerations(this.#db);
      const before = this.#known;
      this.#known = now;
      this.#silentSince = undefined;
      for (const topic of TOPICS) if (now.get(topic) !== before?.get(topic)) this.#notify(topic);
    } catch {
      // Callers that need the database get their own errors.
      this.#silentSince ??= startedAt;
    }
    this.#timer = undefined;
    this.#schedule();
  }

  #notify(topic: ChangeTopic): void {
    for (const listener of this.#listeners) listener(topic);
  }
}
