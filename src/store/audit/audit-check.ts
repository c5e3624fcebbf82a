import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { AuditBlockRow } from "../tables/tables.ts";
import { recordsIn } from "./audit-blocks.ts";
import { hashOf, NO_HASH, type ChainPlace } from "./audit-chain.ts";
import { timeOf } from "./audit-filter.ts";
import type { AuditLog } from "./audit-log.ts";
import type { KnownLoss } from "./known-losses.ts";
import type { Expectations } from "./seen-audit.ts";

/** What is wrong in the audit of a tenant: the first thing, in the order of the chain. */
interface AuditDamage {
  /** The record that is wrong or missing; the newest one where the head or a checkpoint is. */
  seq: number;
  problem: string;
}

export interface AuditCheck {
  tenant: string;
  /** How many records are right. */
  records: number;
  /** The first one that is kept. */
  first: number;
  /** The newest record. A copy of it at another place proves later that nothing before it was changed. */
  head: ChainPlace;
  damage: AuditDamage | undefined;
  /** Records up to this number were lost on purpose: a backup was restored, or their loss was accepted. */
  lost?: { until: number; at: number; why: KnownLoss["why"] };
}

/** Verifies the chain of a tenant, while others may append to it. Reads every record. */
export async function checkAudit(audit: AuditLog, tenant: string): Promise<AuditCheck> {
  const [expected, loss] = [await audit.expectations(), await audit.findLoss()];
  for (;;) {
    const found = await checkOnce(audit, tenant);
    if (found === "pruned") continue;
    const until = loss?.until[tenant];
    const lost = loss && until !== undefined ? { lost: { until, at: loss.at, why: loss.why } } : {};
    return { ...(await compared(audit, found, expected)), ...lost };
  }
}

/** An older state that was put back is right in itself. */
async function compared(audit: AuditLog, check: AuditCheck, expected: Expectations | undefined): Promise<AuditCheck> {
  if (!expected || check.damage) return check;
  const { tenant, head } = check;
  const missing = expected.problem === undefined ? await expected.findMissing(audit, tenant) : undefined;
  const problem = expected.problem ?? missing?.problem;
  if (problem === undefined) {
    audit.noteVerified(tenant, head);
    return check;
  }
  return { ...check, damage: { seq: Math.min(head.seq + 1, missing?.place.seq ?? Infinity), problem } };
}

/** All tenants; one that is missing as a whole is damage without a record. */
export async function checkAllAudits(audit: AuditLog): Promise<{ checks: AuditCheck[]; isComplete: boolean }> {
  const checks: AuditCheck[] = [];
  const expected = await audit.expectations();
  // Also those of which nothing is left.
  const tenants = new Set([...(await audit.tenants()), ...(expected?.places.keys() ?? [])]);
  for (const tenant of tenants) checks.push(await checkAudit(audit, tenant));
  return { checks, isComplete: await audit.areChainsComplete() };
}

/** For a list of problems of the whole store. */
export async function findAuditDamage(audit: AuditLog): Promise<string[]> {
  const { checks, isComplete } = await checkAllAudits(audit);
  const problems = checks.flatMap(({ tenant, damage }) =>
    damage ? [`nexus_audit: tenant "${tenant}": ${damage.problem}`] : [],
  );
  return isComplete ? problems : [...problems, MISSING_CHAIN];
}

export const MISSING_CHAIN = "nexus_audit_heads: a head is missing, or the audit of a whole tenant";

