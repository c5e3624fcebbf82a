import type { AuditBlockRow } from "../tables/tables.ts";
import { hashOf, NO_HASH, type AuditEntry, type ChainPlace, type KeptRecord } from "./audit-chain.ts";

/** Records in one row: with more of them, a search for few records reads much for nothing. */
const MAX_RECORDS = 32;
/** A row that has so many characters gets no more records. */
const MAX_CHARACTERS = 65_536;
/** The end of a line: the hash of its record, and the end of the JSON object. */
const HASH_END = /^,"hash":"([0-9a-f]{64})"\}$/;
const HASH_END_LENGTH = 75;

/** The rows of entries that follow a place in the chain, and the place of the last one. */
export function chainedBlocks(
  tenant: string,
  entries: readonly AuditEntry[],
  { seq, hash }: ChainPlace,
): { blocks: AuditBlockRow[]; last: ChainPlace } {
  const blocks: AuditBlockRow[] = [];
  const last = { seq, hash };
  let block: AuditBlockRow | undefined;
  for (const { at, text } of entries) {
    const begun = `{"seq":${++last.seq},${text.slice(1, -1)}`;
    last.hash = hashOf(last.hash, `${begun}}`);
    const line = `${begun},"hash":"${last.hash}"}\n`;
    if (!block || last.seq - block.seq >= MAX_RECORDS || block.records.length >= MAX_CHARACTERS) {
      block = { tenant, seq: last.seq, last_seq: last.seq, at, last_at: at, records: line };
      blocks.push(block);
      continue;
    }
    block.last_seq = last.seq;
    if (at < block.at) block.at = at;
    if (at > block.last_at) block.last_at = at;
    block.records += line;
  }
  return { blocks, last };
}

/** The records of a row in their order. They are numbered by their place, whatever they say themselves. */
export function recordsIn({ seq, records }: Pick<AuditBlockRow, "seq" | "records">): KeptRecord[] {
  const lines = records.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => recordIn(line, seq + index));
}

/** The row of records that are left of another one. */
export function blockOf(tenant: string, records: readonly KeptRecord[], times: readonly number[]): AuditBlockRow {
  return {
    tenant,
    seq: records[0]?.seq ?? 0,
    last_seq: records.at(-1)?.seq ?? 0,
    at: Math.min(...times),
    last_at: Math.max(...times),
    records: records.map(lineOf).join(""),
  };
}

/** A record as it is exported. */
export function lineOf({ record, hash }: KeptRecord): string {
  return hash === NO_HASH ? `${record}\n` : `${record.slice(0, -1)},"hash":"${hash}"}\n`;
}

/** A line without the hash of a record was changed: it is no record that follows another one. */
function recordIn(line: string, seq: number): KeptRecord {
  const hash = HASH_END.exec(line.slice(-HASH_END_LENGTH))?.[1];
  if (hash === undefined) return { seq, record: line, hash: NO_HASH };
  return { seq, record: `${line.slice(0, -HASH_END_LENGTH)}}`, hash };
}
