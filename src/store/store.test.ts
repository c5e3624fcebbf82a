import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { addressOf, onBothEngines, StoreWorld } from "../../test/fixtures/store-world.ts";
import type { ChangeTopic } from "./keep/generations.ts";
import { SILENT } from "../text/logger.ts";
import { sqliteAddress } from "./engine/database-address.ts";
import { openEngine } from "./engine/engine.ts";
import { LATEST_VERSION, migrateIn, type StoreEngine } from "./tables/migrate.ts";

onBothEngines("a store", (world) => {
  test("concurrent first users of a store create it once, with one master key", async () => {
    const address = await world().newAddress();
    const stores = await Promise.all(Array.from({ length: 6 }, () => world().openStore({ address })));
    expect(new Set(stores.map(({ masterKey }) => masterKey.checkValue)).size).toBe(1);
    expect(stores.map(({ migrated }) => migrated.from).toSorted((a, b) => a - b)).toEqual([
      0,
      ...Array.from({ length: 5 }, () => LATEST_VERSION),
    ]);
    const [one, other] = stores;
    await one?.secrets("default").set("pin", "4711");
    expect(await other?.secrets("default").get("pin")).toEqual({ value: "4711" });
  });

  test("other work gets its turn while many statements follow each other", async () => {
    const store = await world().openStore();
    const turn = { hasCome: false };
    setImmediate(() => (turn.hasCome = true));
    for (const endsAt = performance.now() + 5000; !turn.hasCome && performance.now() < endsAt;) {
      await store.tenants.list();
    }
    expect(turn.hasCome).toBe(true);
  });

  test("a store keeps its data after it is closed", async () => {
    const address = await world().newAddress();
    const first = await world().openStore({ address });
    await first.trust.trust("/a", "one");
    await first.close();
    const second = await world().openStore({ address });
    expect(await second.trust.isTrusted("/a", "one")).toBe(true);
    expect(second.migrated).toEqual({ from: LATEST_VERSION, to: LATEST_VERSION });
  });

  test.each(Array.from({ length: LATEST_VERSION }, (_, version) => version))(
    "a store of schema version %i is migrated and keeps its data",
    async (version) => {
      const address = await world().newAddress();
      const engine: StoreEngine = await openEngine(address, SILENT);
      await engine.db.transaction().execute((transaction) => migrateIn(transaction, engine.shown, version));
      if (version > 0) await engine.db.insertInto("nexus_tenants").values({ name: "old", created_at: 1 }).execute();
      await engine.close();
      const store = await world().openStore({ address });
      expect(store.migrated).toEqual({ from: version, to: LATEST_VERSION });
      expect((await store.tenants.list()).map(({ name }) => name)).toEqual(
        version > 0 ? ["default", "old"] : ["default"],
      );
    },
  );

  test("a store with a newer schema is refused", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    await store.engine.db.insertInto("nexus_migrations").values({ version: 7, name: "later", applied_at: 1 }).execute();
    await expect(world().openStore({ address })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`has schema version 7; this version of Nexus supports up to ${LATEST_VERSION}`),
      hint: expect.stringContaining("Update Nexus"),
    });
  });

  test("a wrong master key is refused, and the message names its origin", async () => {
    const address = await world().newAddress();
    await world().openStore({ address });
    const masterKey = world().keyIn("state", { NEXUS_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") });
    await expect(world().openStore({ address, masterKey })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(
        /^The store .* was created with another master key than the one in NEXUS_MASTER_KEY$/,
      ),
    });
  });

  test("a missing master key is reported, and no new one is created", async () => {
    const address = await world().newAddress();
    await world().openStore({ address });
    const elsewhere = world().keyIn("elsewhere");
    await expect(world().openStore({ address, masterKey: elsewhere })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^The master key of the store .* is missing$/),
    });
    await expect(stat(elsewhere.file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a store that does not exist is not created where it should exist", async () => {
    const address = await world().newAddress();
    const missing = { code: "NAME_UNKNOWN", message: `There is no store at ${address.shown}` };
    await expect(world().openStore({ address, create: false })).rejects.toMatchObject(missing);
    await expect(stat(world().masterKey.file)).rejects.toMatchObject({ code: "ENOENT" });
    if (address.kind === "sqlite") await expect(stat(address.file)).rejects.toMatchObject({ code: "ENOENT" });
    await world().openStore({ address });
    await world().openStore({ address, create: false });
  });

  test("changes of keys and tenants are noticed by other processes within a second", async () => {
    const address = await world().newAddress();
    const [here, there] = [await world().openStore({ address }), await world().openStore({ address })];
    const heard: ChangeTopic[] = [];
    let hear: () => void = () => {};
    const stop = await there.changes.listen((topic) => {
      heard.push(topic);
      hear();
    });
    const takes: number[] = [];
    const noticing = async <T>(change: () => Promise<T>): Promise<T> => {
      const noticed = new Promise<void>((resolve) => (hear = resolve));
      const result = await change();
      const changedAt = performance.now();
      await noticed;
      takes.push(performance.now() - changedAt);
      return result;
    };
    await noticing(() => here.tenants.create("shop"));
    const grants = { allow: ["*"], deny: [], readOnly: false };
    const { about } = await noticing(() => here.keys.create({ tenant: "shop", name: "a", role: "caller", grants }));
    await here.keys.recordUse(about.id);
    await noticing(() => here.keys.revoke(about.id));
    expect(heard).toEqual(["tenants", "keys", "keys"]);
    // A busy machine may delay some of them.
    expect(Math.min(...takes)).toBeLessThan(1_000);
    expect(there.changes.silentSince).toBeUndefined();
    stop();
  });

  test("a failed transaction is rolled back, and concurrent writes succeed", async () => {
    const store = await world().openStore();
    const failing = store.engine.db.transaction().execute(async (transaction) => {
      await transaction.insertInto("nexus_tenants").values({ name: "half", created_at: 1 }).execute();
      throw new Error("no");
    });
    const others = Array.from({ length: 5 }, (_, index) => store.tenants.create(`t${index}`));
    await expect(failing).rejects.toThrow("no");
    await Promise.all(others);
    expect((await store.tenants.list()).map(({ name }) => name)).toEqual(["default", "t0", "t1", "t2", "t3", "t4"]);
  });
});

