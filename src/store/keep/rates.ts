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

  /** Counts so many requests, as far as the limit allows. */
  take(key: string, requests: number, window: RateWindow): Promise<CountedRate> {
    return this.#kind === "postgres"
      ? this.#takeInPostgres(key, requests, window)
      : this.#takeInSqlite(key, requests, window);
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

  /** One statement counts them all; those above the limit are taken back, so that a limit that is raised has room. */
  async #takeInPostgres(key: string, requests: number, { max, windowMs }: RateWindow): Promise<CountedRate> {
    const isOpen = sql`kept.expire > ${POSTGRES_NOW}`;
    const end = sql`${POSTGRES_NOW} + ${sql.lit(windowMs)}`;
    const added = sql`${requests}::bigint`;
    const { rows } = await sql<{ points: number; expire: number; now: number }>`
      insert into nexus_rates as kept (key, points, expire) values (${key}, ${added}, ${end})
      on conflict (key) do update set
        points = case when ${isOpen} then kept.points + ${added} else ${added} end,
        expire = case when ${isOpen} then least(kept.expire, ${end}) else ${end} end
      returning points, expire, ${POSTGRES_NOW} as now`.execute(this.#db);
    const [{ points, expire, now } = { points: Infinity, expire: 0, now: 0 }] = rows;
    const granted = Math.max(0, Math.min(requests, max - (points - requests)));
    if (granted < requests) await this.giveBack(key, requests - granted, expire);
    return { granted, used: Math.min(max, points), window: expire, leftMs: expire - now };
  }

  #takeInSqlite(key: string, requests: number, { max, windowMs }: RateWindow): Promise<CountedRate> {
    return this.#db.transaction().execute(async (transaction) => {
      const now = this.#now();
      const row = await transaction.selectFrom(TABLE).selectAll().where("key", "=", key).executeTakeFirst();
      const isOpen = row !== undefined && row.expire > now;
      const end = now + windowMs;
      // A clock that was set back does not make a window longer.
      const [used, expire] = isOpen ? [row.points, Math.min(row.expire, end)] : [0, end];
      const granted = Math.max(0, Math.min(requests, max - used));
      const points = used + granted;
      await transaction
        .insertInto(TABLE)
        .values({ key, points, expire })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ points, expire }))
        .execute();
      return { granted, used: points, window: expire, leftMs: expire - now };
    });
  }
}
