import { existsSync } from "node:fs";
import { access, chmod, constants, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import {
  Kysely,
  sql,
  type Dialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { asText } from "../../text/as-text.ts";
import type { Logger } from "../../text/logger.ts";
import type { DatabaseAddress } from "./database-address.ts";
import { SqliteFileDialect, untilFree } from "./sqlite-dialect.ts";
import { openSqliteFile, type SqliteHandle, type SqlRow } from "./sqlite-handle.ts";
import { isDamage, sqliteFailure, storeUnavailable, postgresFailure } from "./store-failure.ts";
import type { Pool, PoolClient } from "pg";

/** An open database, with the operations that differ between SQLite and PostgreSQL. */
export interface Engine<Tables> {
  readonly kind: DatabaseAddress["kind"];
  /** The address for messages. */
  readonly shown: string;
  readonly db: Kysely<Tables>;
  hasTable(name: string): Promise<boolean>;
  /** Takes an exclusive lock until the end of the transaction. */
  lockForMigration(transaction: Kysely<Tables>): Promise<void>;
  /** Runs the integrity check of the database. */
  findDamage(): Promise<string[]>;
  close(): Promise<void>;
}

/** WAL and `full`: committed data survives a crash of the process and of the machine. */
const PRAGMAS = [
  // `untilFree` waits instead.
  "pragma busy_timeout = 0",
  "pragma synchronous = full",
  "pragma foreign_keys = on",
];
/** They are written into the file. The size of pages is that of a new file: the audit writes much, and few large pages cost less. */
const FILE_PRAGMAS = ["pragma page_size = 16384", "pragma journal_mode = wal"];
const MAX_CONNECTIONS = 10;
const CONNECT_MS = 3_000;
const QUERY_MS = 10_000;
/** The type id of `bigint` in PostgreSQL. All values are times and counts, which fit into a number. */
const INT8 = 20;
/** The key of the advisory lock; an arbitrary number. */
const MIGRATION_LOCK = 63_987;

interface EngineOptions {
  /** Leaves a file as it is, which may be of another program. */
  onlyReads?: boolean;
}

export async function openEngine<Tables>(
  address: DatabaseAddress,
  logger: Logger,
  { onlyReads = false }: EngineOptions = {},
): Promise<Engine<Tables>> {
  if (address.kind === "postgres") return openPostgres(address, logger);
  return openSqlite(address, logger, onlyReads ? PRAGMAS : [...PRAGMAS, ...FILE_PRAGMAS]);
}

type AddressOf<K extends DatabaseAddress["kind"]> = Extract<DatabaseAddress, { kind: K }>;

async function openSqlite<Tables>(
  address: AddressOf<"sqlite">,
  logger: Logger,
  pragmas: readonly string[],
): Promise<Engine<Tables>> {
  const { file, shown } = address;
  await prepareFile(address, logger);
  const handle = await openSqliteFile(file).catch((error: unknown) => {
    throw sqliteFailure(shown, error);
  });
  try {
    for (const pragma of pragmas) await untilFree(() => handle.exec(pragma));
  } catch (error) {
    handle.close();
    throw sqliteFailure(shown, error);
  }
  const db = newKysely<Tables>(new SqliteFileDialect(handle, shown));
  return {
    kind: "sqlite",
    shown,
    db,
    hasTable: async (name) => {
      const found = await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db);
      return found.rows.length > 0;
    },
    // Writing transactions already hold the lock of the file.
    lockForMigration: async () => {},
    findDamage: async () => integrityProblems(handle),
    close: () => db.destroy(),
  };
}

/**
 * Creates the file with owner-only permissions; SQLite uses the same ones for its -wal and -shm files. A file that exists is
 * never opened here: closing it would end all locks of this process on it (POSIX), and with them those of a connection that
 * is still open. Another process would then remove the log that this connection writes.
 */
async function prepareFile(address: AddressOf<"sqlite">, logger: Logger): Promise<void> {
  const { file, shown } = address;
  const folder = dirname(file);
  if (address.isOwnFolder !== true && !existsSync(folder)) throw noFolder(folder);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await stat(file).catch(() => undefined);
    if (!found) return await createFile(file);
    if (found.isDirectory()) throw new Error("it is a folder");
    await access(file, constants.R_OK | constants.W_OK);
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
      logger.warn(`Other users can read or change the database ${shown}. Run: chmod 600 ${shown}`);
  } catch (error) {
    const hint = "Make the file and its folder readable and writable for the user that runs Nexus.";
    throw storeUnavailable(shown, error, hint).with({ mayHaveReached: false });
  }
}

