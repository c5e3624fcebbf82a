import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { SqliteFileDialect } from "./sqlite-dialect.ts";
import { openSqliteFile } from "./sqlite-handle.ts";

interface Tables {
  t: { a: number };
}

test("a transaction that only reads waits for another process that has the lock, as a single read does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-dialect-"));
  const file = join(folder, "t.db");
  const writer = await openSqliteFile(file);
  const db = new Kysely<Tables>({ dialect: new SqliteFileDialect(await openSqliteFile(file), file) });
  onTestFinished(async () => {
    await db.destroy();
    writer.close();
    await rm(folder, { recursive: true, force: true });
  });
  writer.exec("create table t (a integer)");
  writer.exec("begin exclusive");
  writer.run("insert into t values (?)", [1]);
  let isLocked = true;
  const reading = db
    .transaction()
    .setAccessMode("read only")
    .execute(async (transaction) => {
      setImmediate(() => {
        isLocked = false;
        writer.exec("commit");
      });
      return { rows: await transaction.selectFrom("t").selectAll().execute(), isLocked };
    });
  expect(await reading).toEqual({ rows: [{ a: 1 }], isLocked: false });
});
