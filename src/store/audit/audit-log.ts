import { setImmediate as nextTurn } from "node:timers/promises";
import { CompiledQuery, sql, type Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import { isoTime } from "../../text/duration.ts";
import type { StoreEngine } from "../tables/migrate.ts";
import type { AuditBlockRow, StoreTables, AuditMarkRow } from "../tables/tables.ts";
import { chainedBlocks, lineOf, recordsIn, blockOf } from "./audit-blocks.ts";
import {
  MarkSigner,
  parseRecord,
  NO_HASH,
  hashOf,
  type AuditEntry,
  type ChainPlace,
  type StoredAuditRecord,
  type KeptRecord,
} from "./audit-chain.ts";
import { isSelected, isUnfiltered, textsOf, timeOf, type AuditFilter } from "./audit-filter.ts";
import { AuditMarks } from "./audit-marks.ts";
import { KnownLosses, type KnownLoss } from "./known-losses.ts";
import type { Expectations, SeenAudit } from "./seen-audit.ts";

interface AuditLogOptions {
  key: Buffer;
  now: () => number;
  /** Undefined where nothing outside of the database is known of it. */
  seen?: SeenAudit | undefined;
}

interface UsageFilter {
  since: number;
  until: number;
  keyId?: string | undefined;
}

interface AuditUsage {
  keyId: string | null;
  server: string | null;
  outcome: string | null;
  count: number;
}

interface AuditPage {
  items: StoredAuditRecord[];
  /** Where the next page begins; undefined after the last one. */
  next: string | undefined;
}

const COLUMNS = "tenant, seq, last_seq, at, last_at, records";
const COLUMN_COUNT = 6;
/** Rows in one statement. */
const ROWS_AT_ONCE = 16;
/** Rows that are read at once. */
const BLOCKS_AT_ONCE = 64;
/** How many records are looked at in one query, so that no query takes long. */
const WINDOW = 2_000;
/** The clocks of processes that share a store may differ by so much. */
const CLOCKS_MS = 300_000;

/** The audit of all tenants: records in one chain of hashes for each tenant. */
export class AuditLog {
  readonly marks: AuditMarks;
  readonly #db: Kysely<StoreTables>;
  readonly #kind: StoreEngine["kind"];
  readonly #now: () => number;
  readonly #seen: SeenAudit | undefined;
  readonly #losses: KnownLosses;
  /** The statements by their number of rows. */
  readonly #inserts = new Map<number, string>();

  constructor({ db, kind }: Pick<StoreEngine, "db" | "kind">, { key, now, seen }: AuditLogOptions) {
    this.#db = db;
    this.#kind = kind;
    this.#now = now;
    this.#seen = seen;
    this.#losses = new KnownLosses(key);
    this.marks = new AuditMarks(kind, new MarkSigner(key));
  }

  /** Writes down what was seen of it. */
  async close(): Promise<void> {
    await this.#seen?.close();
  }

  /** Appends to the chain of a tenant, in one transaction. Other processes may append at the same time. */
  async append(tenant: string, entries: readonly AuditEntry[]): Promise<ChainPlace> {
    const { before, last } = await this.#db.transaction().execute(async (transaction) => {
      const at = this.#now();
      const head = await this.marks.lock(transaction, tenant, at);
      const { blocks, last: added } = chainedBlocks(tenant, entries, head);
      await this.#insert(transaction, blocks);
      await this.marks.putHead(transaction, { tenant, ...added, at, broken_at: head.broken_at });
      return { before: { seq: head.seq, hash: head.hash }, last: added };
    });
    this.#seen?.noteAppended(this, tenant, { before, last });
    return last;
  }

  /** Throws where nothing could be appended now. Nothing is written. */
  async requireAppendable(tenant: string): Promise<void> {
    const undone = new Error("undone");
    const trying = this.#db.transaction().execute(async (transaction) => {
      await this.marks.lock(transaction, tenant, this.#now());
      throw undone;
    });
    await trying.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  }

  /** What has to be in the audit, because this machine saw it. To be asked before the chain is read. */
  async expectations(): Promise<Expectations | undefined> {
    return this.#seen?.expectations(this);
  }

  noteVerified(tenant: string, head: ChainPlace): void {
    this.#seen?.noteVerified(this, tenant, head);
  }

  findLoss(): Promise<KnownLoss | undefined> {
    return this.#losses.find(this.#db);
  }

  /** From now on it is known that records were lost which were there before, and no damage. */
  async acceptLoss(): Promise<void> {
    if (!this.#seen) return;
    const forgotten = await this.#seen.forget(this);
    const loss = await this.#db
      .transaction()
      .execute((transaction) =>
        recordLoss(transaction, this.#losses, { ...forgotten, at: this.#now(), why: "accepted" }),
      );
    await this.#seen.startAgain(loss);
  }

  /** Whether an entry is among the newest records: the outcome of a write that failed may not be known. */
  async wasAppended(tenant: string, { at, text }: AuditEntry): Promise<boolean> {
    const { last } = await this.#bounds(tenant);
    const blocks = await this.#of(tenant)
      .select("records")
      .where("seq", ">", last - WINDOW)
      .where("at", "<=", at)
      .where("last_at", ">=", at)
      .execute();
    const written = `,${text.slice(1, -1)},"hash":"`;
    return blocks.some(({ records }) => records.includes(written));
  }

  /** The newest records first. */
  async list(
    tenant: string,
    filter: AuditFilter,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<AuditPage> {
    const items: StoredAuditRecord[] = [];
    const bounds = await this.#bounds(tenant);
    const end = Math.min(cursor === undefined ? Infinity : seqIn(cursor), bounds.last + 1);
    let size = Math.min(limit + 1, WINDOW);
    for (let before = end; before > bounds.first; size = WINDOW) {
      const from = Math.max(bounds.first, before - size);
      const blocks = await this.#window(tenant, { from, before }, filter).orderBy("seq", "desc").execute();
      for (const block of blocks) {
        for (const kept of recordsIn(block).toReversed()) {
          const record = parseRecord(kept);
          if (kept.seq >= end || !isSelected(record, filter)) continue;
          if (items.length === limit) return { items, next: String(items.at(-1)?.seq) };
          items.push(record);
        }
      }
      before = from;
      if (filter.since !== undefined && (await this.#endedBefore(tenant, from, filter.since))) break;
      await nextTurn();
    }
    return { items, next: undefined };
  }

  /** The oldest records first, as lines of JSON, many at a time. They have the very text that was hashed. */
  async *lines(tenant: string, filter: AuditFilter = {}): AsyncGenerator<string> {
    const isAll = isUnfiltered(filter);
    const { first, last } = await this.#bounds(tenant);
    for (let from = first; from <= last; from += WINDOW) {
      const before = Math.min(from + WINDOW, last + 1);
      const blocks = await this.#window(tenant, { from, before }, filter).orderBy("seq").execute();
      if (isAll) yield blocks.map(({ records }) => records).join("");
      else {
        const selected = blocks.flatMap(recordsIn).filter((record) => isSelected(parseRecord(record), filter));
        yield selected.map(lineOf).join("");
      }
    }
  }

  async find(tenant: string, seq: number): Promise<StoredAuditRecord | undefined> {
    const blocks = this.#of(tenant).select(["seq", "records"]).where("seq", "<=", seq);
    const block = await blocks.orderBy("seq", "desc").limit(1).executeTakeFirst();
    const record = block && recordsIn(block)[seq - block.seq];
    return record && parseRecord(record);
  }

  /** How many calls and attempts there are for each key, server and outcome. A record about several counts as several. */
  async usage(tenant: string, { since, until, keyId }: UsageFilter): Promise<AuditUsage[]> {
    const filter = { since, until, keyId };
    const usage = new Map<string, AuditUsage>();
    const bounds = await this.#bounds(tenant);
    for (let before = bounds.last + 1; before > bounds.first; before -= WINDOW) {
      const from = Math.max(bounds.first, before - WINDOW);
      for (const block of await this.#window(tenant, { from, before }, filter).execute()) {
        const records = recordsIn(block).map(parseRecord);
        for (const record of records) if (isSelected(record, filter)) countIn(usage, record);
      }
      if (await this.#endedBefore(tenant, from, since)) break;
      await nextTurn();
    }
    return [...usage.values()];
  }

  /** Rows in their order, from the first one whose number is greater. */
  async blocksAfter(tenant: string, seq: number): Promise<AuditBlockRow[]> {
    return this.#of(tenant).selectAll().where("seq", ">", seq).orderBy("seq").limit(BLOCKS_AT_ONCE).execute();
  }

  /** The head and the newest record, read at the same moment. */
  async newest(tenant: string): Promise<{ head: number; record: number }> {
    const head = sql<number | null>`(select seq from nexus_audit_heads where tenant = ${tenant})`;
    const record = sql<number | null>`(select max(last_seq) from nexus_audit where tenant = ${tenant})`;
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
   * that no trace is removed; `force` removes them. Throws ARGUMENTS_INVALID for a time in the future.
   */
  async prune(tenant: string, before: number, { force = false }: { force?: boolean } = {}): Promise<number> {
    if (!(before <= this.#now())) throw inFuture(before);
    let removed = 0;
    while (await this.#hasOlder(tenant, before)) {
      const now = this.#now();
      const pruned = await this.#db
        .transaction()
        .execute((transaction) => pruneSome(transaction, this.marks, { tenant, before, force, now }));
      removed += pruned.removed;
      if (!pruned.isMore) break;
    }
    return removed;
  }

  /** Without a lock: mostly there is nothing to remove. */
  async #hasOlder(tenant: string, before: number): Promise<boolean> {
    const oldest = await this.#of(tenant).select("at").orderBy("seq").limit(1).executeTakeFirst();
    return oldest !== undefined && oldest.at < before;
  }

  async #insert(transaction: Kysely<StoreTables>, blocks: readonly AuditBlockRow[]): Promise<void> {
    for (let at = 0; at < blocks.length; at += ROWS_AT_ONCE) {
      const rows = blocks.slice(at, at + ROWS_AT_ONCE);
      const values = rows.flatMap((row) => [row.tenant, row.seq, row.last_seq, row.at, row.last_at, row.records]);
      await transaction.executeQuery(CompiledQuery.raw(this.#insertOf(rows.length), values));
    }
  }

  /** Kysely would need longer to build it than the database to run it. */
  #insertOf(rows: number): string {
    const known = this.#inserts.get(rows);
    if (known !== undefined) return known;
    const place = (index: number) => (this.#kind === "postgres" ? `$${index + 1}` : "?");
    const row = (first: number) => Array.from({ length: COLUMN_COUNT }, (_, column) => place(first + column)).join();
    const values = Array.from({ length: rows }, (_, index) => `(${row(index * COLUMN_COUNT)})`);
    const statement = `insert into nexus_audit (${COLUMNS}) values ${values.join()}`;
    this.#inserts.set(rows, statement);
    return statement;
  }

  #of(tenant: string) {
    return this.#db.selectFrom("nexus_audit").where("tenant", "=", tenant);
  }

  async #bounds(tenant: string): Promise<{ first: number; last: number }> {
    const edge = (direction: "asc" | "desc") =>
      this.#of(tenant).select(["seq", "last_seq"]).orderBy("seq", direction).limit(1).executeTakeFirst();
    const [first, last] = [await edge("asc"), await edge("desc")];
    return { first: first?.seq ?? 0, last: last?.last_seq ?? -1 };
  }

  /** The rows whose first records have these numbers and that may have selected ones. */
  #window(tenant: string, { from, before }: { from: number; before: number }, filter: AuditFilter) {
    const { since, until } = filter;
    let blocks = this.#of(tenant).select(["seq", "records"]).where("seq", ">=", from).where("seq", "<", before);
    if (since !== undefined) blocks = blocks.where("last_at", ">=", since);
    if (until !== undefined) blocks = blocks.where("at", "<", until);
    const find = sql.raw(this.#kind === "postgres" ? "strpos" : "instr");
    for (const text of textsOf(filter)) blocks = blocks.where(sql<boolean>`${find}(records, ${text}) > 0`);
    return blocks;
  }

  /** Records are appended when a call has ended: what ended before this record did also started before. */
  async #endedBefore(tenant: string, seq: number, since: number): Promise<boolean> {
    const record = await this.find(tenant, seq);
    const duration = record?.["durationMs"];
    const ended = timeOf(record ?? {}) + (typeof duration === "number" ? duration : 0);
    return ended + CLOCKS_MS < since;
  }
}

/** With the newest records that are there now. */
async function recordLoss(
  db: Kysely<StoreTables>,
  losses: KnownLosses,
  { until, known, at, why }: Pick<KnownLoss, "until" | "at" | "why"> & { known: number },
): Promise<KnownLoss> {
  const before = await losses.find(db);
  const heads = await db.selectFrom("nexus_audit_heads").select(["tenant", "seq"]).execute();
  const all = { ...until };
  for (const { tenant, seq } of heads) all[tenant] = Math.max(seq, all[tenant] ?? 0);
  return losses.record(db, { at, why, until: all }, { before, known });
}

function countIn(counts: Map<string, AuditUsage>, record: StoredAuditRecord): void {
  const [keyId = null, server = null, outcome = null] = ["keyId", "server", "outcome"].map((name) =>
    textIn(record[name]),
  );
  const count = typeof record["count"] === "number" ? record["count"] : 1;
  const key = JSON.stringify([keyId, server, outcome]);
  const known = counts.get(key);
  if (known) known.count += count;
  else counts.set(key, { keyId, server, outcome, count });
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** It is a mistake, and would remove all records. */
function inFuture(before: number): NexusError {
  const shown = Number.isNaN(before) ? "This" : isoTime(before);
  return new NexusError("ARGUMENTS_INVALID", `${shown} is not in the past, so all records would be removed`, {
    hint: "Use a time in the past.",
    mayHaveReached: false,
  });
}

function seqIn(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new NexusError("ARGUMENTS_INVALID", `"${cursor}" is not a cursor`, {
    hint: "Use the value of next from the page before.",
    mayHaveReached: false,
  });
}

interface Pruning {
  tenant: string;
  /** Records of before that time are removed. */
  before: number;
  /** Whether records that were changed are removed as well. */
  force: boolean;
  now: number;
}

/** Removes the oldest records, at most those of some rows. `isMore`: there may be more to remove. */
async function pruneSome(
  transaction: Kysely<StoreTables>,
  marks: AuditMarks,
  { tenant, before, force, now }: Pruning,
): Promise<{ removed: number; isMore: boolean }> {
  const head = await marks.lock(transaction, tenant, now);
  const checkpoint = await marks.findCheckpoint(transaction, tenant);
  if (checkpoint && !checkpoint.isSigned && !force) throw damagedRecords(tenant);
  const blocks = await transaction
    .selectFrom("nexus_audit")
    .select(["seq", "last_at", "records"])
    .where("tenant", "=", tenant)
    .orderBy("seq")
    .limit(BLOCKS_AT_ONCE)
    .execute();
  const end = blocks.findIndex((block) => block.last_at >= before);
  const whole = end === -1 ? blocks : blocks.slice(0, end);
  const removed = whole.flatMap(recordsIn);
  const partial = end === -1 ? undefined : blocks[end];
  const rest = partial && splitAt(recordsIn(partial), before);
  removed.push(...(rest?.older ?? []));
  const last = removed.at(-1);
  if (!last) return { removed: 0, isMore: false };
  if (!force && !isChain(removed, checkpoint?.mark)) throw damagedRecords(tenant);
  await transaction.deleteFrom("nexus_audit").where("tenant", "=", tenant).where("seq", "<=", last.seq).execute();
  if (rest && rest.older.length > 0 && rest.newer.length > 0) {
    const kept = blockOf(tenant, rest.newer, rest.times);
    await transaction.insertInto("nexus_audit").values(kept).execute();
  }
  const { seq, hash } = last;
  await marks.putCheckpoint(transaction, { tenant, seq, hash, at: now, broken_at: null });
  if (force) await marks.putHead(transaction, afterForce(head, seq));
  return { removed: removed.length, isMore: blocks.length === BLOCKS_AT_ONCE && end === -1 };
}

/** The records before the first one that is not older than a time, and those from it on, with their times. */
function splitAt(records: readonly KeptRecord[], before: number) {
  const times = records.map((record) => timeOf(parseRecord(record)));
  const first = times.findIndex((at) => at >= before);
  const end = first === -1 ? records.length : first;
  const known = times.slice(end).filter((at) => !Number.isNaN(at));
  return { older: records.slice(0, end), newer: records.slice(end), times: known };
}

function isChain(records: readonly KeptRecord[], start: ChainPlace | undefined): boolean {
  let { seq, hash } = start ?? { seq: 0, hash: NO_HASH };
  return records.every((record) => {
    const isNext = record.seq === seq + 1 && record.hash === hashOf(hash, record.record);
    ({ seq, hash } = record);
    return isNext;
  });
}

/** Removed damage is not reported again. */
function afterForce({ broken_at: brokenAt, ...head }: AuditMarkRow, removed: number): Omit<AuditMarkRow, "mac"> {
  const isGone = brokenAt === null || brokenAt <= removed + 1;
  return { ...head, broken_at: isGone ? null : brokenAt };
}

function damagedRecords(tenant: string): NexusError {
  return new NexusError("DATA_DAMAGED", `Records in the audit of the tenant "${tenant}" were changed or removed`, {
    hint: `Nothing was removed. "nexus audit verify" names the first wrong record. Export the records, then remove them with --damaged.`,
    mayHaveReached: false,
  });
}
