import { CompiledQuery, type Kysely } from "kysely";
import type { RateLimiterPostgres } from "rate-limiter-flexible";
import type { Engine } from "../engine/engine.ts";
import type { StoreTables } from "../tables/tables.ts";

export interface RateWindow {
  max: number;
  windowMs: number;
}

/** What the database answered. */
export interface CountedRate {
  /** How many of the requests are within the limit, and were counted. */
  granted: number;
  /** How many were counted in this window so far. */
  used: number;
  endsAt: number;
}

/** The end of a window is known to a few milliseconds; no window is shorter than a second. */
export const SAME_WINDOW_MS = 100;

const TABLE = "nexus_rates";

/**
 * What keys and tenants have used of their limits, in windows that start with the first request. Exact for all processes on the
 * database, and durable when it answers.
 */
export class Rates {
  readonly #db: Kysely<StoreTables>;
  readonly #kind: Engine<StoreTables>["kind"];
  readonly #now: () => number;
  #limiter: Promise<RateLimiterPostgres> | undefined;

  constructor({ db, kind }: Pick<Engine<StoreTables>, "db" | "kind">, now: () => number) {
    this.#db = db;
    this.#kind = kind;
    this.#now = now;
  }

  /** Whether several processes on other machines may share the counts. */
  get areShared(): boolean {
    return this.#kind === "postgres";
  }

  /** Counts so many requests, as far as the limit allows. */
  take(key: string, requests: number, window: RateWindow): Promise<CountedRate> {
    return this.#kind === "postgres"
      ? this.#takeInPostgres(key, requests, window)
      : this.#takeInSqlite(key, requests, window);
  }

  /** Takes back what was counted in the window that ends then. */
  async giveBack(key: string, requests: number, endsAt: number): Promise<void> {
    await this.#db
      .updateTable(TABLE)
      .set(({ eb }) => ({ points: eb("points", "-", requests) }))
      .where("key", "=", key)
      .where("expire", ">=", endsAt - SAME_WINDOW_MS)
      .where("expire", "<=", endsAt + SAME_WINDOW_MS)
      .where("points", ">=", requests)
      .execute();
  }

  /** Removes windows that are over. */
  async removeExpired(): Promise<void> {
    await this.#db.deleteFrom(TABLE).where("expire", "<", this.#now()).execute();
  }

  /** The library counts requests above the limit also; they are taken back, so that a limit that is raised has room. */
  async #takeInPostgres(key: string, requests: number, { max, windowMs }: RateWindow): Promise<CountedRate> {
    this.#limiter ??= openLimiter(this.#db);
    const limiter = await this.#limiter;
    // Unlike `consume`, it says how many there are now, so that some of several requests can go on.
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key, requests, { customDuration: windowMs / 1000 });
    // The library uses this clock.
    const endsAt = Date.now() + msBeforeNext;
    const granted = Math.max(0, Math.min(requests, max - (consumedPoints - requests)));
    if (granted < requests) await this.giveBack(key, requests - granted, endsAt);
    return { granted, used: Math.min(max, consumedPoints), endsAt };
  }

  #takeInSqlite(key: string, requests: number, { max, windowMs }: RateWindow): Promise<CountedRate> {
    return this.#db.transaction().execute(async (transaction) => {
      const now = this.#now();
      const row = await transaction.selectFrom(TABLE).selectAll().where("key", "=", key).executeTakeFirst();
      const isOpen = row !== undefined && row.expire > now;
      const [used, expire] = isOpen ? [row.points, row.expire] : [0, now + windowMs];
      const granted = Math.max(0, Math.min(requests, max - used));
      const points = used + granted;
      await transaction
        .insertInto(TABLE)
        .values({ key, points, expire })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ points, expire }))
        .execute();
      return { granted, used: points, endsAt: expire };
    });
  }
}

async function openLimiter(db: Kysely<StoreTables>): Promise<RateLimiterPostgres> {
  const { RateLimiterPostgres: Limiter } = await import("rate-limiter-flexible");
  const query = ({ text, values }: { text: string; values: unknown[] }) =>
    db.executeQuery(CompiledQuery.raw(text, values));
  return new Limiter({
    storeClient: { query },
    storeType: "pool",
    tableName: TABLE,
    tableCreated: true,
    keyPrefix: "",
    // Each call says them.
    points: 1,
    duration: 1,
    clearExpiredByTimeout: false,
  });
}
