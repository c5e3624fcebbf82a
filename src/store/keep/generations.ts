import { sql, type Kysely } from "kysely";
import type { StoreTables } from "../tables/tables.ts";

/** Topics of changes that other processes must notice. */
export const TOPICS = ["tenants", "keys", "servers", "sets", "definitions", "apis"] as const;

export type ChangeTopic = (typeof TOPICS)[number];

/** Announces a change. Must be called in the transaction of the change. */
export async function announce(transaction: Kysely<StoreTables>, topic: ChangeTopic): Promise<void> {
  await transaction
    .insertInto("nexus_generations")
    .values({ topic, value: 1 })
    .onConflict((conflict) => conflict.column("topic").doUpdateSet({ value: sql`nexus_generations.value + 1` }))
    .execute();
}

export async function loadGenerations(db: Kysely<StoreTables>): Promise<Map<string, number>> {
  const rows = await db.selectFrom("nexus_generations").selectAll().execute();
  return new Map(rows.map(({ topic, value }) => [topic, value]));
}
