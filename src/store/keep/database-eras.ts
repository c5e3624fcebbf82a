import type { Kysely } from "kysely";
import { LIFE_MS, type EraCache } from "../../host/servers/era-cache.ts";
import type { Era } from "../../protocol/revisions.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";

/** Remembers the era of servers. It is only a cache, so database failures are ignored. */
export class DatabaseEras implements EraCache {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, tenant: string, now: () => number) {
    this.#db = db;
    this.#tenant = tenant;
    this.#now = now;
  }

  async find(key: string): Promise<Era | undefined> {
    return (await this.#load(key))?.era;
  }

  async remember(key: string, era: Era | undefined): Promise<void> {
    const before = await this.#load(key);
    const now = this.#now();
    // An unchanged era is written again only after half of its lifetime.
    if (before?.era === era && (!before || !era || before.expiresAt - now > LIFE_MS[era] / 2)) return;
    await this.#write(key, era).catch(() => {});
  }

  async #write(key: string, era: Era | undefined): Promise<void> {
    const id = this.#id(key);
    const now = this.#now();
    await this.#db
      .deleteFrom("nexus_eras")
      .where((where) => where.or([where("id", "=", id), where("expires_at", "<=", now)]))
      .execute();
    if (!era) return;
    const row = { id, tenant: this.#tenant, era, expires_at: now + LIFE_MS[era] };
    await this.#db
      .insertInto("nexus_eras")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  }

  async #load(key: string): Promise<{ era: Era; expiresAt: number } | undefined> {
    const row = await this.#db
      .selectFrom("nexus_eras")
      .select(["era", "expires_at"])
      .where("id", "=", this.#id(key))
      .executeTakeFirst()
      .catch(() => undefined);
    if (!row || row.expires_at <= this.#now()) return undefined;
    return row.era === "modern" || row.era === "legacy" ? { era: row.era, expiresAt: row.expires_at } : undefined;
  }

  #id(key: string): string {
    return sha256(`${this.#tenant}\n${key}`);
  }
}
