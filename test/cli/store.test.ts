import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { LATEST_VERSION } from "../../src/store/tables/migrate.ts";
import { quoteWord } from "../../src/text/shell-words.ts";
import { addressOf, StoreWorld } from "../fixtures/store-world.ts";

const MASTER_KEY = Buffer.alloc(32, 5).toString("base64");

/** The JSON output of a command. */
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe("nexus store", () => {
  let nexus: NexusWorld;
  let stores: StoreWorld;
  /** The address of a new database for each test. */
  let database: string;

  beforeAll(async () => {
    nexus = await NexusWorld.open();
    stores = await StoreWorld.open("sqlite");
  });
  afterAll(async () => {
    await nexus[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    database = await stores.newAddressText();
  });

  const run = (...args: string[]) => nexus.run(["store", ...args], { env: { NEXUS_MASTER_KEY: MASTER_KEY } });
  const masterKey = () => stores.keyIn("state", { NEXUS_MASTER_KEY: MASTER_KEY });

  async function fill(address = database): Promise<void> {
    const store = await stores.openStore({ address: addressOf(address), masterKey: masterKey() });
    await store.tenants.create("shop");
    await store.secrets("shop").set("pin", "4711");
    await store.close();
  }

  test("store migrate creates the store and its master key in the user's data folder", async () => {
    await using world = await NexusWorld.open();
    const first = await world.run(["store", "migrate", "--json"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const { database: file, masterKey: key } = parsed(first.stdout) as { database: string; masterKey: string };
    expect(parsed(first.stdout)).toMatchObject({ from: 0, to: LATEST_VERSION });
    expect(file).toMatch(/nexus\.db$/);
    expect(key).toMatch(/master\.key$/);
    if (process.platform !== "win32") expect((await stat(key)).mode & 0o777).toBe(0o600);
    const again = await world.run(["store", "migrate"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("It is up to date") });
    expect(again.stderr).toContain(`Its master key is in ${key}`);
  });

  test("store check of a missing store that was named exits 6 and does not create it", async () => {
    const checked = await run("check", "--json", "--database", database);
    expect(checked).toMatchObject({ code: 6, stderr: "" });
    expect(parsed(checked.stdout)).toMatchObject({ exists: false, damage: [] });
    const people = await run("check", "--database", database);
    expect(people).toMatchObject({ code: 6, stderr: "" });
    expect(people.stdout).toMatch(/^There is no store at .*\. To create it: nexus store migrate --database /);
    expect(people.stdout.trimEnd().endsWith(`--database ${quoteWord(database)}`)).toBe(true);
    expect((await readdir(stores.folder)).filter((name) => database.endsWith(name))).toEqual([]);
  });

  test("store check of a missing store exits 6 if a variable or the configuration names it, and 0 otherwise", async () => {
    await using world = await NexusWorld.open();
    const variable = await world.run(["store", "check"], { env: { NEXUS_DATABASE: database } });
    expect(variable).toMatchObject({ code: 6, stdout: expect.stringMatching(/: nexus store migrate\n$/) });
    const config = await world.write("team.json", { gateway: { database: "./team.db" } });
    const configured = await world.run(["store", "check", "--config", config]);
    expect(configured).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/ migrate --config \S*team\.json'?\n$/),
    });
    const other = await world.run(["store", "check"]);
    expect(other).toMatchObject({ code: 0, stdout: expect.stringMatching(/ yet\. .*: nexus store migrate\n$/) });
  });

  test("store check of an undamaged store exits 0 and prints its row counts", async () => {
    await fill();
    const checked = await run("check", "--json", "--database", database);
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(parsed(checked.stdout)).toMatchObject({
      exists: true,
      schema: LATEST_VERSION,
      damage: [],
      rows: { tenants: 2, secrets: 1 },
    });
    const people = await run("check", "--database", database);
    expect(people.stdout).toContain(
      `has no damage: schema version ${LATEST_VERSION}. It contains:\n  2 tenants\n  0 API keys\n  1 secret\n`,
    );
    // Every table is named.
    expect(people.stdout).not.toContain("_");
    expect(people.stdout).toMatch(/^ {2}0 blocks of audit records$/m);
    expect(people.stdout).toMatch(/^ {2}0 published versions of APIs$/m);
  });

  test("store check of a damaged store exits 10 and prints the damage", async () => {
    await fill();
    await writeFile(database.slice("file:".length), "no database ".repeat(1_000));
    const checked = await run("check", "--database", database);
    expect(checked).toMatchObject({ code: 10, stdout: expect.stringContaining("is damaged") });
    expect(checked.stderr).toContain("nexus store restore FILE");
    const opened = await run("migrate", "--database", database);
    expect(opened).toMatchObject({ code: 3, stderr: expect.stringContaining("is damaged, or is not a database") });
  });

  test("a wrong master key exits 3 and names its origin", async () => {
    await fill();
    const other = { env: { NEXUS_MASTER_KEY: Buffer.alloc(32, 6).toString("hex") } };
    for (const args of [["check"], ["migrate"], ["backup", join(stores.folder, "x.backup")]]) {
      const ran = await nexus.run(["store", ...args, "--database", database], other);
      expect(ran).toMatchObject({ code: 3, stdout: "" });
      expect(ran.stderr).toContain("was created with another master key than the one in NEXUS_MASTER_KEY");
    }
    const missing = await nexus.run(["store", "check", "--database", database]);
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining("is missing") });
  });

  test("a newer database exits 3", async () => {
    await fill();
    const store = await stores.openStore({ address: addressOf(database), masterKey: masterKey() });
    await store.engine.db
      .insertInto("nexus_migrations")
      .values({ version: 99, name: "later", applied_at: 0 })
      .execute();
    for (const command of ["check", "migrate"]) {
      const ran = await run(command, "--database", database, "--json");
      expect(ran).toMatchObject({ code: 3, stdout: "" });
      expect(parsed(ran.stderr)).toMatchObject({ error: { code: "CONFIG_INVALID" } });
    }
  });

  test("store restore fills an empty store, and one with data only with --replace", async () => {
    await fill();
    const file = join(stores.folder, "one.backup");
    const backedUp = await run("backup", file, "--database", database, "--json");
    expect(parsed(backedUp.stdout)).toMatchObject({ file, rows: 3 });
    const target = await stores.newAddressText();
    const restored = await run("restore", file, "--database", target, "--json");
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(parsed(restored.stdout)).toMatchObject({ rows: 3 });
    const refused = await run("restore", file, "--database", target);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("is not empty") });
    expect(await run("restore", file, "--database", target, "--replace")).toMatchObject({ code: 0 });
  });

  test("store backup to - is refused and writes no file", async () => {
    const ran = await run("backup", "-", "--database", database);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be written to stdout") });
    expect((await readdir(stores.folder)).filter((name) => database.endsWith(name))).toEqual([]);
  });

  test("store backup of a store that does not exist exits 6, and creates neither a store nor a backup", async () => {
    const file = join(stores.folder, "absent.backup");
    const ran = await run("backup", file, "--database", database);
    expect(ran).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining("There is no store at") });
    const names = await readdir(stores.folder);
    expect(names.filter((name) => file.endsWith(name) || database.endsWith(name))).toEqual([]);
  });

  test("store backup of a new store counts one row", async () => {
    await run("migrate", "--database", database);
    const ran = await run("backup", join(stores.folder, "new.backup"), "--database", database);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Wrote 1 row of /) });
    expect((await run("check", "--database", database)).stdout).toContain("\n  1 tenant\n");
  });

  test("store restore of a file that is not a backup exits 2 and says so", async () => {
    const file = join(stores.folder, "shop.mjs");
    await writeFile(file, "export const shop = 1;\n");
    const ran = await run("restore", file, "--database", database);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("The file is not a backup of Nexus") });
  });

  test("a damaged backup exits 10, and nothing is restored", async () => {
    await fill();
    const file = join(stores.folder, "damaged.backup");
    await run("backup", file, "--database", database);
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 20));
    const target = await stores.newAddressText();
    const ran = await run("restore", file, "--database", target, "--json");
    expect(ran).toMatchObject({ code: 10, stdout: "" });
    expect(parsed(ran.stderr)).toMatchObject({ error: { code: "DATA_DAMAGED" } });
    expect(parsed((await run("check", "--database", target, "--json")).stdout)).toMatchObject({ exists: false });
  });

  test("store backup replaces an earlier backup, but no other file", async () => {
    await fill();
    const file = join(stores.folder, "again.backup");
    expect(await run("backup", file, "--database", database)).toMatchObject({ code: 0 });
    expect(await run("backup", file, "--database", database)).toMatchObject({ code: 0 });
    const ran = await run("backup", database.slice("file:".length), "--database", database);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("exists and is not a backup") });
    expect(await run("check", "--database", database)).toMatchObject({ code: 0 });
  });

  test("a database that cannot be opened exits 4", async () => {
    const ran = await run("migrate", "--database", stores.folder);
    expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining("is not available") });
  });

  test("a PostgreSQL that cannot be reached exits 4, and its password is not shown", async () => {
    const ran = await run("check", "--database", "postgres://ada:hush-hush@127.0.0.1:1/nexus", "--json");
    expect(ran).toMatchObject({ code: 4, stdout: "" });
    expect(parsed(ran.stderr)).toMatchObject({ error: { code: "STORE_UNAVAILABLE" } });
    expect(ran.stderr).not.toContain("hush-hush");
  });

  test("--database wins over NEXUS_DATABASE, which wins over the configuration", async () => {
    const config = await nexus.write("team/nexus.json", { gateway: { database: "./configured.db" } });
    const shown = async (args: string[], env: Record<string, string>) => {
      const ran = await nexus.run(["store", "check", "--json", "--config", config, ...args], { env });
      return parsed(ran.stdout)["database"];
    };
    const env = { NEXUS_DATABASE: "file:/variable/nexus.db" };
    expect(await shown([], {})).toBe(join(nexus.root, "team", "configured.db"));
    expect(await shown([], env)).toBe("/variable/nexus.db");
    expect(await shown(["--database", "/option/nexus.db"], env)).toBe("/option/nexus.db");
  });

  test("gateway.database counts in the user's configuration, not in a project's", async () => {
    await using world = await NexusWorld.open();
    await world.write("home/.nexus/mcp.json", { gateway: { database: "~/own.db" } });
    await world.write("home/work/project/.mcp.json", { mcpServers: {}, gateway: { database: "/theirs.db" } });
    const ran = await world.run(["store", "check", "--json"]);
    expect(parsed(ran.stdout)).toMatchObject({ database: join(world.home, "own.db") });
  });

  test.each([
    [["--database", "mysql://u:p@h/d"], {}, 2],
    [[], { NEXUS_DATABASE: "mysql://u:p@h/d" }, 3],
  ])("an invalid address is refused and not printed: %j %j", async (args, env, code) => {
    const ran = await nexus.run(["store", "check", ...args], { env });
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining("is not the address of a database") });
    expect(ran.stderr).not.toContain("u:p");
  });

  test.skipIf(inject("postgres") === "")(
    "all store commands work on PostgreSQL, and a store moves there and back",
    async () => {
      await fill();
      const file = join(stores.folder, "move.backup");
      const postgres = await stores.newAddressText("postgres");
      expect(parsed((await run("check", "--json", "--database", postgres)).stdout)).toMatchObject({ exists: false });
      expect(await run("backup", file, "--database", database)).toMatchObject({ code: 0 });
      expect(await run("restore", file, "--database", postgres)).toMatchObject({ code: 0 });
      expect(await run("migrate", "--database", postgres)).toMatchObject({ code: 0 });
      const checked = await run("check", "--json", "--database", postgres);
      expect(parsed(checked.stdout)).toMatchObject({ exists: true, damage: [], rows: { tenants: 2, secrets: 1 } });
      expect(checked.stdout).not.toContain("only-for-tests");
      expect(await run("backup", file, "--database", postgres)).toMatchObject({ code: 0 });
      expect(await run("restore", file, "--database", database, "--replace")).toMatchObject({ code: 0 });
      expect(await run("check", "--database", database)).toMatchObject({ code: 0 });
    },
  );
});
