import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import { withJitter } from "../../async/backoff.ts";
import { Semaphore } from "../../async/semaphore.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";
import { LOCKED, sqliteCode, sqliteFailure } from "./store-failure.ts";

/** How long a statement waits for other processes that write. */
const PATIENCE_MS = 10_000;
/** Short, because a busy writer leaves only short gaps between two transactions. */
const PAUSE_MS = 4;
/** After this time, other work of the process gets its turn before the next statement. */
const TURN_MS = 10;

/** Retries while another process holds the lock. SQLite's own busy timeout would block the event loop. */
export async function untilFree<T>(work: () => T): Promise<T> {
  for (const giveUpAt = performance.now() + PATIENCE_MS; ;) {
    try {
      return work();
    } catch (error) {
      if (!LOCKED.has(sqliteCode(error)) || performance.now() > giveUpAt) throw error;
    }
    await pause(withJitter(PAUSE_MS));
  }
}

/** Kysely dialect for one SQLite file. Writing transactions take the lock at their start, so they cannot fail later. */
export class SqliteFileDialect implements Dialect {
  readonly #handle: SqliteHandle;
  readonly #shown: string;

  constructor(handle: SqliteHandle, shown: string) {
    this.#handle = handle;
    this.#shown = shown;
  }

  createDriver(): Driver {
    return new SqliteFileDriver(new SqliteFileConnection(this.#handle, this.#shown));
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }
}

/**
 * One connection with a queue, so that other statements never run inside a transaction. Statements run in the event loop
 * itself: a read in many steps, such as that of a long audit, must not stop everything else until it ends.
 */
class SqliteFileDriver implements Driver {
  readonly #connection: SqliteFileConnection;
  readonly #turn = new Semaphore(1);
  /** When the first statement of this turn of the event loop began. */
  #busySince: number | undefined;

  constructor(connection: SqliteFileConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turn.acquire();
    if (this.#busySince !== undefined && performance.now() - this.#busySince > TURN_MS) await nextTurn();
    if (this.#busySince === undefined) {
      this.#busySince = performance.now();
      setImmediate(() => (this.#busySince = undefined));
    }
    return this.#connection;
  }

  async beginTransaction(_connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    await this.#connection.begin(accessMode === "read only" ? "begin" : "begin immediate");
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.commit();
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.rollBack();
  }

  async releaseConnection(): Promise<void> {
    this.#turn.release();
  }

  async destroy(): Promise<void> {
    this.#connection.close();
  }
}

class SqliteFileConnection implements DatabaseConnection {
  readonly #handle: SqliteHandle;
  readonly #shown: string;
  #isInTransaction = false;

  constructor(handle: SqliteHandle, shown: string) {
    this.#handle = handle;
    this.#shown = shown;
  }

  async begin(sql: string): Promise<void> {
    await this.#patiently(() => this.#handle.exec(sql));
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    await this.#patiently(() => this.#handle.exec("commit"));
    this.#isInTransaction = false;
  }

  /** SQLite has already rolled back after some errors, such as a full disk. The error that led here is the one to report. */
  rollBack(): void {
    this.#isInTransaction = false;
    try {
      this.#handle.exec("rollback");
    } catch {
      // There is no transaction any more.
    }
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const isRead = query.kind === "SelectQueryNode" || query.kind === "RawNode";
    const returnsRows = isRead || ("returning" in query && query.returning !== undefined);
    const run = () =>
      returnsRows
        ? { rows: this.#handle.all(sql, parameters) as R[] }
        : { rows: [], numAffectedRows: BigInt(this.#handle.run(sql, parameters)) };
    // A transaction that only reads has no lock before its first read.
    if (isRead) return this.#patiently(run);
    try {
      return this.#isInTransaction ? run() : await this.#inTransaction(run);
    } catch (error) {
      throw sqliteFailure(this.#shown, error);
    }
  }

  /** Not used: no query is streamed. */
  async *streamQuery(): AsyncIterableIterator<never> {}

  /** Moves the log into the file, unless another process uses it. */
  close(): void {
    try {
      this.#handle.all("pragma wal_checkpoint(truncate)", []);
    } catch {
      // Nothing is lost: the next process that opens the file reads the log.
    }
    this.#handle.close();
  }

  /**
   * A write outside a transaction takes the lock first: libsql does not reset a statement that failed because of the lock,
   * and then no commit succeeds.
   */
  async #inTransaction<T>(write: () => T): Promise<T> {
    await untilFree(() => this.#handle.exec("begin immediate"));
    try {
      const result = write();
      await untilFree(() => this.#handle.exec("commit"));
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  async #patiently<T>(work: () => T): Promise<T> {
    try {
      return await untilFree(work);
    } catch (error) {
      throw sqliteFailure(this.#shown, error);
    }
  }
}
