import { createHmac, timingSafeEqual } from "node:crypto";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { sha256 } from "../../text/digest.ts";
import type { AuditMarkRow } from "../tables/tables.ts";

/** What is recorded, before it has a place in the chain. */
export interface AuditEntry {
  at: number;
  /** The record as a JSON object, without `seq` and `hash`. */
  text: string;
}

/** A record with its place in the chain. */
export interface KeptRecord extends ChainPlace {
  /** The text that was hashed: JSON without the hash. */
  record: string;
}

/** A place in a chain. */
export interface ChainPlace {
  seq: number;
  /** Of the record with this number. */
  hash: string;
}

/** A record as programs read it. */
export type StoredAuditRecord = Record<string, unknown> & { seq: number; hash: string };

/** The hash before the first record. */
export const NO_HASH = "";

export function hashOf(before: string, record: string): string {
  return sha256(before + record);
}

/** A record that is not JSON was changed: it is shown as it is, and a check reports it. */
export function parseRecord({ seq, record, hash }: KeptRecord): StoredAuditRecord {
  const read = parseJson(record);
  return isRecord(read) ? { ...read, seq, hash } : { seq, damaged: record, hash };
}

/** Without the master key nobody can make a place of the chain look right. */
export class MarkSigner {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  sign(kind: MarkKind, mark: Omit<AuditMarkRow, "mac">): AuditMarkRow {
    return { ...mark, mac: this.#macOf(kind, mark) };
  }

  isSigned(kind: MarkKind, mark: AuditMarkRow): boolean {
    const [given, expected] = [Buffer.from(mark.mac), Buffer.from(this.#macOf(kind, mark))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #macOf(kind: MarkKind, { tenant, seq, hash, at, broken_at: brokenAt }: Omit<AuditMarkRow, "mac">): string {
    const text = JSON.stringify([kind, tenant, seq, hash, at, brokenAt]);
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }
}

/** `chains` is the number of tenants with a chain: a whole chain cannot be removed unnoticed. */
type MarkKind = "head" | "checkpoint" | "chains";
