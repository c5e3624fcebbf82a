import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, test } from "vitest";
import { loadLibsqlNative } from "./libsql-native.ts";
import type { SqliteDatabase } from "./sqlite-handle.ts";

const load = loadLibsqlNative();

test.runIf(isGlibc())("the native library of libsql is found without its package", () => {
  expect(load).toBeTypeOf("function");
});

test.runIf(load)("the native library answers as its package does: rows, changes and codes of errors", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-libsql-"));
  try {
    const own = load?.(join(folder, "own.db"));
    const packaged = new Libsql(join(folder, "packaged.db")) as unknown as SqliteDatabase;
    expect(own && answersOf(own)).toEqual(answersOf(packaged));
  } finally {
    await rm(folder, { recursive: true });
  }
});

function answersOf(database: SqliteDatabase): unknown[] {
  const attempt = (work: () => unknown) => {
    try {
      return work();
    } catch (error) {
      const { message, code, rawCode } = error as Error & { code: unknown; rawCode: unknown };
      return { message, code, rawCode };
    }
  };
  database.exec("create table pets (id integer primary key, name text, picture blob)");
  const insert = (values: unknown[]) => database.prepare("insert into pets values (?, ?, ?)").run(values).changes;
  const select = (sql: string, values: unknown[]) => database.prepare(sql).all(values);
  const answers = [
    insert([1, "Rex", Buffer.from([0, 1, 2])]),
    insert([2, null, null]),
    database.prepare("update pets set name = ? where id > ?").run(["Ada", 0]).changes,
    select("select * from pets where name = ? order by id", ["Ada"]),
    select("select * from pets where name = ?", ["Bob"]),
    select("select ? as given", [null]),
    // Rows come a hundred at a time.
    ...[99, 100, 101, 250].map((count) => select(NUMBERS, [count])),
    attempt(() => insert([1, "Rex", null])),
    attempt(() => database.exec("no sql")),
    attempt(() => select("select * from nowhere", [])),
  ];
  database.close();
  return answers;
}

const NUMBERS =
  "with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?) select n from numbers";

function isGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return process.platform === "linux" && header.glibcVersionRuntime !== undefined;
}
