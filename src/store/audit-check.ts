import { hashOf, NO_HASH, storable } from "./keep/audit-chain.ts";
import type { AuditLog, ChainPlace } from "./keep/audit-log.ts";
import { isRecord } from "../json/is-record.ts";
import { parseJson } from "../json/parse-json.ts";
import type { AuditRow } from "./tables/tables.ts";

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
}

/** Verifies the chain of a tenant, while others may append to it. Reads every record. */
export async function checkAudit(audit: AuditLog, tenant: string): Promise<AuditCheck> {
  for (;;) {
    const found = await checkOnce(audit, tenant);
    if (found !== "pruned") return found;
  }
}

/** All tenants; one that is missing as a whole is damage without a record. */
export async function checkAllAudits(audit: AuditLog): Promise<{ checks: AuditCheck[]; isComplete: boolean }> {
  const checks: AuditCheck[] = [];
  for (const tenant of await audit.tenants()) checks.push(await checkAudit(audit, tenant));
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
  while (place.seq < known.seq) {
    const rows = await audit.rowsAfter(tenant, place.seq);
    for (const row of rows) {
      if (row.seq > known.seq) break;
      const problem = problemOf(row, place, tenant);
      if (problem !== undefined) return (await wasPruned(audit, tenant, start)) ? "pruned" : result(problem);
      if (row.seq === brokenAt) return result(brokenHead(brokenAt));
      place.seq = row.seq;
      place.hash = row.hash;
    }
    if (rows.length === 0) {
      if (await wasPruned(audit, tenant, start)) return "pruned";
      return result({ seq: place.seq + 1, problem: missing(place.seq + 1, known.seq + 1) });
    }
  }
  if (head && brokenAt !== null) return result(brokenHead(brokenAt));
  if (head && !head.isSigned) {
    return result({ seq: known.seq, problem: `the head at record ${known.seq} was changed` });
  }
  if (head && place.hash !== known.hash) {
    return result({ seq: known.seq, problem: `record ${known.seq}, the newest, or records before it were rewritten` });
  }
  const newest = await audit.newest(tenant);
  if (newest.record > newest.head) {
    return result({ seq: newest.head + 1, problem: `record ${newest.head + 1} is not covered by the head` });
  }
  return result(undefined);
}

function problemOf(row: AuditRow, before: ChainPlace, tenant: string): AuditDamage | undefined {
  const seq = before.seq + 1;
  if (row.seq !== seq) return { seq, problem: missing(seq, row.seq) };
  if (row.hash !== hashOf(before.hash, row.record)) {
    return { seq, problem: `record ${seq} was changed, or does not follow the one before it` };
  }
  return isConsistent(row, tenant) ? undefined : { seq, problem: `the columns of record ${seq} were changed` };
}

/** Lists select by columns, so they have to say the same as the record. */
function isConsistent({ record, ...row }: AuditRow, tenant: string): boolean {
  const read = parseJson(record);
  if (!isRecord(read)) return false;
  const { seq, at, keyId = null, server, target, outcome } = read;
  return (
    seq === row.seq &&
    read["tenant"] === tenant &&
    Date.parse(String(at)) === row.at &&
    keyId === row.key_id &&
    column(server) === row.server &&
    column(target) === row.target &&
    outcome === row.outcome
  );
}

function column(value: unknown): unknown {
  return typeof value === "string" ? storable(value) : value;
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
