import { sql, type Kysely, type Transaction } from "kysely";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { StoreEngine } from "../tables/migrate.ts";
import { TABLES_OF_TENANTS, type StoreTables, type TableName } from "../tables/tables.ts";
import { loadGenerations, TOPICS } from "./generations.ts";

/** The tables in a backup and their primary keys. A table comes after the tables that it references. */
const KEPT_TABLES = {
  nexus_tenants: ["name"],
  nexus_api_keys: ["id"],
  nexus_secrets: ["id"],
  nexus_writes: ["id"],
  nexus_servers: ["id"],
  nexus_sets: ["id"],
  nexus_definitions: ["id"],
  nexus_trust: ["id"],
  nexus_api_versions: ["id"],
  nexus_api_instances: ["id"],
  nexus_api_usage: ["id"],
  nexus_audit: ["tenant", "seq"],
  nexus_audit_heads: ["tenant"],
  nexus_audit_checkpoints: ["tenant"],
} as const satisfies Partial<Record<TableName, readonly string[]>>;
/** Tables that are not in a backup: caches, and facts about this database. */
const UNSAVED_TABLES = [
  "nexus_eras",
  "nexus_answers",
  "nexus_rates",
  "nexus_generations",
  "nexus_facts",
  "nexus_migrations",
] as const satisfies readonly TableName[];
/** Columns that contain JSON. */
const JSON_COLUMNS = [
  { table: "nexus_tenants", id: "name", column: "limits" },
  { table: "nexus_api_keys", id: "id", column: "grants" },
  { table: "nexus_api_keys", id: "id", column: "limits" },
  { table: "nexus_writes", id: "id", column: "result" },
  { table: "nexus_sets", id: "id", column: "definition" },
  { table: "nexus_definitions", id: "id", column: "accepted" },
  { table: "nexus_definitions", id: "id", column: "current" },
  { table: "nexus_api_versions", id: "id", column: "record" },
  { table: "nexus_api_instances", id: "id", column: "definition" },
] as const;

export type KeptTable = keyof typeof KEPT_TABLES;

/** A row of any table. */
export type StoredRow = Readonly<Record<string, unknown>>;

const PAGE = 500;
/** A version of an API can have many megabytes. */
const LARGE_ROWS: Partial<Record<KeptTable, number>> = { nexus_api_versions: 4 };

/** For table names from a backup, which may have an older schema. */
type AnyTables = Record<string, Record<string, unknown>>;

/** Runs `read` in a read-only transaction with a consistent view. */
export async function inSnapshot<T>(
  { db }: StoreEngine,
  read: (snapshot: Transaction<StoreTables>) => Promise<T>,
): Promise<T> {
  return db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(read);
}

/** All rows, page by page, so that a large table does not have to fit into memory. */
export async function* rowsOf(db: Kysely<StoreTables>, table: KeptTable): AsyncGenerator<StoredRow> {
  const anyDb = db as unknown as Kysely<AnyTables>;
  const key: readonly string[] = KEPT_TABLES[table];
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const size = LARGE_ROWS[table] ?? PAGE;
  let last: unknown[] | undefined;
  for (;;) {
    let page = anyDb.selectFrom(table).selectAll().limit(size);
    for (const column of key) page = page.orderBy(column);
    if (last) page = page.where(sql<boolean>`(${columns}) > (${sql.join(last)})`);
    const rows = await page.execute();
    yield* rows;
    const end = rows.at(-1);
    if (!end || rows.length < size) return;
    last = key.map((column) => end[column]);
  }
}

export async function insertRows(db: Kysely<StoreTables>, table: string, rows: readonly StoredRow[]): Promise<void> {
  const anyDb = db as unknown as Kysely<AnyTables>;
  await anyDb
    .insertInto(table)
    .values([...rows])
    .execute();
}

export async function countRows(db: Kysely<StoreTables>): Promise<Record<KeptTable, number>> {
  const counts: Partial<Record<KeptTable, number>> = {};
  for (const table of keptTables()) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts as Record<KeptTable, number>;
}

/** Whether the store contains only the default tenant. */
export async function isEmptyStore(db: Kysely<StoreTables>): Promise<boolean> {
  const { nexus_tenants: tenants, ...others } = await countRows(db);
  if (Object.values(others).some((count) => count > 0)) return false;
  const rows = await db.selectFrom("nexus_tenants").select("name").limit(2).execute();
  return tenants <= 1 && rows.every(({ name }) => name === DEFAULT_TENANT);
}

/** Drops all tables. Returns the generations, which must continue to grow. */
export async function dropTables(transaction: Kysely<StoreTables>): Promise<Map<string, number>> {
  const generations = await loadGenerations(transaction);
  const tables: readonly TableName[] = [...keptTables().toReversed(), ...UNSAVED_TABLES];
  for (const table of tables) await transaction.schema.dropTable(table).execute();
  return generations;
}

/** Lets other processes notice that everything was replaced. */
export async function announceAll(
  transaction: Kysely<StoreTables>,
  before: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = TOPICS.map((topic) => ({ topic, value: (before.get(topic) ?? 0) + 1 }));
  await transaction.insertInto("nexus_generations").values(rows).execute();
}

/** Removes the default tenant of a new schema: a backup contains its own. */
export async function removeTenants(transaction: Kysely<StoreTables>): Promise<void> {
  await transaction.deleteFrom("nexus_tenants").execute();
}

/** Finds invalid JSON and rows of tenants that do not exist. */
export async function findInconsistencies(db: Kysely<StoreTables>): Promise<string[]> {
  const anyDb = db as unknown as Kysely<AnyTables>;
  const problems: string[] = [];
  for (const { table, id, column } of JSON_COLUMNS) {
    for await (const row of rowsOf(db, table)) {
      if (row[column] !== null && !isJson(row[column]))
        problems.push(`${table}: ${column} of ${String(row[id])} is not JSON`);
    }
  }
  for (const table of TABLES_OF_TENANTS.filter((name) => name in KEPT_TABLES)) {
    const lost = await anyDb
      .selectFrom(table)
      .select("tenant")
      .distinct()
      .where("tenant", "not in", anyDb.selectFrom("nexus_tenants").select("name"))
      .execute();
    for (const { tenant } of lost) problems.push(`${table}: there is no tenant "${String(tenant)}"`);
  }
  return problems;
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(String(text));
    return true;
  } catch {
    return false;
  }
}

export function keptTables(): KeptTable[] {
  return Object.keys(KEPT_TABLES) as KeptTable[];
}
