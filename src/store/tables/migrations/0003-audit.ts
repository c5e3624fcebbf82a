import type { Kysely } from "kysely";
import { required } from "./columns.ts";

/** The audit. It refers to no tenant: the records of a removed tenant stay until their retention ends. */
export async function addAudit(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("nexus_audit")
    .addColumn("tenant", "text", required)
    .addColumn("seq", "bigint", required)
    .addColumn("at", "bigint", required)
    .addColumn("key_id", "text")
    .addColumn("server", "text", required)
    .addColumn("target", "text")
    .addColumn("outcome", "text", required)
    .addColumn("record", "text", required)
    .addColumn("hash", "text", required)
    .addPrimaryKeyConstraint("nexus_audit_key", ["tenant", "seq"])
    .execute();
  for (const name of ["nexus_audit_heads", "nexus_audit_checkpoints"]) {
    await schema
      .createTable(name)
      .addColumn("tenant", "text", (column) => column.primaryKey().notNull())
      .addColumn("seq", "bigint", required)
      .addColumn("hash", "text", required)
      .addColumn("at", "bigint", required)
      .addColumn("broken_at", "bigint")
      .addColumn("mac", "text", required)
      .execute();
  }
}