test("a listener that throws keeps no other from hearing of a change, and listening can begin again", async () => {
  await using world = await StoreWorld.open("sqlite");
  const logged: string[] = [];
  const logger = { ...SILENT, error: (message: string) => void logged.push(message) };
  const store = await world.openStore({ logger });
  const stopThrowing = await store.changes.listen(() => {
    throw new Error("no");
  });
  const hearing = async (change: () => Promise<unknown>) => {
    const heard: ChangeTopic[] = [];
    let stop = () => {};
    await new Promise<void>((resolve, reject) => {
      const listening = store.changes.listen((topic) => {
        heard.push(topic);
        resolve();
      });
      listening.then((end) => ((stop = end), change())).catch(reject);
    });
    stop();
    return heard;
  };
  expect(await hearing(() => store.tenants.create("shop"))).toEqual(["tenants"]);
  expect(logged).toEqual(["a listener threw"]);
  expect(store.changes.silentSince).toBeUndefined();
  stopThrowing();
  expect(await hearing(() => store.tenants.create("bar"))).toEqual(["tenants"]);
});

test.skipIf(process.platform === "win32")("the files of a store and its master key are owner-only", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = sqliteAddress(join(world.folder, "new", "folder", "nexus.db"), { isOwnFolder: true });
  const store = await world.openStore({ address });
  await store.trust.trust("/a", "one");
  const { file } = address as { file: string };
  for (const each of [file, `${file}-wal`, `${file}-shm`, world.masterKey.file]) {
    expect((await stat(each)).mode & 0o777).toBe(0o600);
  }
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
});

