import type { Kysely } from "kysely";
import { required } from "./columns.ts";

/**
 * Limits of tenants, which are JSON like those of keys, and how many requests were counted for keys and tenants in the
 * window that is open.
 */
export async function addLimits(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .alterTable("nexus_tenants")
    .addColumn("limits", "text", (column) => column.notNull().defaultTo("{}"))
    .execute();
  await schema
    .createTable("nexus_rates")
    .addColumn("key", "text", (column) => column.primaryKey().notNull())
    .addColumn("points", "bigint", required)
    .addColumn("expire", "bigint", required)
    .execute();
}
