import type { Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Engine } from "../engine/engine.ts";
import { storeUnusable } from "../engine/store-failure.ts";
import { createStore } from "./migrations/0001-store.ts";
import { addTeam } from "./migrations/0002-team.ts";
import { addAudit } from "./migrations/0003-audit.ts";
import { addLimits } from "./migrations/0004-limits.ts";
import { addAuditBlocks } from "./migrations/0005-audit-blocks.ts";
import { addPublishedApis } from "./migrations/0006-published-apis.ts";
import type { StoreTables } from "./tables.ts";

/** One change of the tables. Its version is its position in the list, counted from 1. */
interface Migration {
  name: string;
  up: (db: Kysely<unknown>) => Promise<void>;
}

/** Append only. */
const MIGRATIONS: readonly Migration[] = [
  { name: "0001-store", up: createStore },
  { name: "0002-team", up: addTeam },
  { name: "0003-audit", up: addAudit },
  { name: "0004-limits", up: addLimits },
  { name: "0005-audit-blocks", up: addAuditBlocks },
  { name: "0006-published-apis", up: addPublishedApis },
];

export const LATEST_VERSION = MIGRATIONS.length;

/** The schema versions before and after. */
export interface Migrated {
  from: number;
  to: number;
}

export type StoreEngine = Engine<StoreTables>;

/** The schema version of the database; 0 without tables. Throws if it is newer than this program. */
export async function loadVersion(engine: StoreEngine): Promise<number> {
  try {
    return await versionIn(engine.db, engine.shown);
  } catch (error) {
    // The database is away, or newer than this program. Otherwise it most likely has no tables yet.
    if (error instanceof NexusError) throw error;
    // Another process may have created them meanwhile.
    return (await engine.hasTable("nexus_migrations")) ? versionIn(engine.db, engine.shown) : 0;
  }
}

/** Migrates to the newest version in one transaction. Several processes may call it at the same time. */
export async function migrate(engine: StoreEngine): Promise<Migrated> {
  const from = await loadVersion(engine);
  if (from === LATEST_VERSION) return { from, to: from };
  return engine.db.transaction().execute(async (transaction) => {
    await engine.lockForMigration(transaction);
    return migrateIn(transaction, engine.shown);
  });
}

/** The same inside a transaction that holds the lock; `to` may be an older version. */
export async function migrateIn(
  transaction: Kysely<StoreTables>,
  shown: string,
  to = LATEST_VERSION,
): Promise<Migrated> {
  await transaction.schema
    .createTable("nexus_migrations")
    .ifNotExists()
    .addColumn("version", "bigint", (column) => column.primaryKey().notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at", "bigint", (column) => column.notNull())
    .execute();
  const from = await versionIn(transaction, shown);
  for (const [index, { name, up }] of MIGRATIONS.slice(0, to).entries()) {
    if (index < from) continue;
    // A migration knows the tables of its own version, not the current ones.
    await up(transaction as unknown as Kysely<unknown>);
    const row = { version: index + 1, name, applied_at: Date.now() };
    await transaction.insertInto("nexus_migrations").values(row).execute();
  }
  return { from, to };
}

async function versionIn(db: Kysely<StoreTables>, shown: string): Promise<number> {
  const newest = await db
    .selectFrom("nexus_migrations")
    .select("version")
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  const version = newest?.version ?? 0;
  if (version > LATEST_VERSION) throw newerThanThis(`The database ${shown}`, version);
  return version;
}

/** Data of a newer version may have a meaning that this version does not know. */
export function newerThanThis(what: string, version: number): Error {
  return storeUnusable(
    `${what} has schema version ${version}; this version of Nexus supports up to ${LATEST_VERSION}`,
    "Update Nexus: npm install -g nexus-mcp@latest. Or use another database with --database.",
  );
}
