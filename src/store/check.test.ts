import { open, readFile, stat } from "node:fs/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { onBothEngines, StoreWorld } from "../../test/fixtures/store-world.ts";
import { SILENT } from "../text/logger.ts";
import { checkStore } from "./check.ts";
import type { DatabaseAddress } from "./engine/database-address.ts";
import { openSqliteFile } from "./engine/sqlite-handle.ts";
import { LATEST_VERSION } from "./tables/migrate.ts";

const checking = (world: StoreWorld, address: DatabaseAddress) =>
  checkStore({ address, masterKey: world.masterKey, logger: SILENT });

onBothEngines("checking a store", (world) => {
  test("a check reports a missing store and does not create it", async () => {
    const address = await world().newAddress();
    expect(await checking(world(), address)).toEqual({ kind: "absent" });
    if (address.kind === "sqlite") await expect(stat(address.file)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(world().masterKey.file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a check of an undamaged store counts its rows", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    await store.trust.trust("/a", "one");
    expect(await checking(world(), address)).toMatchObject({
      kind: "checked",
      version: LATEST_VERSION,
      damage: [],
      rows: { nexus_tenants: 1, nexus_trust: 1, nexus_api_keys: 0 },
    });
  });

  test("a check finds secrets that cannot be decrypted, and invalid JSON", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    await store.secrets("default").set("pin", "4711");
    await store.writes({ tenant: "default", server: "s", instance: "default" }).settle("a", {
      kind: "done",
      result: { content: [] },
    });
    await sql`update nexus_secrets set sealed = 'x'`.execute(store.engine.db);
    await sql`update nexus_writes set result = '{'`.execute(store.engine.db);
    expect(await checking(world(), address)).toMatchObject({
      damage: [
        'nexus_secrets: 1 of tenant "default" cannot be decrypted',
        expect.stringMatching(/^nexus_writes: result of [0-9a-f]{64} is not JSON$/),
      ],
    });
  });

  test("a check refuses a wrong master key and a newer schema", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    const masterKey = world().keyIn("state", { NEXUS_MASTER_KEY: Buffer.alloc(32, 1).toString("hex") });
    await expect(checkStore({ address, masterKey, logger: SILENT })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await sql`insert into nexus_migrations values (${LATEST_VERSION + 1}, 'later', 0)`.execute(store.engine.db);
    await expect(checking(world(), address)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

test("a check does not change the SQLite file of another program", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = await world.newAddress();
  if (address.kind !== "sqlite") throw new Error("not a file");
  const handle = await openSqliteFile(address.file);
  handle.exec("create table notes (text text)");
  handle.close();
  const before = await readFile(address.file);
  expect(await checking(world, address)).toEqual({ kind: "absent" });
  expect((await readFile(address.file)).equals(before)).toBe(true);
});

test("a check finds references to a missing tenant", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = await world.newAddress();
  const store = await world.openStore({ address });
  await store.secrets("default").set("pin", "4711");
  await sql`pragma foreign_keys = off`.execute(store.engine.db);
  await sql`update nexus_secrets set tenant = 'gone'`.execute(store.engine.db);
  const found = await checking(world, address);
  expect(found).toMatchObject({ kind: "unreadable", damage: [expect.stringContaining("nexus_secrets")] });
});

test("a check finds overwritten pages of a database file", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = await world.newAddress();
  const store = await world.openStore({ address });
  for (let index = 0; index < 300; index++) await store.trust.trust(`/${index}`, "x".repeat(100));
  await store.close();
  if (address.kind !== "sqlite") throw new Error("not a file");
  const { length } = await readFile(address.file);
  await using file = await open(address.file, "r+");
  await file.write(Buffer.alloc(length - 8_192, 0x5a), 0, undefined, 8_192);
  expect(await checking(world, address)).toMatchObject({ kind: "unreadable" });
});
