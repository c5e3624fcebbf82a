import type { Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import type { AuditMarkRow, StoreTables } from "../tables/tables.ts";
import { blockOf, recordsIn } from "./audit-blocks.ts";
import { hashOf, NO_HASH, parseRecord, type ChainPlace, type KeptRecord } from "./audit-chain.ts";
import { timeOf } from "./audit-filter.ts";
import type { AuditMarks } from "./audit-marks.ts";

interface Pruning {
  tenant: string;
  /** Records of before that time are removed. */
  before: number;
  /** Whether records that were changed are removed as well. */
  force: boolean;
  now: number;
}

/** Rows in one transaction. */
const BLOCKS_AT_ONCE = 64;

/** Removes the oldest records, at most those of some rows. `isMore`: there may be more to remove. */
export async function pruneSome(
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
