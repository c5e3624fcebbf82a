import { sql, type Kysely } from "kysely";
import { required } from "./columns.ts";

/** Several records of the audit in one row. Each record that is there becomes a row with one record, of the same text and hash. */
export async function addAuditBlocks(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("nexus_audit_blocks")
    .addColumn("tenant", "text", required)
    .addColumn("seq", "bigint", required)
    .addColumn("last_seq", "bigint", required)
    .addColumn("at", "bigint", required)
    .addColumn("last_at", "bigint", required)
    .addColumn("records", "text", required)
    .addPrimaryKeyConstraint("nexus_audit_blocks_key", ["tenant", "seq"])
    .execute();
  await sql`insert into nexus_audit_blocks (tenant, seq, last_seq, at, last_at, records)
    select tenant, seq, seq, at, at, substr(record, 1, length(record) - 1) || ',"hash":"' || hash || ${'"}\n'}
    from nexus_audit`.execute(db);
  await schema.dropTable("nexus_audit").execute();
  await schema.alterTable("nexus_audit_blocks").renameTo("nexus_audit").execute();
}
