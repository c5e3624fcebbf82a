import { sql, type Kysely } from "kysely";
import { ofTenant, required } from "./columns.ts";

/** The first tables. Published migrations are never edited: a change is a new migration. */
export async function createStore(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const table = (name: string, key: string) =>
    schema.createTable(name).addColumn(key, "text", (column) => column.primaryKey().notNull());
  await table("nexus_facts", "name").addColumn("value", "text", required).execute();
  await table("nexus_generations", "topic").addColumn("value", "bigint", required).execute();
  await table("nexus_tenants", "name").addColumn("created_at", "bigint", required).execute();
  await table("nexus_api_keys", "id")
    .addColumn("tenant", "text", ofTenant)
    .addColumn("name", "text", required)
    .addColumn("role", "text", required)
    .addColumn("grants", "text", required)
    .addColumn("limits", "text", required)
    .addColumn("all_tenants", "bigint", required)
    .addColumn("hash", "text", (column) => column.notNull().unique())
    .addColumn("former_hash", "text")
    .addColumn("former_until", "bigint")
    .addColumn("created_at", "bigint", required)
    .addColumn("expires_at", "bigint")
    .addColumn("revoked_at", "bigint")
    .addColumn("used_at", "bigint")
    .execute();
  await table("nexus_secrets", "id")
    .addColumn("tenant", "text", ofTenant)
    .addColumn("sealed", "text", required)
    .addColumn("changed_at", "bigint", required)
    .execute();
  await table("nexus_writes", "id")
    .addColumn("tenant", "text", ofTenant)
    .addColumn("server", "text", required)
    .addColumn("instance", "text", required)
    .addColumn("key", "text", required)
    .addColumn("kind", "text", required)
    .addColumn("at", "bigint", required)
    .addColumn("until", "bigint")
    .addColumn("tool", "text")
    .addColumn("result", "text")
    .execute();
  await table("nexus_trust", "id")
    .addColumn("file", "text", required)
    .addColumn("fingerprint", "text", required)
    .execute();
  await table("nexus_eras", "id")
    .addColumn("tenant", "text", required)
    .addColumn("era", "text", required)
    .addColumn("expires_at", "bigint", required)
    .execute();
  await table("nexus_answers", "id")
    .addColumn("tenant", "text", required)
    .addColumn("key", "text", required)
    .addColumn("result", "text", required)
    .addColumn("expires_at", "bigint", required)
    .addColumn("stored_at", "bigint", required)
    .execute();
  for (const name of ["api_keys", "secrets", "writes", "answers"]) {
    await schema.createIndex(`nexus_${name}_by_tenant`).on(`nexus_${name}`).column("tenant").execute();
  }
  await sql`insert into nexus_tenants (name, created_at) values ('default', ${Date.now()})`.execute(db);
}
