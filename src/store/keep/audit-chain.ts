import { createHmac, timingSafeEqual } from "node:crypto";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { sha256 } from "../../text/digest.ts";
import type { AuditMarkRow, AuditRow } from "../tables/tables.ts";

/** What is recorded, before it has a place in the chain. */
export interface AuditEntry {
  at: number;
  keyId: string | null;
  /** Empty where it is about no single server. */
  server: string;
  target: string | null;
  outcome: string;
  /** The record as a JSON object, without `seq` and `hash`. */
  text: string;
}

/** A record as programs read it. */
export type StoredAuditRecord = Record<string, unknown> & { seq: number; hash: string };

const PLAIN = /^[\x20-\x7e]*$/;

/** The hash before the first record. */
export const NO_HASH = "";

/** The row of an entry that follows the record with `seq - 1` and the hash `before`. */
export function chainedRow(
  tenant: string,
  entry: AuditEntry,
  { seq, before }: { seq: number; before: string },
): AuditRow {
  const { at, keyId, server, target, outcome, text } = entry;
  const record = `{"seq":${seq},${text.slice(1)}`;
  return {
    tenant,
    seq,
    at,
    key_id: keyId,
    server: storable(server),
    target: target === null ? null : storable(target),
    outcome,
    record,
    hash: hashOf(before, record),
  };
}

export function hashOf(before: string, record: string): string {
  return sha256(before + record);
}

/** PostgreSQL refuses NUL and half characters in a text. In the record they are escaped. */
export function storable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(/[\0\p{Cs}]/gu, "\ufffd");
}

/** A record that is not JSON was changed: it is shown as it is, and a check reports it. */
export function parseRecord({ seq, record, hash }: Pick<AuditRow, "seq" | "record" | "hash">): StoredAuditRecord {
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
export type MarkKind = "head" | "checkpoint" | "chains";
