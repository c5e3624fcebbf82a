import type { Kysely } from "kysely";
import { instanceKey, type ServerInstance } from "../../auth/server-instance.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { sha256 } from "../../text/digest.ts";
import type { UnknownWrite } from "../../workshop/run/writes/file-write-ledger.ts";
import {
  RETENTION_MS,
  inTheWay,
  type EarlierWrite,
  type WriteLedger,
  type WriteOutcome,
  type WriteRecord,
} from "../../workshop/run/writes/write-ledger.ts";
import type { StoreTables, WriteRow } from "../tables/tables.ts";

/** Rows of forgotten writes are removed at most so often, because that reads all rows of the tenant. */
const REMOVE_MS = 24 * 60 * 60 * 1_000;

/** The writes of one server, shared by all processes. A refused write has no row. */
export class DatabaseWriteLedger implements WriteLedger {
  readonly isLasting = true;
  readonly #db: Kysely<StoreTables>;
  readonly #of: ServerInstance;
  readonly #now: () => number;
  #removedAt = -Infinity;

  constructor(db: Kysely<StoreTables>, of: ServerInstance, now: () => number) {
    this.#db = db;
    this.#of = of;
    this.#now = now;
  }

  async find(key: string): Promise<EarlierWrite | undefined> {
    return inTheWay(await this.#load(key), this.#now());
  }

  async begin(key: string, until: number, tool?: string): Promise<EarlierWrite | undefined> {
    const row = this.#row(key, { kind: "pending", at: this.#now(), until, tool });
    for (;;) {
      // A single statement, so that only one of several processes writes the row.
      const { numInsertedOrUpdatedRows } = await this.#db
        .insertInto("nexus_writes")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet(row)
            .where("nexus_writes.kind", "=", "done")
            .where("nexus_writes.at", "<", this.#oldest()),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 1n) return undefined;
      const earlier = await this.find(key);
      if (earlier) return earlier;
    }
  }

  async settle(key: string, outcome: WriteOutcome): Promise<void> {
    await settleIn(this.#db, this.#row(key, { ...outcome, at: this.#now() }));
    // The outcome is recorded, whether or not this succeeds.
    await this.#removeForgotten().catch(() => {});
  }

  /** All writes with unknown outcome, the oldest first. */
  async unknown(): Promise<UnknownWrite[]> {
    const { tenant, server, instance } = this.#of;
    const rows = await this.#db
      .selectFrom("nexus_writes")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("server", "=", server)
      .where("instance", "=", instance)
      .where("kind", "!=", "done")
      .execute();
    const found = rows.flatMap((row): UnknownWrite[] => {
      const earlier = inTheWay(recordOf(row), this.#now());
      return earlier?.kind === "unknown" ? [{ key: row.key, at: earlier.at, tool: earlier.tool }] : [];
    });
    return found.toSorted((a, b) => a.at - b.at);
  }

  /** The write whose caller got this id, wherever it was sent. */
  async findId(id: string): Promise<EarlierWrite | undefined> {
    // Other characters have a meaning in patterns, and no id has them.
    if (!/^[A-Za-z0-9]+$/.test(id)) return undefined;
    const { tenant, server, instance } = this.#of;
    const row = await this.#db
      .selectFrom("nexus_writes")
      .select("key")
      .where("tenant", "=", tenant)
      .where("server", "=", server)
      .where("instance", "=", instance)
      .where((where) => where.or([where("key", "=", id), where("key", "like", `${id} %`)]))
      .executeTakeFirst();
    return row && this.find(row.key);
  }

  /** Records the outcome of a write with unknown outcome; a known outcome is kept and returned. */
  async resolve(key: string, outcome: WriteOutcome): Promise<EarlierWrite | undefined> {
    const row = this.#row(key, { ...outcome, at: this.#now() });
    return this.#db.transaction().execute(async (transaction) => {
      // Locks the row: the first of two outcomes is kept.
      const before = await transaction
        .updateTable("nexus_writes")
        .set({ id: row.id })
        .where("id", "=", row.id)
        .returningAll()
        .executeTakeFirst();
      const earlier = before && inTheWay(recordOf(before), this.#now());
      if (earlier?.kind === "unknown") await settleIn(transaction, row);
      return earlier;
    });
  }

  async #removeForgotten(): Promise<void> {
    if (this.#now() - this.#removedAt < REMOVE_MS) return;
    this.#removedAt = this.#now();
    const { tenant, server, instance } = this.#of;
    await this.#db
      .deleteFrom("nexus_writes")
      .where("tenant", "=", tenant)
      .where("server", "=", server)
      .where("instance", "=", instance)
      .where("kind", "=", "done")
      .where("at", "<", this.#oldest())
      .execute();
  }

  async #load(key: string): Promise<WriteRecord | undefined> {
    const row = await this.#db
      .selectFrom("nexus_writes")
      .selectAll()
      .where("id", "=", this.#id(key))
      .executeTakeFirst();
    if (!row || (row.kind === "done" && row.at < this.#oldest())) return undefined;
    return recordOf(row);
  }

  #row(key: string, record: WriteRecord): WriteRow {
    const { kind, at } = record;
    return {
      id: this.#id(key),
      tenant: this.#of.tenant,
      server: this.#of.server,
      instance: this.#of.instance,
      key,
      kind,
      at,
      until: record.kind === "pending" ? record.until : null,
      tool: ("tool" in record && record.tool) || null,
      result: record.kind === "done" ? JSON.stringify(record.result) : null,
    };
  }

  #id(key: string): string {
    return sha256(instanceKey(this.#of, key));
  }

  /** Completed writes before this time are forgotten. */
  #oldest(): number {
    return this.#now() - RETENTION_MS;
  }
}

/** The servers of a tenant that have recorded writes, sorted by name. */
export async function findRecordingInstances(db: Kysely<StoreTables>, tenant: string): Promise<ServerInstance[]> {
  const rows = await db
    .selectFrom("nexus_writes")
    .select(["tenant", "server", "instance"])
    .distinct()
    .where("tenant", "=", tenant)
    .execute();
  return rows.toSorted((a, b) => (a.server < b.server ? -1 : 1));
}

async function settleIn(db: Kysely<StoreTables>, row: WriteRow): Promise<void> {
  if (row.kind === "refused") await db.deleteFrom("nexus_writes").where("id", "=", row.id).execute();
  else {
    await db
      .insertInto("nexus_writes")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  }
}

/** The columns were written by this program, so their format is known. */
function recordOf({ kind, at, until, tool, result }: WriteRow): WriteRecord {
  const named = tool === null ? {} : { tool };
  if (kind === "pending") return { kind, at, until: until ?? 0, ...named };
  if (kind === "done") return { kind, at, result: JSON.parse(result ?? "{}") as CallToolResult };
  return { kind: "unknown", at, ...named };
}
