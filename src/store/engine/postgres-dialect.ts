import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { Pool, PoolClient } from "pg";
import { NexusError } from "../../errors/nexus-error.ts";
import { postgresFailure, storeUnavailable } from "./store-failure.ts";

/** Kysely dialect for a PostgreSQL pool. Connection failures become STORE_UNAVAILABLE; failed connections are not reused. */
export class PostgresPoolDialect implements Dialect {
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
