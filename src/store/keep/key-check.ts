import type { Kysely } from "kysely";
import type { StoreTables } from "../tables/tables.ts";

const NAME = "master-key";

/** The check value of the store's master key; undefined in a new store. */
export async function findKeyCheck(db: Kysely<StoreTables>): Promise<string | undefined> {
  const row = await db.selectFrom("nexus_facts").select("value").where("name", "=", NAME).executeTakeFirst();
  return row?.value;
}

/** Keeps an existing value. */
export async function recordKeyCheck(db: Kysely<StoreTables>, value: string): Promise<void> {
  await db
    .insertInto("nexus_facts")
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
