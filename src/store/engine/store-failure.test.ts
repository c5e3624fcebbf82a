import { createServer, type AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";
import { expect, inject, test } from "vitest";
import { selfSigned } from "../../../test/fixtures/self-signed.ts";
import { addressOf, StoreWorld } from "../../../test/fixtures/store-world.ts";
import { SILENT } from "../../text/logger.ts";
import { openEngine } from "./engine.ts";
import { untilFree } from "./sqlite-dialect.ts";
import { isDamage, isUnknownReference, postgresFailure, sqliteFailure } from "./store-failure.ts";

const failing = (facts: object) => postgresFailure("postgres://db", Object.assign(new Error("no"), facts));

test.each([
  ["a lost connection", {}],
  ["a write to a closed connection", { code: "EPIPE", syscall: "write" }],
  ["a server that does not run", { code: "ECONNREFUSED", syscall: "connect" }],
  ["a socket that is not there", { code: "ENOENT", syscall: "connect" }],
  ["too many connections", { code: "53300" }],
  ["a shutdown", { code: "57P01" }],
  ["a deadlock", { code: "40P01" }],
  ["a lock that was not released in time", { code: "55P03" }],
])("%s is a temporary failure of PostgreSQL", (_, facts) => {
  expect(failing(facts)).toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test.each([
  ["a wrong password", { code: "28P01" }, "the password"],
  ["an unknown database", { code: "3D000" }, "the database"],
  ["a user that may not create tables", { code: "42501" }, "GRANT CREATE"],
  ["a missing file of certificates", { code: "ENOENT", syscall: "open" }, "sslrootcert"],
])("%s needs a person, who reads what to do", (_, facts, hint) => {
  expect(failing(facts)).toMatchObject({ code: "CONFIG_INVALID", hint: expect.stringContaining(hint) });
});

test("an error of a statement is a bug and stays unchanged", () => {
  expect(failing({ code: "42601" })).toEqual(expect.not.objectContaining({ name: "NexusError" }));
});

/** As Deno throws it: SQLite's words and no number. */
const withoutNumber = (message: string) => Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" });

test("a write waits for other processes where errors of SQLite have no number, as in Deno (R8)", async () => {
  let tries = 0;
  const write = () => {
    if (++tries < 3) throw withoutNumber("database is locked");
    return "written";
  };
  expect(await untilFree(write)).toBe("written");
  expect(tries).toBe(3);
});

test.each([
  ["database is locked", "STORE_UNAVAILABLE", "Another process is writing"],
  ["attempt to write a readonly database", "STORE_UNAVAILABLE", "writable"],
  ["unable to open database file: /srv/nexus.db", "STORE_UNAVAILABLE", "readable and writable"],
  ["file is not a database", "CONFIG_INVALID", "nexus store check"],
])("an error of SQLite without a number is understood by its words: %s (R8)", (words, code, hint) => {
  const failure = sqliteFailure("/srv/nexus.db", withoutNumber(words));
  expect(failure).toMatchObject({ code, details: { hint: expect.stringContaining(hint) } });
});

test("only SQLite's own errors are understood by their words", () => {
  const other = new Error("database is locked");
  expect(sqliteFailure("/srv/nexus.db", other)).toBe(other);
  const bug = withoutNumber('near "selec": syntax error in selec at offset 0');
  expect(sqliteFailure("/srv/nexus.db", bug)).toBe(bug);
  expect(isDamage(withoutNumber("database disk image is malformed"))).toBe(true);
  expect(isUnknownReference(withoutNumber("FOREIGN KEY constraint failed"))).toBe(true);
});

test.skipIf(inject("postgres") === "")(
  "a search path without a schema is reported with what the user needs",
  async () => {
    await using world = await StoreWorld.open("postgres");
    const address = addressOf(`${inject("postgres")}?options=-c%20search_path%3Dnosuch`);
    await expect(world.openStore({ address })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("no schema has been selected"),
      hint: expect.stringContaining("may create tables"),
    });
  },
);

test("sslmode=require verifies the certificate, without a warning of the library, and says how to trust it", async ({
  skip,
}) => {
  const identity = await selfSigned();
  if (!identity) return skip("openssl is not installed");
  const server = createServer((socket) => {
    // Agrees to TLS, as PostgreSQL does.
    socket.once("data", () => {
      socket.write("S", () => new TLSSocket(socket, { isServer: true, ...identity }).on("error", () => {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const warnings: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);
  process.on("warning", warn);
  try {
    const { port } = server.address() as AddressInfo;
    const address = addressOf(`postgres://ada@127.0.0.1:${port}/nexus?sslmode=require`);
    const engine = await openEngine(address, SILENT);
    await expect(engine.hasTable("any")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining("sslrootcert=FILE"),
    });
    await engine.close();
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", warn);
    await new Promise((resolve) => server.close(resolve));
  }
});
