import type { Kysely } from "kysely";
import { callListener } from "../async/call-listener.ts";
import type { Changes } from "../async/live.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { Logger } from "../text/logger.ts";
import { loadGenerations, TOPICS, type ChangeTopic } from "./keep/generations.ts";
import type { StoreTables } from "./tables/tables.ts";

/** Other processes notice a change within a second. */
const POLL_MS = 250;

type TopicListener = (topic: ChangeTopic) => void;

/** Reports changes in the store, including those of other processes. Polls only while there are listeners. */
export class ChangeNotices {
  readonly #db: Kysely<StoreTables>;
  readonly #logger: Logger;
  readonly #listeners = new Set<TopicListener>();
  #known: Map<string, number> | undefined;
  #beginning: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silentSince: number | undefined;

  constructor(db: Kysely<StoreTables>, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  /** When the database stopped answering, by `performance.now()`; undefined while it answers. */
  get silentSince(): number | undefined {
    return this.#silentSince;
  }

  /** Calls the listener for each change from now on. Returns a function that stops it. */
  async listen(listener: TopicListener): Promise<() => void> {
    if (this.#listeners.size === 0) await (this.#beginning ??= this.#begin());
    this.#listeners.add(listener);
    this.#schedule();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Changes of these topics alone. */
  of(...topics: readonly ChangeTopic[]): Changes {
    return (changed) =>
      this.listen((topic) => {
        if (topics.includes(topic)) changed();
      });
  }

  close(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Listeners that come at the same time share it. */
  async #begin(): Promise<void> {
    try {
      this.#known = await loadGenerations(this.#db);
      this.#silentSince = undefined;
    } finally {
      this.#beginning = undefined;
    }
  }

  #schedule(): void {
    if (this.#listeners.size === 0 || this.#timer) return;
    const timer = setTimeout(() => void this.#poll(timer), POLL_MS);
    timer.unref();
    this.#timer = timer;
  }

  async #poll(timer: NodeJS.Timeout): Promise<void> {
    const startedAt = performance.now();
    // Callers that need the database get their own errors.
    const now = await loadGenerations(this.#db).catch((error: unknown) => this.#reportSilence(error));
    // It was closed meanwhile; new listeners have a timer of their own.
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    if (now) this.#compare(now);
    else this.#silentSince ??= startedAt;
    this.#schedule();
  }

  /** Once, until the database answers again. */
  #reportSilence(error: unknown): undefined {
    if (this.#silentSince !== undefined) return;
    this.#logger.warn(`changes in the store are not noticed until it can be read: ${messageOf(error)}`);
  }

  #compare(now: Map<string, number>): void {
    const before = this.#known;
    this.#known = now;
    this.#silentSince = undefined;
    const changed = TOPICS.filter((topic) => now.get(topic) !== before?.get(topic));
    for (const topic of changed)
      for (const listener of this.#listeners) callListener(() => listener(topic), this.#logger);
  }
}
