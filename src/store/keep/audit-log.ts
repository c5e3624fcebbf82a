import { CompiledQuery, sql, type Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { StoreEngine } from "../tables/migrate.ts";
import type { AuditMarkRow, AuditRow, StoreTables } from "../tables/tables.ts";
import {
  chainedRow,
  hashOf,
  MarkSigner,
  NO_HASH,
  parseRecord,
  type AuditEntry,
  type StoredAuditRecord,
} from "./audit-chain.ts";
import { AuditMarks } from "./audit-marks.ts";

export interface AuditLogOptions {
  key: Buffer;
  now: () => number;
}

export interface AuditFilter {
  /** Milliseconds since 1970; the first one is included, the other is not. */
  since?: number | undefined;
  until?: number | undefined;
  keyId?: string | undefined;
  server?: string | undefined;
  /** `tool`, `server.tool`, or the name with the prefix of its server. */
  tool?: string | undefined;
  outcome?: string | undefined;
}

interface UsageFilter {
  since: number;
  until: number;
  keyId?: string | undefined;
}

export interface AuditUsage {
  keyId: string | null;
  server: string | null;
  outcome: string | null;
  count: number;
}

const COUNTED = ["key_id", "server", "outcome"] as const;
/** Outcomes of records that may be about several events. */
const SEVERAL = ["refused", "dropped"];
type CountedColumns = Pick<AuditRow, (typeof COUNTED)[number]>;

export interface AuditPage {
  items: StoredAuditRecord[];
  /** Where the next page begins; undefined after the last one. */
  next: string | undefined;
}

/** A place in a chain that is right. */
export interface ChainPlace {
  seq: number;
  hash: string;
}

const COLUMNS = "tenant, seq, at, key_id, server, target, outcome, record, hash";
/** Rows in one statement of SQLite: a long statement is compiled once and kept. Kysely would need longer to build it than the database to run it. */
const INSERTS = [100, 10, 1].map((size) => ({
  size,
  statement: `insert into nexus_audit (${COLUMNS}) values ${Array.from({ length: size }, () => "(?,?,?,?,?,?,?,?,?)").join()}`,
}));
/** For PostgreSQL: one value for all rows costs this process less than nine for each. */
const INSERT_JSON = `insert into nexus_audit (${COLUMNS}) select ${COLUMNS} from json_to_recordset($1::json) as rows
  (tenant text, seq bigint, at bigint, key_id text, server text, target text, outcome text, record text, hash text)`;
/** How many records are looked at in one query, so that no query takes long. */
const WINDOW = 2_000;
/** A record is removed in one transaction with at most so many others. */
const PRUNED_AT_ONCE = 2_000;
/** The clocks of processes that share a store may differ by so much. */
const CLOCKS_MS = 300_000;

/** The audit of all tenants: records in one chain of hashes for each tenant. */
export class AuditLog {
  readonly marks: AuditMarks;
  readonly #db: Kysely<StoreTables>;
  readonly #kind: StoreEngine["kind"];
  readonly #now: () => number;

  constructor({ db, kind }: Pick<StoreEngine, "db" | "kind">, { key, now }: AuditLogOptions) {
    this.#db = db;
    this.#kind = kind;
    this.#now = now;
    this.marks = new AuditMarks(kind, new MarkSigner(key));
  }

  /** Appends to the chain of a tenant, in one transaction. Other processes may append at the same time. */
  async append(tenant: string, entries: readonly AuditEntry[]): Promise<ChainPlace> {
    return this.#db.transaction().execute(async (transaction) => {
      const at = this.#now();
      const head = await this.marks.lock(transaction, tenant, at);
      let { seq, hash } = head;
      const rows: AuditRow[] = [];
      for (const entry of entries) {
        const row = chainedRow(tenant, entry, { seq: ++seq, before: hash });
        ({ hash } = row);
        rows.push(row);
      }
      await this.#insert(transaction, rows);
      await this.marks.putHead(transaction, { tenant, seq, hash, at, broken_at: head.broken_at });
      return { seq, hash };
    });
  }

  /** Whether an entry is among the newest records: the outcome of a write that failed may not be known. */
  async wasAppended(tenant: string, { at, text }: AuditEntry): Promise<boolean> {
    const { last } = await this.#bounds(tenant);
    const same = this.#of(tenant)
      .select("record")
      .where("seq", ">", last - WINDOW)
      .where("at", "=", at);
    const rows = await same.execute();
    return rows.some(({ record }) => record.endsWith(text.slice(1)));
  }

  /** The newest records first. */
  async list(
    tenant: string,
    filter: AuditFilter,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<AuditPage> {
    const items: StoredAuditRecord[] = [];
    const bounds = await this.#bounds(tenant);
    let before = Math.min(cursor === undefined ? Infinity : seqIn(cursor), bounds.last + 1);
    while (before > bounds.first) {
      const from = Math.max(bounds.first, before - WINDOW);
      const wanted = limit + 1 - items.length;
      const rows = await this.#window(tenant, { from, before }, filter).orderBy("seq", "desc").limit(wanted).execute();
      items.push(...rows.map(parseRecord));
      if (items.length > limit) return { items: items.slice(0, limit), next: String(items[limit - 1]?.seq) };
      before = from;
      if (filter.since !== undefined && (await this.#endedBefore(tenant, from, filter.since))) break;
    }
    return { items, next: undefined };
  }

  /** The oldest records first, as lines of JSON, many at a time. They have the very text that was hashed. */
  async *lines(tenant: string, filter: AuditFilter = {}): AsyncGenerator<string> {
    const { first, last } = await this.#bounds(tenant);
    for (let from = first; from <= last; from += WINDOW) {
      const rows = await this.#window(tenant, { from, before: Math.min(from + WINDOW, last + 1) }, filter)
        .orderBy("seq")
        .execute();
      yield rows.map(({ record, hash }) => `${record.slice(0, -1)},"hash":"${hash}"}\n`).join("");
    }
  }

  async find(tenant: string, seq: number): Promise<StoredAuditRecord | undefined> {
    const row = await this.#of(tenant).select(["seq", "record", "hash"]).where("seq", "=", seq).executeTakeFirst();
    return row && parseRecord(row);
  }

  /** How many calls and attempts there are for each key, server and outcome. A record about several counts as several. */
  async usage(tenant: string, { since, until, keyId }: UsageFilter): Promise<AuditUsage[]> {
    const usage = new Map<string, AuditUsage>();
    const add = ({ key_id: key, server, outcome }: CountedColumns, count: number) => {
      const of = JSON.stringify([key, server, outcome]);
      const known = usage.get(of);
      if (known) known.count += count;
      else usage.set(of, { keyId: key, server, outcome, count });
    };
    const bounds = await this.#bounds(tenant);
    for (let before = bounds.last + 1; before > bounds.first; before -= WINDOW) {
      const from = Math.max(bounds.first, before - WINDOW);
      const rows = this.#window(tenant, { from, before }, { since, until, keyId }).clearSelect();
      const counted = rows.select((select) => [...COUNTED, select.fn.countAll<number>().as("count")]).groupBy(COUNTED);
      for (const row of await counted.execute()) add(row, row.count);
      const several = rows.select([...COUNTED, "record"]).where("outcome", "in", SEVERAL);
      for (const row of await several.execute()) add(row, repetitionsIn(row.record));
      if (await this.#endedBefore(tenant, from, since)) break;
    }
    return [...usage.values()];
  }

  /** Rows in their order, from the first one after `seq`. */
  async rowsAfter(tenant: string, seq: number, limit = WINDOW): Promise<AuditRow[]> {
    return this.#of(tenant).selectAll().where("seq", ">", seq).orderBy("seq").limit(limit).execute();
  }

  /** The head and the newest record, read at the same moment. */
  async newest(tenant: string): Promise<{ head: number; record: number }> {
    const head = sql<number | null>`(select seq from nexus_audit_heads where tenant = ${tenant})`;
    const record = sql<number | null>`(select max(seq) from nexus_audit where tenant = ${tenant})`;
    const { rows } = await sql<{ head: number | null; record: number | null }>`
      select ${head} as head, ${record} as record`.execute(this.#db);
    return { head: rows[0]?.head ?? 0, record: rows[0]?.record ?? 0 };
  }

  async findMarks(tenant: string) {
    const { marks } = this;
    return { head: await marks.findHead(this.#db, tenant), checkpoint: await marks.findCheckpoint(this.#db, tenant) };
  }

  tenants(): Promise<string[]> {
    return this.marks.tenants(this.#db);
  }

  /** Whether no chain was removed as a whole. */
  areChainsComplete(): Promise<boolean> {
    return this.marks.areComplete(this.#db);
  }

  /**
   * Removes records of before a time, and leaves a signed checkpoint. Throws DATA_DAMAGED for records that were changed, so
   * that no trace is removed; `force` removes them.
   */
  async prune(tenant: string, before: number, { force = false }: { force?: boolean } = {}): Promise<number> {
    let removed = 0;
    for (;;) {
      const now = await this.#pruneSome(tenant, before, force);
      removed += now;
      if (now < PRUNED_AT_ONCE) return removed;
    }
  }

  async #pruneSome(tenant: string, before: number, force: boolean): Promise<number> {
    if (!(await this.#hasOlder(tenant, before))) return 0;
    return this.#db.transaction().execute(async (transaction) => {
      const at = this.#now();
      const head = await this.marks.lock(transaction, tenant, at);
      const checkpoint = await this.marks.findCheckpoint(transaction, tenant);
      if (checkpoint && !checkpoint.isSigned && !force) throw damagedRecords(tenant);
      const rows = await transaction
        .selectFrom("nexus_audit")
        .select(["seq", "at", "record", "hash"])
        .where("tenant", "=", tenant)
        .orderBy("seq")
        .limit(PRUNED_AT_ONCE)
        .execute();
      const kept = rows.findIndex((row) => row.at >= before);
      const removed = kept === -1 ? rows : rows.slice(0, kept);
      const last = removed.at(-1);
      if (!last) return 0;
      if (!force && !isChain(removed, checkpoint?.mark)) throw damagedRecords(tenant);
      await transaction
        .deleteFrom("nexus_audit")
        .where("tenant", "=", tenant)
        .where("seq", "<=", last.seq)
        .executeTakeFirst();
      await this.marks.putCheckpoint(transaction, { tenant, seq: last.seq, hash: last.hash, at, broken_at: null });
      if (force) await this.marks.putHead(transaction, afterForce(head, last.seq));
      return removed.length;
    });
  }

  /** Without a lock: mostly there is nothing to remove. */
  async #hasOlder(tenant: string, before: number): Promise<boolean> {
    const oldest = await this.#of(tenant).select("at").orderBy("seq").limit(1).executeTakeFirst();
    return oldest !== undefined && oldest.at < before;
  }

  async #insert(transaction: Kysely<StoreTables>, rows: readonly AuditRow[]): Promise<void> {
    if (this.#kind === "postgres") {
      await transaction.executeQuery(CompiledQuery.raw(INSERT_JSON, [JSON.stringify(rows)]));
      return;
    }
    let at = 0;
    for (const { size, statement } of INSERTS) {
      for (; rows.length - at >= size; at += size) {
        const values: unknown[] = [];
        for (let row = at; row < at + size; row++) addValues(values, rows[row]);
        await transaction.executeQuery(CompiledQuery.raw(statement, values));
      }
    }
  }

  #of(tenant: string) {
    return this.#db.selectFrom("nexus_audit").where("tenant", "=", tenant);
  }

  async #bounds(tenant: string): Promise<{ first: number; last: number }> {
    const edge = (direction: "asc" | "desc") =>
      this.#of(tenant).select("seq").orderBy("seq", direction).limit(1).executeTakeFirst();
    const [first, last] = [await edge("asc"), await edge("desc")];
    return { first: first?.seq ?? 0, last: last?.seq ?? -1 };
  }

  #window(tenant: string, { from, before }: { from: number; before: number }, filter: AuditFilter) {
    const { since, until, keyId, server, tool, outcome } = filter;
    let rows = this.#of(tenant).select(["seq", "record", "hash"]).where("seq", ">=", from).where("seq", "<", before);
    if (since !== undefined) rows = rows.where("at", ">=", since);
    if (until !== undefined) rows = rows.where("at", "<", until);
    if (keyId !== undefined) rows = rows.where("key_id", "=", keyId);
    if (server !== undefined) rows = rows.where("server", "=", server);
    if (outcome !== undefined) rows = rows.where("outcome", "=", outcome);
    if (tool === undefined) return rows;
    const [owner = "", ...rest] = tool.split(".");
    const named = (name: string) =>
      sql<boolean>`(target = ${name} or target like ${`%\\_\\_${escaped(name)}`} escape '\\')`;
    const ofServer = sql<boolean>`(server = ${owner} and ${named(rest.join("."))})`;
    return rows.where(sql<boolean>`(${named(tool)} or ${rest.length > 0 ? ofServer : sql`1 = 0`})`);
  }

  /** Records are appended when a call has ended: what ended before this record did also started before. */
  async #endedBefore(tenant: string, seq: number, since: number): Promise<boolean> {
    const record = await this.find(tenant, seq);
    const duration = record?.["durationMs"];
    const ended = Date.parse(String(record?.["at"])) + (typeof duration === "number" ? duration : 0);
    return ended + CLOCKS_MS < since;
  }
}

/** In the order of the columns. */
function addValues(values: unknown[], row: AuditRow | undefined): void {
  if (!row) return;
  const { tenant, seq, at, key_id: keyId, server, target, outcome, record, hash } = row;
  values.push(tenant, seq, at, keyId, server, target, outcome, record, hash);
}

/** How many more a record is about than one. */
function repetitionsIn(record: string): number {
  const read = parseJson(record);
  return isRecord(read) && typeof read["count"] === "number" ? read["count"] - 1 : 0;
}

function escaped(text: string): string {
  return text.replaceAll(/[%_\\]/g, String.raw`\$&`);
}

function isChain(rows: readonly Pick<AuditRow, "seq" | "record" | "hash">[], start: ChainPlace | undefined): boolean {
  let { seq, hash } = start ?? { seq: 0, hash: NO_HASH };
  return rows.every((row) => {
    const isNext = row.seq === seq + 1 && row.hash === hashOf(hash, row.record);
    ({ seq, hash } = row);
    return isNext;
  });
}

/** Removed damage is not reported again. */
function afterForce({ broken_at: brokenAt, ...head }: AuditMarkRow, removed: number): Omit<AuditMarkRow, "mac"> {
  const isGone = brokenAt === null || brokenAt <= removed + 1;
  return { ...head, broken_at: isGone ? null : brokenAt };
}

function seqIn(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new NexusError("ARGUMENTS_INVALID", `"${cursor}" is not a cursor`, {
    hint: "Use the value of next from the page before.",
    mayHaveReached: false,
  });
}

function damagedRecords(tenant: string): NexusError {
  return new NexusError("DATA_DAMAGED", `Records in the audit of the tenant "${tenant}" were changed or removed`, {
    hint: `Nothing was removed. "nexus audit verify" names the first wrong record. Export the records, then remove them with --damaged.`,
    mayHaveReached: false,
  });
}
