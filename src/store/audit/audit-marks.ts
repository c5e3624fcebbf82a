import { CompiledQuery, type Kysely } from "kysely";
import type { StoreEngine } from "../tables/migrate.ts";
import type { AuditMarkRow, StoreTables } from "../tables/tables.ts";
import { recordsIn } from "./audit-blocks.ts";
import { NO_HASH, type ChainPlace, type MarkSigner } from "./audit-chain.ts";

/** No name of a tenant: its row counts the chains. */
const ALL_CHAINS = "*";

type Db = Kysely<StoreTables>;

/** Used for every batch of records, so they are not built again each time. Writing transactions of SQLite hold the lock of the file. */
const LOCK_HEAD = {
  sqlite: "select * from nexus_audit_heads where tenant = ?",
  postgres: "select * from nexus_audit_heads where tenant = $1 for update",
};
const PUT_HEAD = {
  sqlite: "update nexus_audit_heads set seq = ?, hash = ?, at = ?, broken_at = ?, mac = ? where tenant = ?",
  postgres: "update nexus_audit_heads set seq = $1, hash = $2, at = $3, broken_at = $4, mac = $5 where tenant = $6",
};

/** The signed rows beside the records: heads and checkpoints. */
export class AuditMarks {
  readonly #kind: StoreEngine["kind"];
  readonly #signer: MarkSigner;

  constructor(kind: StoreEngine["kind"], signer: MarkSigner) {
    this.#kind = kind;
    this.#signer = signer;
  }

  /** Locks the head of a tenant until the end of the transaction. It is created if there is none. */
  async lock(transaction: Db, tenant: string, now: number): Promise<AuditMarkRow> {
    const known = await this.#locked(transaction, tenant);
    if (known) return this.#trusted(transaction, known);
    const head = this.#signer.sign("head", { tenant, seq: 0, hash: NO_HASH, at: now, broken_at: null });
    const { numInsertedOrUpdatedRows: added } = await transaction
      .insertInto("nexus_audit_heads")
      .values(head)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (added === 1n) await this.#countChain(transaction, now);
    const created = (await this.#locked(transaction, tenant)) ?? head;
    return this.#trusted(transaction, created);
  }

  async putHead(transaction: Db, head: Omit<AuditMarkRow, "mac">): Promise<void> {
    const { tenant, seq, hash, at, broken_at: brokenAt, mac } = this.#signer.sign("head", head);
    const values = [seq, hash, at, brokenAt, mac, tenant];
    await transaction.executeQuery(CompiledQuery.raw(PUT_HEAD[this.#kind], values));
  }

  async putCheckpoint(transaction: Db, checkpoint: Omit<AuditMarkRow, "mac">): Promise<void> {
    const row = this.#signer.sign("checkpoint", checkpoint);
    await transaction
      .insertInto("nexus_audit_checkpoints")
      .values(row)
      .onConflict((conflict) => conflict.column("tenant").doUpdateSet(row))
      .execute();
  }

  async findHead(db: Db, tenant: string): Promise<{ mark: AuditMarkRow; isSigned: boolean } | undefined> {
    const mark = await db.selectFrom("nexus_audit_heads").selectAll().where("tenant", "=", tenant).executeTakeFirst();
    return mark && { mark, isSigned: this.#signer.isSigned("head", mark) };
  }

  async findCheckpoint(db: Db, tenant: string): Promise<{ mark: AuditMarkRow; isSigned: boolean } | undefined> {
    const rows = db.selectFrom("nexus_audit_checkpoints").selectAll().where("tenant", "=", tenant);
    const mark = await rows.executeTakeFirst();
    return mark && { mark, isSigned: this.#signer.isSigned("checkpoint", mark) };
  }

  /** Every tenant that has records or had some, sorted. */
  async tenants(db: Db): Promise<string[]> {
    const heads = await db.selectFrom("nexus_audit_heads").select("tenant").execute();
    const others = await db.selectFrom("nexus_audit").select("tenant").distinct().execute();
    const names = new Set([...heads, ...others].map(({ tenant }) => tenant));
    names.delete(ALL_CHAINS);
    return [...names].toSorted((a, b) => (a < b ? -1 : 1));
  }

  /** Whether there are as many heads as were ever created. */
  async areComplete(db: Db): Promise<boolean> {
    const heads = await db.selectFrom("nexus_audit_heads").selectAll().execute();
    const counted = heads.find(({ tenant }) => tenant === ALL_CHAINS);
    if (!counted) return heads.length === 0;
    return this.#signer.isSigned("chains", counted) && counted.seq === heads.length - 1 && counted.broken_at === null;
  }

  async #locked(transaction: Db, tenant: string): Promise<AuditMarkRow | undefined> {
    const { rows } = await transaction.executeQuery<AuditMarkRow>(CompiledQuery.raw(LOCK_HEAD[this.#kind], [tenant]));
    return rows[0];
  }

  /**
   * A head that was changed must not be signed again, because that would hide the change; and recording goes on. So the
   * chain continues behind everything that is there, with the place of the damage in all later heads.
   */
  async #trusted(transaction: Db, head: AuditMarkRow): Promise<AuditMarkRow> {
    const isNew = head.seq === 0;
    if (this.#signer.isSigned("head", head) && !isNew) return head;
    const { tenant } = head;
    const newest = await this.#newest(transaction, tenant);
    const checkpoint = await this.findCheckpoint(transaction, tenant);
    if (isNew && !newest && !checkpoint && this.#signer.isSigned("head", head)) return head;
    const last = [head, newest, checkpoint?.mark].reduce(
      (most, each) => (each && each.seq > (most?.seq ?? -1) ? each : most),
      undefined,
    );
    const { seq = 0, hash = NO_HASH } = last ?? {};
    return { ...head, seq, hash, broken_at: head.broken_at ?? seq + 1 };
  }

  async #newest(transaction: Db, tenant: string): Promise<ChainPlace | undefined> {
    const block = await transaction
      .selectFrom("nexus_audit")
      .select(["seq", "records"])
      .where("tenant", "=", tenant)
      .orderBy("seq", "desc")
      .limit(1)
      .executeTakeFirst();
    return block && recordsIn(block).at(-1);
  }

  async #countChain(transaction: Db, now: number): Promise<void> {
    const none = this.#signer.sign("chains", { tenant: ALL_CHAINS, seq: 0, hash: NO_HASH, at: now, broken_at: null });
    const insert = transaction.insertInto("nexus_audit_heads").values(none);
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
    const before = (await this.#locked(transaction, ALL_CHAINS)) ?? none;
    const heads = await transaction.selectFrom("nexus_audit_heads").select("tenant").execute();
    const seq = before.seq + 1;
    // Where a head or the count was removed or changed, it stays marked.
    const isRight = this.#signer.isSigned("chains", before) && heads.length - 1 === seq;
    const brokenAt = before.broken_at ?? (isRight ? null : seq);
    const { tenant, ...changed } = this.#signer.sign("chains", { ...before, seq, at: now, broken_at: brokenAt });
    await transaction.updateTable("nexus_audit_heads").set(changed).where("tenant", "=", tenant).execute();
  }
}
