import { NexusError } from "../errors/nexus-error.ts";
import type { Logger } from "../text/logger.ts";
import { readBackup, writeBackup, type BackupHeader, type BackupRow } from "./backup-file.ts";
import type { DatabaseAddress } from "./engine/database-address.ts";
import { openEngine } from "./engine/engine.ts";
import { recordKeyCheck } from "./keep/key-check.ts";
import {
  announceAll,
  dropTables,
  inSnapshot,
  insertRows,
  isEmptyStore,
  keptTables,
  removeTenants,
  rowsOf,
  type StoredRow,
} from "./keep/kept-rows.ts";
import { requireKey } from "./key-of-store.ts";
import type { MasterKeyPlace } from "./master-key.ts";
import type { Store } from "./store.ts";
import { LATEST_VERSION, migrate, migrateIn, newerThanThis, type StoreEngine } from "./tables/migrate.ts";

/** Rows per insert statement. */
const BATCH = 100;

/** Writes a consistent snapshot of the store into a file. Returns the number of rows. */
export async function backUp({ engine, masterKey }: Store, file: string): Promise<number> {
  const header = { schema: LATEST_VERSION, at: Date.now(), check: masterKey.checkValue };
  return inSnapshot(engine, (snapshot) => {
    async function* rows(): AsyncGenerator<BackupRow> {
      for (const table of keptTables()) for await (const row of rowsOf(snapshot, table)) yield { table, row };
    }
    return writeBackup(file, header, rows());
  });
}

export interface RestoreOptions {
  file: string;
  address: DatabaseAddress;
  masterKey: MasterKeyPlace;
  logger: Logger;
  /** Whether the content of the store may be replaced. */
  replace: boolean;
}

export interface Restored {
  rows: number;
  /** The time of the backup. */
  at: number;
}

/** Restores a backup in one transaction. */
export async function restore({ file, address, masterKey, logger, replace }: RestoreOptions): Promise<Restored> {
  // The whole backup is verified before the database is opened.
  let header: BackupHeader | undefined;
  await readBackup(file, {
    header: async (found) => void (header = found),
    row: async () => {},
  });
  if (!header) throw new NexusError("INTERNAL", "The backup has no header");
  const { schema, at, check } = header;
  if (schema > LATEST_VERSION) throw newerThanThis(`The backup ${file}`, schema);
  requireKey(check, await masterKey.find(), { what: `The backup ${file}`, place: masterKey });
  const engine: StoreEngine = await openEngine(address, logger);
  try {
    await migrate(engine);
    if (!replace && !(await isEmptyStore(engine.db))) throw notEmpty(engine.shown);
    return { rows: await replaceAll(engine, file, { schema, check, replace }), at };
  } finally {
    await engine.close();
  }
}

async function replaceAll(
  engine: StoreEngine,
  file: string,
  { schema, check, replace }: { schema: number; check: string; replace: boolean },
): Promise<number> {
  return engine.db.transaction().execute(async (transaction) => {
    await engine.lockForMigration(transaction);
    // Another process may have written since the first check.
    if (!replace && !(await isEmptyStore(transaction))) throw notEmpty(engine.shown);
    const before = await dropTables(transaction);
    await migrateIn(transaction, engine.shown, schema);
    await removeTenants(transaction);
    const batch = new Batch((table, rows) => insertRows(transaction, table, rows));
    // The second read verifies the file again: a change in between rolls everything back.
    const count = await readBackup(file, { header: async () => {}, row: ({ table, row }) => batch.add(table, row) });
    await batch.flush();
    await migrateIn(transaction, engine.shown);
    await recordKeyCheck(transaction, check);
    await announceAll(transaction, before);
    return count;
  });
}

/** Collects rows of one table for one insert. */
class Batch {
  readonly #insert: (table: string, rows: readonly StoredRow[]) => Promise<void>;
  #table = "";
  #rows: StoredRow[] = [];

  constructor(insert: (table: string, rows: readonly StoredRow[]) => Promise<void>) {
    this.#insert = insert;
  }

  async add(table: string, row: StoredRow): Promise<void> {
    if (table !== this.#table || this.#rows.length >= BATCH) await this.flush();
    this.#table = table;
    this.#rows.push(row);
  }

  async flush(): Promise<void> {
    if (this.#rows.length > 0) await this.#insert(this.#table, this.#rows);
    this.#rows = [];
  }
}

function notEmpty(shown: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The store ${shown} is not empty`, {
    phase: "config",
    hint: "Restore into a new store with --database, or replace its content with --replace",
    mayHaveReached: false,
  });
}
