import { createHmac, timingSafeEqual, createHash } from "node:crypto";
import { NexusError, messageOf } from "../errors/nexus-error.ts";
import type { Kysely } from "kysely";
import type { Logger } from "../text/logger.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { KnownLosses, type KnownLoss } from "./audit/known-losses.ts";
import { SeenAudit } from "./audit/seen-audit.ts";
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
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import { writeOwnerOnly } from "../files/owner-only-file.ts";
import { isRecord } from "../json/is-record.ts";

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

interface Restored {
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

const FORMAT = 1;
const GZIP_START = Buffer.from([0x1f, 0x8b]);

/** The first line of a backup. */
interface BackupHeader {
  /** The schema version of the rows. */
  schema: number;
  at: number;
  /** The check value of the master key. */
  check: string;
}

interface BackupRow {
  table: string;
  row: StoredRow;
}

interface BackupContent {
  header: BackupHeader;
  rows: AsyncIterable<BackupRow>;
  /** Signs the digest of the content. */
  sign: (digest: string) => string;
}

/** Writes compressed lines of JSON. The last line has the number of rows, and a signed digest of all lines before it. */
async function writeBackup(file: string, { header, rows, sign }: BackupContent): Promise<number> {
  let count = 0;
  const digest = createHash("sha256");
  async function* lines(): AsyncGenerator<string> {
    const line = (value: unknown) => {
      const text = `${JSON.stringify(value)}\n`;
      digest.update(text);
      return text;
    };
    yield line({ nexus: "backup", format: FORMAT, ...header });
    for await (const { table, row } of rows) {
      count++;
      yield line({ table, row });
    }
    const sha256 = digest.digest("hex");
    yield `${JSON.stringify({ rows: count, sha256, signature: sign(sha256) })}\n`;
  }
  const compressed = pipeline(Readable.from(lines()), createGzip(), () => {});
  await writeOwnerOnly(file, compressed as AsyncIterable<Uint8Array>);
  return count;
}

interface ReadBackup {
  header: BackupHeader;
  rows: number;
  digest: string;
  /** Of the digest. The reader of the backup must verify it, with the master key that the header asks for. */
  signature: string;
}

/** Reads a whole backup. Throws DATA_DAMAGED if it was damaged or is incomplete, ARGUMENTS_INVALID if it is another file. */
async function readBackup(file: string, onRow: (row: BackupRow) => Promise<void>): Promise<ReadBackup> {
  const digest = createHash("sha256");
  let count = 0;
  let header: BackupHeader | undefined;
  let read: ReadBackup | undefined;
  for await (const line of linesOf(file)) {
    if (read) throw damaged(file, "something follows its last line");
    const value = parsed(file, line);
    if (!header) header = headerIn(file, value);
    else if (isRowLine(value)) {
      count++;
      await onRow(value);
    } else {
      if (value["rows"] !== count) throw damaged(file, `it has ${count} rows instead of ${String(value["rows"])}`);
      const sha256 = digest.digest("hex");
      if (value["sha256"] !== sha256) throw damaged(file, "its checksum does not match");
      read = { header, rows: count, digest: sha256, signature: String(value["signature"]) };
    }
    if (!read) digest.update(`${line}\n`);
  }
  if (!read) throw damaged(file, "its end is missing");
  return read;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const opened = pipeline(createReadStream(file), createGunzip(), () => {});
  try {
    for await (const chunk of opened as AsyncIterable<Buffer>) {
      const text = decoder.write(chunk);
      // A line can have many megabytes: it is put together once.
      if (!text.includes("\n")) {
        rest += text;
        continue;
      }
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    throw await unreadable(file, error);
  }
  if (rest !== "") throw damaged(file, "its last line is not complete");
}

async function unreadable(file: string, error: unknown): Promise<unknown> {
  if (error instanceof NexusError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code?.startsWith("Z_")) return (await isCompressed(file)) ? damaged(file, messageOf(error)) : notBackup(file);
  return new NexusError("ARGUMENTS_INVALID", `The backup cannot be read: ${messageOf(error)}`, {
    source: { file },
    hint: "Check the path and the permissions of the file.",
    cause: error,
    mayHaveReached: false,
  });
}

/** Whether the file starts as a gzip file. */
async function isCompressed(file: string): Promise<boolean> {
  await using opened = await open(file, "r");
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(GZIP_START.length), 0, GZIP_START.length, 0);
  return buffer.subarray(0, bytesRead).equals(GZIP_START.subarray(0, bytesRead));
}

function notBackup(file: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", "The file is not a backup of Nexus", {
    source: { file },
    hint: `Nothing was changed. Name a file that "nexus store backup" wrote.`,
    mayHaveReached: false,
  });
}

function parsed(file: string, line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Reported below.
  }
  throw damaged(file, "a line of it is not JSON");
}

function headerIn(file: string, value: Record<string, unknown>): BackupHeader {
  const { nexus, format, schema, at, check } = value;
  if (nexus !== "backup") throw damaged(file, "it does not start as a backup of Nexus");
  if (typeof format === "number" && format > FORMAT) throw newerFormat(file, format);
  if (format === FORMAT && typeof schema === "number" && typeof at === "number" && typeof check === "string") {
    return { schema, at, check };
  }
  throw damaged(file, "its first line is not complete");
}

function isRowLine(value: Record<string, unknown>): value is Record<string, unknown> & BackupRow {
  return typeof value["table"] === "string" && /^nexus_[a-z_]+$/.test(value["table"]) && isRecord(value["row"]);
}

function damaged(file: string, what: string): NexusError {
  return new NexusError("DATA_DAMAGED", `The backup is damaged: ${what}`, {
    source: { file },
    hint: "Nothing was changed. Use another backup.",
    mayHaveReached: false,
  });
}

function newerFormat(file: string, format: number): NexusError {
  return new NexusError(
    "CONFIG_INVALID",
    `The backup has format ${format}; this version of Nexus reads format ${FORMAT}`,
    {
      source: { file },
      hint: "Update Nexus: npm install -g nexus-mcp@latest",
      mayHaveReached: false,
    },
  );
}
