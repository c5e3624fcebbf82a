import { closeSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import type { SqliteDatabase, SqlRow } from "./sqlite-handle.ts";

/** What is used of libsql's native library, with the arguments that the package `libsql` gives it. */
interface Native {
  databaseOpen(
    file: string,
    authToken: string,
    cipher: string,
    key: string,
    timeout: number,
    remoteKey: string,
  ): object;
  databaseExecSync(this: object, sql: string): void;
  databasePrepareSync(this: object, sql: string): object;
  databaseClose(this: object): void;
  statementRun(this: object, parameters: unknown): { changes: number };
  statementRowsSync(this: object, parameters: unknown): object;
  /** Fills the array with the next rows. The first free place is the end. */
  rowsNext(this: object, rows: (SqlRow | undefined)[]): void;
}

const FUNCTIONS = [
  "databaseOpen",
  "databaseExecSync",
  "databasePrepareSync",
  "databaseClose",
  "statementRun",
  "statementRowsSync",
  "rowsNext",
] as const satisfies readonly (keyof Native)[];

const ROWS_AT_A_TIME = 100;
const CIPHER = "aes256cbc";
/** Where the program's headers end, which name what loads it. */
const HEADER_BYTES = 4096;

/**
 * Loads libsql's native library without the package around it, which spends 15 ms on finding out the platform: more than all
 * the rest of opening a store. Undefined where the package has to do it.
 */
export function loadLibsqlNative(): ((file: string) => SqliteDatabase) | undefined {
  const { platform, arch } = process;
  if (platform !== "linux" || (arch !== "x64" && arch !== "arm64") || !usesGlibc()) return undefined;
  try {
    // It is a dependency of libsql, which not every package manager makes visible here.
    const native = createRequire(import.meta.url)(`@libsql/linux-${arch}-gnu`) as Partial<Native>;
    return hasAll(native) ? (file) => open(native, file) : undefined;
  } catch {
    return undefined;
  }
}

/** Node tells it in a report, which takes 5 ms. */
function usesGlibc(): boolean {
  try {
    const program = openSync(process.execPath, "r");
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      readSync(program, header);
      return header.includes("/ld-linux-");
    } finally {
      closeSync(program);
    }
  } catch {
    return false;
  }
}

function hasAll(native: Partial<Native>): native is Native {
  return FUNCTIONS.every((name) => typeof native[name] === "function");
}

function open(native: Native, file: string): SqliteDatabase {
  const database = native.databaseOpen(file, "", CIPHER, "", 0, "");
  return {
    exec: (sql) => native.databaseExecSync.call(database, sql),
    close: () => native.databaseClose.call(database),
    prepare: (sql) => {
      const statement = native.databasePrepareSync.call(database, sql);
      return {
        run: (parameters) => native.statementRun.call(statement, parameters),
        all: (parameters) => allRows(native, native.statementRowsSync.call(statement, parameters)),
      };
    },
  };
}

function allRows(native: Native, rows: object): SqlRow[] {
  const found: SqlRow[] = [];
  for (;;) {
    const next = Array<SqlRow | undefined>(ROWS_AT_A_TIME);
    native.rowsNext.call(rows, next);
    for (const row of next) {
      if (!row) return found;
      found.push(row);
    }
  }
}
