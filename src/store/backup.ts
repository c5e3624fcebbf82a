import { createHmac, timingSafeEqual } from "node:crypto";
import { NexusError } from "../errors/nexus-error.ts";
import type { Kysely } from "kysely";
import type { Logger } from "../text/logger.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { KnownLosses, type KnownLoss } from "./audit/known-losses.ts";
import { SeenAudit } from "./audit/seen-audit.ts";
import { damaged, readBackup, writeBackup, type BackupRow, type ReadBackup } from "./backup-file.ts";
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
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";
import { witnessOf, type Store } from "./store.ts";
import type { StoreTables } from "./tables/tables.ts";
import { LATEST_VERSION, migrate, migrateIn, newerThanThis, type StoreEngine } from "./tables/migrate.ts";

/** Rows per insert statement. */
const BATCH = 100;
/** A version of an API can have many megabytes. */
const BATCH_LENGTH = 8 * 1024 * 1024;

/** Writes a consistent snapshot of the store into a file. Returns the number of rows. */
export async function backUp({ engine, masterKey }: Store, file: string): Promise<number> {
  const header = { schema: LATEST_VERSION, at: Date.now(), check: masterKey.checkValue };
  return inSnapshot(engine, (snapshot) => {
    async function* rows(): AsyncGenerator<BackupRow> {
      for (const table of keptTables()) for await (const row of rowsOf(snapshot, table)) yield { table, row };
    }
    return writeBackup(file, { header, rows: rows(), sign: (digest) => sign(digest, masterKey) });
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
  const read = await readBackup(file, async () => {});
  const key = await verify(file, read, masterKey);
  const engine: StoreEngine = await openEngine(address, logger);
  try {
    await migrate(engine);
    // Only now the file of the database is certainly there: what was seen of it is found by its real path.
    const witness = witnessOf(address, key, masterKey);
    const seen = new SeenAudit({ witness, logger, now: Date.now });
    if (!replace && !(await isEmptyStore(engine.db))) throw notEmpty(engine.shown);
    // What was seen here before is replaced on purpose, and is not reported as missing from now on.
    const replaced = await seen.forget(new AuditLog(engine, { key: key.derive("audit"), now: Date.now }));
    const losses = new KnownLosses(key.derive("audit"));
    const { rows, loss } = await replaceAll(engine, file, { read, replace, losses, replaced });
    if (loss) await seen.startAgain(loss);
    return { rows, at: read.header.at };
  } finally {
    await engine.close();
  }
}

/** Throws if this program cannot use the backup, or if another master key or nobody signed it. */
async function verify(
  file: string,
  { header, digest, signature }: ReadBackup,
  place: MasterKeyPlace,
): Promise<MasterKey> {
  const what = `The backup ${file}`;
  if (header.schema > LATEST_VERSION) throw newerThanThis(what, header.schema);
  const key = requireKey(header.check, await place.find(), { what, place });
  const [given, expected] = [signature, sign(digest, key)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isSigned) throw damaged(file, "its signature does not match: it was changed by somebody else");
  return key;
}

/** Without the master key nobody can add rows to a backup, for example an API key. */
function sign(digest: string, masterKey: MasterKey): string {
  return createHmac("sha256", masterKey.derive("backup")).update(digest).digest("hex");
}

async function replaceAll(
  engine: StoreEngine,
  file: string,
  { read: { header, digest }, replace, losses, replaced }: Replacing,
): Promise<{ rows: number; loss: KnownLoss | undefined }> {
  return engine.db.transaction().execute(async (transaction) => {
    await engine.lockForMigration(transaction);
    // Another process may have written since the first check.
    if (!replace && !(await isEmptyStore(transaction))) throw notEmpty(engine.shown);
    const audited = await findAudited(transaction, losses, replaced);
    const before = await dropTables(transaction);
    await migrateIn(transaction, engine.shown, header.schema);
    await removeTenants(transaction);
    const batch = new Batch((table, rows) => insertRows(transaction, table, rows));
    const again = await readBackup(file, ({ table, row }) => batch.add(table, row));
    // A change since the first read rolls everything back.
    if (again.digest !== digest) throw damaged(file, "it was changed while it was read");
    await batch.flush();
    await migrateIn(transaction, engine.shown);
    await recordKeyCheck(transaction, header.check);
    await announceAll(transaction, before);
    // An earlier loss is recorded in the database, which is replaced.
    const isLost = Object.keys(audited.until).length > 0 || audited.known > 0 || audited.before !== undefined;
    const lost = { at: Date.now(), why: "restored", until: audited.until } as const;
    return { rows: again.rows, loss: isLost ? await losses.record(transaction, lost, audited) : undefined };
  });
}

interface Replacing {
  read: ReadBackup;
  replace: boolean;
  losses: KnownLosses;
  replaced: { until: Record<string, number>; known: number };
}

/** The newest records of what is replaced, and of what this machine has seen there. */
async function findAudited(transaction: Kysely<StoreTables>, losses: KnownLosses, seen: Replacing["replaced"]) {
  const until = { ...seen.until };
  const heads = await transaction.selectFrom("nexus_audit_heads").select(["tenant", "seq"]).execute();
  for (const { tenant, seq } of heads) until[tenant] = Math.max(seq, until[tenant] ?? 0);
  return { until, known: seen.known, before: await losses.find(transaction) };
}

/** Collects rows of one table for one insert. */
class Batch {
  readonly #insert: (table: string, rows: readonly StoredRow[]) => Promise<void>;
  #table = "";
  #rows: StoredRow[] = [];
  #length = 0;

  constructor(insert: (table: string, rows: readonly StoredRow[]) => Promise<void>) {
    this.#insert = insert;
  }

  async add(table: string, row: StoredRow): Promise<void> {
    const isFull = this.#rows.length >= BATCH || this.#length > BATCH_LENGTH;
    if (table !== this.#table || isFull) await this.flush();
    this.#table = table;
    this.#rows.push(row);
    for (const value of Object.values(row)) this.#length += typeof value === "string" ? value.length : 0;
  }

  async flush(): Promise<void> {
    if (this.#rows.length > 0) await this.#insert(this.#table, this.#rows);
    this.#rows = [];
    this.#length = 0;
  }
}

function notEmpty(shown: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The store ${shown} is not empty`, {
    phase: "config",
    hint: "Restore into a new store with --database, or replace its content with --replace",
    mayHaveReached: false,
  });
}
