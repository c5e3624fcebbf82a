import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { StoreTables } from "../tables/tables.ts";

interface RateWindow {
  max: number;
  windowMs: number;
}

/** What the database answered. */
export interface CountedRate {
  /** How many of the requests are within the limit, and were counted. */
  granted: number;
  /** How many were counted in this window so far. */
  used: number;
  /** Names the window: when it ends, by the clock of the database. */
  window: number;
  /** How long it still lasts. */
  leftMs: number;
}

const TABLE = "nexus_rates";

/** Machines that share a PostgreSQL have clocks of their own, so that of the database counts. */
const POSTGRES_NOW = sql<number>`(extract(epoch from now()) * 1000)::bigint`;

/**
 * What keys and tenants have used of their limits, in windows that start with the first request. Exact for all processes on the
 * database, and durable when it answers.
 */
export class Rates {
  readonly #db: Kysely<StoreTables>;
  readonly #kind: Engine<StoreTables>["kind"];
  readonly #now: () => number;

  constructor({ db, kind }: Pick<Engine<StoreTables>, "db" | "kind">, now: () => number) {
    this.#db = db;
    this.#kind = kind;
    this.#now = now;
  }

  /** Whether several processes on other machines may share the counts. */
  get areShared(): boolean {
    return this.#kind === "postgres";
  }

  /** Counts so many requests, as far as the limit allows: one statement counts them all, and those above it are taken back. */
  async take(key: string, requests: number, { max, windowMs }: RateWindow): Promise<CountedRate> {
    const now = this.#kind === "postgres" ? POSTGRES_NOW : sql<number>`${this.#now()}`;
    const end = sql<number>`${now} + ${sql.lit(windowMs)}`;
    // A clock that was set back does not make a window longer.
    const earlier = this.#kind === "postgres" ? sql`least` : sql`min`;
    const isOpen = sql`nexus_rates.expire > ${now}`;
    const { points, expire, ...at } = await this.#db
      .insertInto(TABLE)
      .values({ key, points: requests, expire: end })
      .onConflict((conflict) =>
        conflict.column("key").doUpdateSet({
          points: sql<number>`case when ${isOpen} then nexus_rates.points else 0 end + ${requests}`,
          expire: sql<number>`case when ${isOpen} then ${earlier}(nexus_rates.expire, ${end}) else ${end} end`,
        }),
      )
      .returning(["points", "expire", now.as("now")])
      .executeTakeFirstOrThrow();
    const granted = Math.max(0, Math.min(requests, max - (points - requests)));
    if (granted < requests) await this.giveBack(key, requests - granted, expire);
    return { granted, used: Math.min(max, points), window: expire, leftMs: expire - at.now };
  }

  /** Takes back what was counted in a window. Nothing where it is over. */
  async giveBack(key: string, requests: number, window: number): Promise<void> {
    await this.#db
      .updateTable(TABLE)
      .set(({ eb }) => ({ points: eb("points", "-", requests) }))
      .where("key", "=", key)
      .where("expire", "=", window)
      .where("points", ">=", requests)
      .execute();
  }

  /** Removes windows that are over. */
  async removeExpired(): Promise<void> {
    const now: number | RawBuilder<number> = this.#kind === "postgres" ? POSTGRES_NOW : this.#now();
    await this.#db.deleteFrom(TABLE).where("expire", "<", now).execute();
  }
}