async function checkOnce(audit: AuditLog, tenant: string): Promise<AuditCheck | "pruned"> {
  const { head, checkpoint } = await audit.findMarks(tenant);
  const { seq: start, hash } = checkpoint?.mark ?? { seq: 0, hash: NO_HASH };
  const place = { seq: start, hash };
  const known = head ? { seq: head.mark.seq, hash: head.mark.hash } : { seq: 0, hash: NO_HASH };
  const result = (damage: AuditDamage | undefined): AuditCheck => ({
    tenant,
    records: place.seq - start,
    first: start + 1,
    head: known,
    damage,
  });
  if (checkpoint && !checkpoint.isSigned) {
    return result({ seq: start, problem: `the checkpoint at record ${start} was changed` });
  }
  const brokenAt = head?.mark.broken_at ?? null;
  const walk = { tenant, place, brokenAt };
  for (let after = Number.MIN_SAFE_INTEGER, isEnd = false; !isEnd;) {
    const blocks = await audit.blocksAfter(tenant, after);
    isEnd = blocks.length === 0;
    for (const block of blocks) {
      isEnd = block.seq > known.seq;
      if (isEnd) break;
      after = block.seq;
      const damage = misplaced(block.seq, { expected: place.seq + 1, start }) ?? damageIn(block, walk);
      if (damage) return (await wasPruned(audit, tenant, start)) ? "pruned" : result(damage);
    }
  }
  if (place.seq < known.seq) {
    if (await wasPruned(audit, tenant, start)) return "pruned";
    return result({ seq: place.seq + 1, problem: missing(place.seq + 1, known.seq + 1) });
  }
  if (head && brokenAt !== null) return result(brokenHead(brokenAt));
  if (head && !head.isSigned) {
    return result({ seq: known.seq, problem: `the head at record ${known.seq} was changed` });
  }
  if (place.seq > known.seq) return result(uncovered(known.seq + 1));
  if (head && place.hash !== known.hash) {
    return result({ seq: known.seq, problem: `record ${known.seq}, the newest, or records before it were rewritten` });
  }
  const newest = await audit.newest(tenant);
  return result(newest.record > newest.head ? uncovered(newest.head + 1) : undefined);
}

/** The records of a row follow each other and the ones before. */
interface Walk {
  tenant: string;
  /** The last record that is right. */
  place: ChainPlace;
  brokenAt: number | null;
}

function misplaced(seq: number, { expected, start }: { expected: number; start: number }): AuditDamage | undefined {
  if (seq === expected) return undefined;
  if (seq > expected) return { seq: expected, problem: missing(expected, seq) };
  if (seq > start) return { seq, problem: `record ${seq} is there twice` };
  return { seq, problem: `record ${seq} is there, but the records up to ${start} were removed` };
}

/** Moves the place to the last record of the row where all of them are right. */
function damageIn(block: AuditBlockRow, { tenant, place, brokenAt }: Walk): AuditDamage | undefined {
  let [at, lastAt] = [Infinity, -Infinity];
  for (const { seq, record, hash } of recordsIn(block)) {
    if (hash !== hashOf(place.hash, record)) {
      return { seq, problem: `record ${seq} was changed, or does not follow the one before it` };
    }
    if (seq === brokenAt) return brokenHead(brokenAt);
    const read = parseJson(record);
    if (!isRecord(read) || read["seq"] !== seq || read["tenant"] !== tenant) {
      return { seq, problem: `the number or the tenant of record ${seq} was changed` };
    }
    place.seq = seq;
    place.hash = hash;
    const time = timeOf(read);
    [at, lastAt] = [Math.min(at, time), Math.max(lastAt, time)];
  }
  // Lists select by columns, so they have to say the same as the records.
  const isRight = block.last_seq === place.seq && block.at === at && block.last_at === lastAt;
  return isRight ? undefined : { seq: block.seq, problem: `the columns of record ${block.seq} were changed` };
}

function uncovered(seq: number): AuditDamage {
  return { seq, problem: `record ${seq} is not covered by the head` };
}

function missing(seq: number, next: number): string {
  return next > seq + 1 ? `record ${seq} is missing, and others up to ${next - 1}` : `record ${seq} is missing`;
}

function brokenHead(seq: number): AuditDamage {
  return { seq, problem: `the head was found changed or missing when record ${seq} was written` };
}

async function wasPruned(audit: AuditLog, tenant: string, start: number): Promise<boolean> {
  const { checkpoint } = await audit.findMarks(tenant);
  return checkpoint !== undefined && checkpoint.isSigned && checkpoint.mark.seq > start;
}