test("a master key in NEXUS_MASTER_KEY may be base64 or hex, and no file is created", async () => {
  await using world = await StoreWorld.open("sqlite");
  const key = Buffer.alloc(32, 3);
  const address = await world.newAddress();
  for (const NEXUS_MASTER_KEY of [key.toString("base64"), key.toString("hex"), ` ${key.toString("base64url")}\n`]) {
    const masterKey = world.keyIn("state", { NEXUS_MASTER_KEY });
    const store = await world.openStore({ address, masterKey });
    expect(store.masterKey.origin).toBe("NEXUS_MASTER_KEY");
  }
  await expect(stat(world.masterKey.file)).rejects.toMatchObject({ code: "ENOENT" });
});

test("an invalid master key is refused, and the error does not contain it", async () => {
  await using world = await StoreWorld.open("sqlite");
  for (const NEXUS_MASTER_KEY of ["hello", "x".repeat(64), "a".repeat(62), "ü".repeat(44)]) {
    const error: unknown = await world
      .openStore({ masterKey: world.keyIn("state", { NEXUS_MASTER_KEY }) })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("NEXUS_MASTER_KEY") });
    expect(JSON.stringify(error) + String(error)).not.toContain(NEXUS_MASTER_KEY);
  }
});

test("derived keys differ by purpose and are stable", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { masterKey } = await world.openStore();
  const purposes = ["seal", "secrets", "servers", "state", "backup", "check"] as const;
  const keys = purposes.map((purpose) => masterKey.derive(purpose).toString("hex"));
  expect(new Set(keys).size).toBe(purposes.length);
  const again = await world.masterKey.find();
  expect(purposes.map((purpose) => again?.derive(purpose).toString("hex"))).toEqual(keys);
  expect(await readFile(world.masterKey.file, "utf8")).not.toContain(masterKey.checkValue);
});

test.each([
  ["plain text", "this is not a database ".repeat(100)],
  ["only a header", `SQLite format 3\0${"\u0001".repeat(2_000)}`],
])("a database file with %s is refused and not changed", async (_, content) => {
  await using world = await StoreWorld.open("sqlite");
  const file = join(world.folder, "other.db");
  await writeFile(file, content, { mode: 0o600 });
  await expect(world.openStore({ address: addressOf(file) })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  expect(await readFile(file, "utf8")).toBe(content);
});

test("a full disk is reported as such, nothing of the failed change remains, and the store works when there is space", async () => {
  await using world = await StoreWorld.open("sqlite");
  const store = await world.openStore();
  const limit = (pages: number) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(store.engine.db);
  await limit(1);
  const grants = { allow: ["x".repeat(100_000)], deny: [], readOnly: false };
  const full = { code: "STORE_UNAVAILABLE", hint: expect.stringContaining("The disk is full") };
  // In a transaction of several statements, and in one statement.
  const creating = store.keys.create({ tenant: "default", name: "a", role: "caller", grants });
  await expect(creating).rejects.toMatchObject(full);
  await expect(store.trust.trust("/a", "x".repeat(100_000))).rejects.toMatchObject(full);
  await limit(10_000);
  expect(await store.keys.count()).toBe(0);
  expect(await store.trust.isTrusted("/a", "x".repeat(100_000))).toBe(false);
  await store.tenants.create("shop");
  expect(await store.tenants.find("shop")).toBeDefined();
});

test("a folder instead of a database file is reported", async () => {
  await using world = await StoreWorld.open("sqlite");
  await expect(world.openStore({ address: addressOf(world.folder) })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
});

test("a folder that does not exist is not created for a database, except the folder of Nexus itself", async () => {
  await using world = await StoreWorld.open("sqlite");
  const file = join(world.folder, "mistyped", "nexus.db");
  await expect(world.openStore({ address: sqliteAddress(file) })).rejects.toMatchObject({
    code: "NAME_UNKNOWN",
    message: `The folder ${dirname(file)} of the database does not exist`,
  });
  await expect(stat(dirname(file))).rejects.toMatchObject({ code: "ENOENT" });
  await world.openStore({ address: sqliteAddress(file, { isOwnFolder: true }) });
  expect((await stat(file)).isFile()).toBe(true);
});
