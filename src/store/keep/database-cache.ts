import { sql, type Kysely } from "kysely";
import type { CachedAnswer, CacheStore } from "../../client/conversation/response-cache.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";

const MAX_ANSWERS = 5_000;
/** The maximum length of an answer as JSON. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** Cached answers of one tenant's servers. The oldest answers are removed first. */
export class DatabaseCache implements CacheStore {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #now: () => number;
  readonly #maxAnswers: number;

  constructor(
    db: Kysely<StoreTables>,
    { tenant, now, maxAnswers = MAX_ANSWERS }: { tenant: string; now: () => number; maxAnswers?: number },
  ) {
    this.#db = db;
    this.#tenant = tenant;
    this.#now = now;
    this.#maxAnswers = maxAnswers;
  }

  async get(key: string): Promise<CachedAnswer | undefined> {
    const row = await this.#db
      .selectFrom("nexus_answers")
      .select(["result", "expires_at"])
      .where("id", "=", this.#id(key))
      .where("expires_at", ">", this.#now())
      .executeTakeFirst();
    return row && { result: JSON.parse(row.result) as Result, expiresAt: row.expires_at };
  }

  async set(key: string, { result, expiresAt }: CachedAnswer): Promise<void> {
    const text = JSON.stringify(result);
    if (text.length > MAX_LENGTH) return;
    const row = { id: this.#id(key), tenant: this.#tenant, key, result: text };
    const times = { expires_at: Math.round(expiresAt), stored_at: this.#now() };
    await this.#db
      .insertInto("nexus_answers")
      .values({ ...row, ...times })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ result: text, ...times }))
      .execute();
    await this.#limit();
  }

  async forget(prefix: string): Promise<void> {
    await this.#db
      .deleteFrom("nexus_answers")
      .where("tenant", "=", this.#tenant)
      .where(sql<string>`substr(key, 1, length(cast(${prefix} as text)))`, "=", prefix)
      .execute();
  }

  async #limit(): Promise<void> {
    const ours = this.#db.deleteFrom("nexus_answers").where("tenant", "=", this.#tenant);
    await ours.where("expires_at", "<=", this.#now()).execute();
    const kept = this.#db
      .selectFrom("nexus_answers")
      .select("id")
      .where("tenant", "=", this.#tenant)
      .orderBy("stored_at", "desc")
      .orderBy("id")
      .limit(this.#maxAnswers);
    await ours.where("id", "not in", kept).execute();
  }

  #id(key: string): string {
    return sha256(`${this.#tenant}\n${key}`);
  }
}
