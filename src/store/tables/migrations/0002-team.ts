import type { Kysely } from "kysely";
import { ofTenant, required } from "./columns.ts";

/** Servers and sets of tenants, and the definitions that servers list. */
export async function addTeam(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const table = (name: string) =>
    schema
      .createTable(name)
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("tenant", "text", ofTenant);
  await table("nexus_servers")
    .addColumn("name", "text", required)
    .addColumn("sealed", "text", required)
    .addColumn("origin", "text", required)
    .addColumn("changed_at", "bigint", required)
    .execute();
  await table("nexus_sets")
    .addColumn("name", "text", required)
    .addColumn("definition", "text", required)
    .addColumn("changed_at", "bigint", required)
    .execute();
  await table("nexus_definitions")
    .addColumn("server", "text", required)
    .addColumn("kind", "text", required)
    .addColumn("name", "text", required)
    .addColumn("accepted_hash", "text")
    .addColumn("accepted", "text")
    .addColumn("current_hash", "text")
    .addColumn("current", "text")
    .addColumn("changed_at", "bigint", required)
    .execute();
  for (const name of ["servers", "sets", "definitions"]) {
    await schema.createIndex(`nexus_${name}_by_tenant`).on(`nexus_${name}`).column("tenant").execute();
  }
}