async function createFile(file: string): Promise<void> {
  try {
    await using _created = await open(file, "wx", 0o600);
  } catch (error) {
    // Somebody else has created it meanwhile.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  // The mode of a new file is subject to the umask.
  await chmod(file, 0o600);
}

function noFolder(folder: string): NexusError {
  return new NexusError("NAME_UNKNOWN", `The folder ${folder} of the database does not exist`, {
    hint: "Create it, or correct the address: --database, NEXUS_DATABASE, or gateway.database in the configuration.",
    mayHaveReached: false,
  });
}

function integrityProblems(handle: SqliteHandle): string[] {
  try {
    const rows = [...handle.all("pragma integrity_check", []), ...handle.all("pragma foreign_key_check", [])];
    return rows.filter((row) => row["integrity_check"] !== "ok").map((row) => problemIn(row));
  } catch (error) {
    if (isDamage(error)) return [messageOf(error)];
    throw error;
  }
}

/** `integrity_check` returns a sentence, `foreign_key_check` two tables. */
function problemIn({ integrity_check: sentence, table, parent }: SqlRow): string {
  return typeof sentence === "string"
    ? sentence
    : `${asText(table)} refers to a row of ${asText(parent)} that is not there`;
}

async function openPostgres<Tables>(address: AddressOf<"postgres">, logger: Logger): Promise<Engine<Tables>> {
  const { url, shown } = address;
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: withVerifiedTls(url),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    keepAlive: true,
    application_name: "nexus",
    types: {
      getTypeParser: (type: number, format?: "text" | "binary") =>
        type === INT8 ? Number : (pg.types.getTypeParser(type, format) as (text: string) => unknown),
    },
  });
  // Without listeners, a lost connection would end the process. The pool opens a new one when needed.
  pool.on("error", (error) => logger.warn(`A connection to ${shown} was lost: ${error.message}`));
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = newKysely<Tables>(new PostgresPoolDialect(pool, shown));
  return {
    kind: "postgres",
    shown,
    db,
    hasTable: async (name) => {
      const found = await sql<{ found: string | null }>`select to_regclass(${name})::text as found`.execute(db);
      return found.rows[0]?.found !== null;
    },
    lockForMigration: async (transaction) => {
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(transaction);
    },
    findDamage: async () => [],
    close: () => db.destroy(),
  };
}

/**
 * The library verifies the server in these modes, as in `verify-full`, but warns on stderr that this will change.
 * `uselibpqcompat` asks for the weaker meaning.
 */
function withVerifiedTls(url: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)\b/, "$1verify-full");
}

function newKysely<Tables>(dialect: Dialect): Kysely<Tables> {
  return new Kysely<Tables>({ dialect });
}

/** Kysely dialect for a PostgreSQL pool. Connection failures become STORE_UNAVAILABLE; failed connections are not reused. */
class PostgresPoolDialect implements Dialect {
  readonly #pool: Pool;
  readonly #shown: string;

  constructor(pool: Pool, shown: string) {
    this.#pool = pool;
    this.#shown = shown;
  }

  createDriver(): Driver {
    return new PoolDriver(this.#pool, this.#shown);
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(db: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(db);
  }
}

class PoolDriver implements Driver {
  readonly #pool: Pool;
  readonly #shown: string;

  constructor(pool: Pool, shown: string) {
    this.#pool = pool;
    this.#shown = shown;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    try {
      return new PooledConnection(await this.#pool.connect(), this.#shown);
    } catch (error) {
      const failure = postgresFailure(this.#shown, error);
      const known = failure instanceof NexusError ? failure : storeUnavailable(this.#shown, error);
      // Nothing was sent without a connection.
      throw known.with({ mayHaveReached: false });
    }
  }

  async beginTransaction(connection: PooledConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings;
    const level = isolationLevel === undefined ? "" : ` isolation level ${isolationLevel}`;
    await connection.run(`start transaction${level}${accessMode === undefined ? "" : ` ${accessMode}`}`);
  }

  async commitTransaction(connection: PooledConnection): Promise<void> {
    await connection.run("commit");
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    await connection.rollBack();
  }

  async releaseConnection(connection: PooledConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

class PooledConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #shown: string;
  #isBroken = false;

  constructor(client: PoolClient, shown: string) {
    this.#client = client;
    this.#shown = shown;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.run(sql, [...parameters]);
    const hasCount = rowCount !== null && /^(?:INSERT|UPDATE|DELETE)$/.test(command);
    return hasCount ? { rows: rows as R[], numAffectedRows: BigInt(rowCount) } : { rows: rows as R[] };
  }

  async run(sql: string, parameters: unknown[] = []) {
    try {
      return await this.#client.query<Record<string, unknown>>(sql, parameters);
    } catch (error) {
      const failure = postgresFailure(this.#shown, error);
      // A late answer must not reach the next query on this connection.
      this.#isBroken ||= failure instanceof NexusError && failure.code === "STORE_UNAVAILABLE";
      throw failure;
    }
  }

  /** A broken connection is closed instead, which also rolls back: an answer may never come. */
  async rollBack(): Promise<void> {
    if (!this.#isBroken) await this.run("rollback");
  }

  /** Not used: no query is streamed. */
  async *streamQuery(): AsyncIterableIterator<never> {}

  release(): void {
    this.#client.release(this.#isBroken);
  }
}
