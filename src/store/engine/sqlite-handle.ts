import { RecentMap } from "../../async/recent-map.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { loadLibsqlNative } from "./libsql-native.ts";
import { LOCKED, sqliteCode, storeUnusable } from "./store-failure.ts";

export type SqlRow = Record<string, unknown>;

/** An open SQLite file, independent of the library. All calls are synchronous. */
export interface SqliteHandle {
  all(sql: string, parameters: readonly unknown[]): SqlRow[];
  /** Returns the number of changed rows. */
  run(sql: string, parameters: readonly unknown[]): number;
  exec(sql: string): void;
  close(): void;
}

/** Loads a library; undefined if this version of Node does not have it. */
type SqliteLibrary = () => Promise<((file: string) => SqliteHandle) | undefined>;

/** The common part of both libraries. */
interface Statement {
  all(...parameters: unknown[]): SqlRow[];
  run(...parameters: unknown[]): { changes: number | bigint };
}

export interface SqliteDatabase {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

/** Node's own library, since 22.13. */
const nodeSqlite: SqliteLibrary = async () => {
  const module = quietly(() => process.getBuiltinModule("node:sqlite") as unknown) as
    | { DatabaseSync: new (file: string) => SqliteDatabase }
    | undefined;
  if (!module) return undefined;
  return (file) => handle(new module.DatabaseSync(file), (parameters) => parameters);
};

const libsql: SqliteLibrary = async () => {
  const open = loadLibsqlNative() ?? (await loadLibsql());
  // libsql takes a single null for an object of named parameters, so it gets an array.
  return (file) => handle(open(file), (parameters) => [parameters]);
};

async function loadLibsql(): Promise<(file: string) => SqliteDatabase> {
  const { default: Libsql } = (await import("libsql")) as unknown as { default: new (file: string) => SqliteDatabase };
  return (file) => new Libsql(file);
}

const LIBRARIES: readonly SqliteLibrary[] = [nodeSqlite, libsql];

/** Opens the file with the first library that loads. */
export async function openSqliteFile(file: string, libraries = LIBRARIES): Promise<SqliteHandle> {
  const open = await loadSqlite(libraries);
  if (open instanceof NexusError) throw open;
  return open(file);
}

/** Why there can be no SQLite file on this machine; undefined where there can. */
export async function sqliteProblem(): Promise<NexusError | undefined> {
  const loaded = await loadSqlite(LIBRARIES);
  return loaded instanceof NexusError ? loaded : undefined;
}

async function loadSqlite(libraries: readonly SqliteLibrary[]): Promise<((file: string) => SqliteHandle) | NexusError> {
  const reasons: unknown[] = [];
  for (const load of libraries) {
    const open = await load().catch((error: unknown) => void reasons.push(error));
    if (open) return open;
  }
  return storeUnusable(
    `No SQLite library can be loaded${reasons.length > 0 ? `: ${reasons.map(messageOf).join(", ")}` : ""}`,
    "Use Node.js 22.13 or newer, run npm install libsql, or use PostgreSQL: --database postgres://…",
  );
}

/** Statements that were used last stay compiled: that takes longer than to run most of them. */
const MAX_KEPT_STATEMENTS = 64;

function handle(database: SqliteDatabase, spread: (parameters: unknown[]) => unknown[]): SqliteHandle {
  const kept = new RecentMap<string, Statement>({ most: MAX_KEPT_STATEMENTS });
  let locked: LockedStatement | undefined;
  const use = <T>(sql: string, run: (statement: Statement) => T): T => {
    const isAgain = locked?.sql === sql;
    if (!isAgain) finish();
    const statement = (isAgain && locked?.statement) || (kept.get(sql) ?? database.prepare(sql));
    // One that fails is not used again.
    kept.delete(sql);
    locked = undefined;
    const result = runLocked(sql, statement, run);
    kept.set(sql, statement);
    return result;
  };
  const runLocked = <T>(sql: string, statement: Statement, run: (statement: Statement) => T): T => {
    try {
      return run(statement);
    } catch (error) {
      if (isLocked(error) && READ.test(sql)) locked = { sql, statement, run };
      throw error;
    }
  };
  const finish = () => {
    if (!locked) return;
    const { sql, statement, run } = locked;
    locked = undefined;
    try {
      runLocked(sql, statement, run);
    } catch (error) {
      if (isLocked(error)) throw error;
    }
  };
  return {
    all: (sql, parameters) => use(sql, (statement) => statement.all(...spread([...parameters]))),
    run: (sql, parameters) => use(sql, (statement) => Number(statement.run(...spread([...parameters])).changes)),
    exec: (sql) => {
      if (sql !== "rollback") finish();
      database.exec(sql);
    },
    close: () => database.close(),
  };
}

/** A write takes the lock before it, and would have its effect when it runs again. */
const READ = /^\s*select\b/i;

/**
 * A read that failed because another process had the lock. libsql resets it only when it runs again, and until then
 * the connection goes on seeing the file as it was, and cannot write: so it runs again before anything else does.
 */
interface LockedStatement {
  sql: string;
  statement: Statement;
  run: (statement: Statement) => unknown;
}

function isLocked(error: unknown): boolean {
  return LOCKED.has(sqliteCode(error));
}

/** Suppresses the warning of some Node versions that the module is experimental. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
