import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteFile, type SqliteHandle } from "./sqlite-handle.ts";

/** Two connections with one file. Without a log, a read waits for a writer, so that a lock is easy to cause. */
async function openTwo(): Promise<[SqliteHandle, SqliteHandle]> {
  const folder = await mkdtemp(join(tmpdir(), "nexus-handle-"));
  const file = join(folder, "t.db");
  const both: [SqliteHandle, SqliteHandle] = [await openSqliteFile(file), await openSqliteFile(file)];
  onTestFinished(async () => {
    for (const each of both) each.close();
    await rm(folder, { recursive: true, force: true });
  });
  both[0].exec("create table t (a integer)");
  both[0].run("insert into t values (?)", [1]);
  return both;
}

const READ = "select count(*) as n from t where a > ?";

test("after a read that failed because of a lock, other connections can write, and what they wrote is seen", async () => {
  const [reader, writer] = await openTwo();
  writer.exec("begin exclusive");
  expect(() => reader.all(READ, [0])).toThrow("locked");
  writer.run("insert into t values (?)", [2]);
  writer.exec("commit");
  expect(reader.all("select max(a) as a from t", [])).toEqual([{ a: 2 }]);
  writer.exec("begin exclusive");
  writer.run("insert into t values (?)", [3]);
  writer.exec("commit");
  expect(reader.all(READ, [0])).toEqual([{ n: 3 }]);
  reader.exec("begin immediate");
  reader.run("insert into t values (?)", [4]);
  reader.exec("commit");
  expect(writer.all(READ, [0])).toEqual([{ n: 4 }]);
});

test("a read that failed because of a lock can be repeated with other values", async () => {
  const [reader, writer] = await openTwo();
  writer.exec("begin exclusive");
  for (let each = 0; each < 3; each++) expect(() => reader.all(READ, [0])).toThrow("locked");
  expect(() => reader.exec("begin immediate")).toThrow("locked");
  writer.exec("commit");
  expect(reader.all(READ, [1])).toEqual([{ n: 0 }]);
  expect(reader.all(READ, [0])).toEqual([{ n: 1 }]);
});
