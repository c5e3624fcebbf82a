import type { Kysely } from "kysely";
import type { StoreTables } from "../tables/tables.ts";

const NAME = "keys-required-since";

/** Whether keys stay required, though the keys that made them so were removed. */
export async function hasKeysRequired(db: Kysely<StoreTables>): Promise<boolean> {
  const row = await db.selectFrom("nexus_facts").select("value").where("name", "=", NAME).executeTakeFirst();
  return row !== undefined;
}

/** Keeps an existing value. */
export async function recordKeysRequired(db: Kysely<StoreTables>, now: number): Promise<void> {
  await db
    .insertInto("nexus_facts")
    .values({ name: NAME, value: new Date(now).toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
