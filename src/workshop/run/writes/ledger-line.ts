import { NexusError } from "../../../errors/nexus-error.ts";
import { isRecord } from "../../../json/is-record.ts";
import type { WriteRecord } from "./write-ledger.ts";

/** The content of one line of a ledger's file. */
export interface LedgerEntry {
  key: string;
  record: WriteRecord;
}

const KINDS = new Set<unknown>(["pending", "done", "unknown", "refused"]);
const STARTS = ['{"key":', '{"file":'];

export function lineOf({ key, record }: LedgerEntry): string {
  return JSON.stringify({ key, ...record });
}

/** Undefined if the line is not an entry. */
export function entryIn(line: string): LedgerEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["at"] !== "number") return undefined;
    const { key, ...record } = value;
    return KINDS.has(record["kind"]) ? { key, record: record as WriteRecord } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A line that is not an entry but no damage: the name of the file, or a line that was cut off before anything was sent.
 */
export function isHarmless(line: string): boolean {
  return /^\{"file":"[0-9a-f]+"\}$/.test(line) || isCutOff(line);
}

/** Its process died while writing it, or the power failed. */
function isCutOff(line: string): boolean {
  if (line.endsWith("}")) return false;
  return /^\0+$/.test(line) || STARTS.some((start) => line.startsWith(start) || start.startsWith(line));
}

/** The error for a ledger's file with invalid lines. */
export function spoiledLedger(path: string): NexusError {
  return new NexusError("CONFIG_INVALID", "The record of earlier writes was damaged, so the write was not sent", {
    source: { file: path },
    hint: `Restore ${path}. If you know that nothing in it will be asked for again, remove it.`,
    mayHaveReached: false,
  });
}
