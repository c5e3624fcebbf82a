import type { Kysely } from "kysely";
import { ofTenant, required } from "./columns.ts";

/** Published versions of APIs, the servers that they are, and how much each version is used. */
export async function addPublishedApis(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const table = (name: string) =>
    schema
      .createTable(name)
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("tenant", "text", ofTenant)
      .addColumn("api", "text", required);
  await table("nexus_api_versions")
    .addColumn("version", "text", required)
    .addColumn("record", "text", required)
    .addColumn("content", "text", required)
    .addColumn("mac", "text", required)
    .execute();
  await table("nexus_api_instances")
    .addColumn("server", "text", required)
    .addColumn("definition", "text", required)
    .addColumn("mac", "text", required)
    .execute();
  await table("nexus_api_usage")
    .addColumn("server", "text", required)
    .addColumn("version", "text", required)
    .addColumn("calls", "bigint", required)
    .addColumn("used_at", "bigint", required)
    .execute();
  for (const name of ["versions", "instances", "usage"]) {
    await schema.createIndex(`nexus_api_${name}_by_tenant`).on(`nexus_api_${name}`).column("tenant").execute();
  }
}
