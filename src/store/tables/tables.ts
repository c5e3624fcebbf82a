import type { Generated } from "kysely";

/**
 * All tables after the newest migration. Columns are text or bigint: times are milliseconds since 1970, structured values
 * are JSON. `id` is the SHA-256 of a key that may be long, because PostgreSQL limits the length of indexed values.
 */
export interface StoreTables {
  nexus_migrations: { version: number; name: string; applied_at: number };
  /** Facts about the store itself. */
  nexus_facts: { name: string; value: string };
  /** The value of a topic grows with each change that other processes must notice. */
  nexus_generations: { topic: string; value: number };
  /** `limits` is JSON. */
  nexus_tenants: { name: string; created_at: number; limits: Generated<string> };
  nexus_api_keys: ApiKeyRow;
  /** `sealed` also contains the name, so the table does not reveal the names of secrets. */
  nexus_secrets: { id: string; tenant: string; sealed: string; changed_at: number };
  nexus_writes: WriteRow;
  /** Servers of tenants other than `default`. `sealed` is the entry, which may contain secrets. */
  nexus_servers: { id: string; tenant: string; name: string; sealed: string; origin: string; changed_at: number };
  /** `definition` is JSON. */
  nexus_sets: { id: string; tenant: string; name: string; definition: string; changed_at: number };
  nexus_definitions: DefinitionRow;
  nexus_trust: { id: string; file: string; fingerprint: string };
  nexus_eras: { id: string; tenant: string; era: string; expires_at: number };
  /** Requests of a key or a tenant in a window that ends at `expire`. */
  nexus_rates: { key: string; points: number; expire: number };
  nexus_answers: { id: string; tenant: string; key: string; result: string; expires_at: number; stored_at: number };
  nexus_api_versions: ApiVersionRow;
  /** `definition` is JSON; `mac` signs it, and who it belongs to, under the master key. */
  nexus_api_instances: { id: string; tenant: string; api: string; server: string; definition: string; mac: string };
  nexus_api_usage: ApiUsageRow;
  nexus_audit: AuditBlockRow;
  /** The newest record of each tenant, signed. */
  nexus_audit_heads: AuditMarkRow;
  /** The newest record of each tenant that was removed when its retention ended, signed. */
  nexus_audit_checkpoints: AuditMarkRow;
}

/** A published version of an API. */
export interface ApiVersionRow {
  id: string;
  tenant: string;
  api: string;
  version: string;
  /** JSON, with the SHA-256 of `content`. */
  record: string;
  /** Compressed JSON in base64. */
  content: string;
  /** Of all other columns, under the master key. */
  mac: string;
}

/** How often a version was called as a server. */
interface ApiUsageRow {
  id: string;
  tenant: string;
  api: string;
  server: string;
  version: string;
  calls: number;
  used_at: number;
}

/** Records of the audit that follow each other. What is written together is in few rows, because each row has its price. */
export interface AuditBlockRow {
  tenant: string;
  /** Of its first record. Numbers begin with 1 and have no gaps. */
  seq: number;
  /** Of its last record. */
  last_seq: number;
  /** Of its earliest record. */
  at: number;
  /** Of its latest record. */
  last_at: number;
  /** Lines of JSON as they are exported: each ends with the SHA-256 of the hash before it and the record without its hash. */
  records: string;
}

/** A place in the chain of a tenant. */
export interface AuditMarkRow {
  tenant: string;
  seq: number;
  /** Of the record with this number. */
  hash: string;
  /** When it was written. */
  at: number;
  /** The first record that was written after the chain was found damaged. */
  broken_at: number | null;
  /** Of all other columns, under the master key. */
  mac: string;
}

export interface ApiKeyRow {
  id: string;
  tenant: string;
  name: string;
  role: string;
  /** JSON. */
  grants: string;
  /** JSON. */
  limits: string;
  all_tenants: number;
  hash: string;
  /** Hash of the secret before the last rotation; valid until `former_until`. */
  former_hash: string | null;
  former_until: number | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  used_at: number | null;
}

export interface WriteRow {
  id: string;
  tenant: string;
  server: string;
  instance: string;
  key: string;
  kind: string;
  at: number;
  until: number | null;
  tool: string | null;
  /** JSON. */
  result: string | null;
}

/** A tool, prompt or resource as its server lists it, and as it was accepted. */
interface DefinitionRow {
  id: string;
  tenant: string;
  server: string;
  kind: string;
  name: string;
  /** Null where it was never accepted. */
  accepted_hash: string | null;
  /** JSON. */
  accepted: string | null;
  /** Null where the server does not list it any more. */
  current_hash: string | null;
  /** JSON. */
  current: string | null;
  changed_at: number;
}

export type TableName = keyof StoreTables;

/** Tables with data of tenants, in a column `tenant`. */
export const TABLES_OF_TENANTS = [
  "nexus_api_keys",
  "nexus_secrets",
  "nexus_writes",
  "nexus_servers",
  "nexus_sets",
  "nexus_definitions",
  "nexus_api_versions",
  "nexus_api_instances",
  "nexus_api_usage",
  "nexus_eras",
  "nexus_answers",
] as const satisfies readonly TableName[];
