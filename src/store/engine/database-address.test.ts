import { expect, test } from "vitest";
import { parseDatabaseAddress } from "./database-address.ts";
import { openSqliteFile } from "./sqlite-handle.ts";

const parse = (text: string) => parseDatabaseAddress(text, { home: "/home/ada", base: "/srv" });

test.skipIf(process.platform === "win32").each([
  ["nexus.db", "/srv/nexus.db"],
  ["./data/nexus.db", "/srv/data/nexus.db"],
  ["/srv/nexus.db", "/srv/nexus.db"],
  ["~/nexus.db", "/home/ada/nexus.db"],
  ["file:nexus.db", "/srv/nexus.db"],
  ["file:/srv/nexus.db", "/srv/nexus.db"],
  ["file:///srv/a%20b.db", "/srv/a b.db"],
  ["FILE:~/nexus.db", "/home/ada/nexus.db"],
])("%s is the address of a file", (text, file) => {
  expect(parse(text)).toEqual({ kind: "sqlite", file, shown: file });
});

test.each([
  ["postgres://localhost/nexus", "postgres://localhost/nexus"],
  ["postgresql://ada:secret@db.example:6432/nexus", "postgres://ada@db.example:6432/nexus"],
  ["postgres://ada@db.example/nexus?password=secret&sslmode=require", "postgres://ada@db.example/nexus"],
])("%s is a PostgreSQL address and is shown without its password", (url, shown) => {
  expect(parse(url)).toEqual({ kind: "postgres", url, shown });
});

test.each(["", "file:", ":memory:", "mysql://localhost/nexus", "https://db.example", "postgres://a:b:c/x"])(
  "%j is not the address of a database",
  (text) => expect(parse(text)).toBeUndefined(),
);

test.each(["postgres://ada:12/34@db.example/nexus", "postgres://ada:12#34@db.example/nexus"])(
  "%j has a password that is not encoded, and is refused instead of shown",
  (text) => expect(parse(text)).toBeUndefined(),
);

test("without a SQLite library the error says what to install", async () => {
  const failing = () => Promise.reject(new Error("no binary for this platform"));
  const opening = openSqliteFile("/nowhere/nexus.db", [async () => undefined, failing]);
  await expect(opening).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "No SQLite library can be loaded: no binary for this platform",
    hint: expect.stringMatching(/22\.13.*npm install libsql.*postgres:/),
  });
});
