import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { examples } from "../../test/fixtures/depth.ts";
import { onBothEngines, StoreWorld } from "../../test/fixtures/store-world.ts";
import { SILENT } from "../text/logger.ts";
import { backUp, restore, type RestoreOptions } from "./backup.ts";
import { checkStore } from "./check.ts";
import type { Store } from "./store.ts";
import { TOPICS } from "./keep/generations.ts";

const GRANTS = { allow: ["*"], deny: [], readOnly: false };

async function fill(store: Store): Promise<string> {
  await store.tenants.create("shop");
  const { key, about } = await store.keys.create({ tenant: "shop", name: "ada", role: "admin", grants: GRANTS });
  await store.keys.rotate(about.id, 3_600_000);
  await store.secrets("shop").set("pin", "the-pin-4711", ["https://shop.example"]);
  const ledger = store.writes({ tenant: "default", server: "s", instance: "default" });
  await ledger.begin("open", 9e15, "book");
  await ledger.settle("done", { kind: "done", result: { content: [{ type: "text", text: "ü\u0000\n" }] } });
  // More rows than one page.
  const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `i${index}`, file: `/${index}`, fingerprint: "f" }));
  await store.engine.db.insertInto("nexus_trust").values(rows).execute();
  return key;
}

/** The rows of a backup, in an order that does not depend on the database. */
async function rowsIn(file: string): Promise<string[]> {
  const lines = gunzipSync(await readFile(file))
    .toString("utf8")
    .trimEnd()
    .split("\n");
  return lines.slice(1, -1).toSorted();
}

const restoring = (world: StoreWorld, options: Pick<RestoreOptions, "file" | "address"> & Partial<RestoreOptions>) =>
  restore({ masterKey: world.masterKey, logger: SILENT, replace: false, ...options });

onBothEngines("backup and restore", (world) => {
  test("a restored backup has all data, also sealed secrets, and its own backup is equal", async () => {
    const store = await world().openStore();
    await fill(store);
    const [file, again] = [join(world().folder, "one.backup"), join(world().folder, "two.backup")];
    const rows = await backUp(store, file);
    const address = await world().newAddress();
    expect(await restoring(world(), { file, address })).toMatchObject({ rows });
    const copy = await world().openStore({ address });
    expect(await backUp(copy, again)).toBe(rows);
    expect(await rowsIn(again)).toEqual(await rowsIn(file));
    expect(await copy.secrets("shop").get("pin")).toEqual({ value: "the-pin-4711", origins: ["https://shop.example"] });
    expect(await copy.keys.list()).toEqual(await store.keys.list());
    expect(await checkStore({ address, masterKey: world().masterKey, logger: SILENT })).toMatchObject({ damage: [] });
  });

  test("a backup contains neither the master key nor secrets, and is owner-only", async () => {
    const store = await world().openStore();
    await fill(store);
    const file = join(world().folder, "one.backup");
    await backUp(store, file);
    const text = gunzipSync(await readFile(file)).toString("utf8");
    const key = await readFile(world().masterKey.file, "utf8");
    expect(text).not.toContain(key.trim());
    expect(text).not.toContain(Buffer.from(key, "base64").toString("hex"));
    expect(text).not.toContain("the-pin-4711");
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("a backup is restored into a store with data only with replace", async () => {
    const [store, target] = [await world().openStore(), await world().newAddress()];
    const file = join(world().folder, "one.backup");
    await fill(store);
    await backUp(store, file);
    const other = await world().openStore({ address: target });
    await other.tenants.create("old");
    await expect(restoring(world(), { file, address: target })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await other.tenants.find("old")).toBeDefined();
    await restoring(world(), { file, address: target, replace: true });
    expect((await other.tenants.list()).map(({ name }) => name)).toEqual(["default", "shop"]);
  });

  test("a restore is noticed by other processes", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    await store.tenants.create("shop");
    const file = join(world().folder, "one.backup");
    await backUp(store, file);
    const heard = new Set<string>();
    await store.changes.listen((topic) => void heard.add(topic));
    await restoring(world(), { file, address, replace: true });
    await expect.poll(() => [...heard].sort()).toEqual([...TOPICS].sort());
  });

  test("a backup with another master key or a newer schema is refused, and nothing changes", async () => {
    const store = await world().openStore();
    const file = join(world().folder, "one.backup");
    await backUp(store, file);
    const address = await world().newAddress();
    const variables = { NEXUS_MASTER_KEY: Buffer.alloc(32, 1).toString("hex") };
    for (const masterKey of [world().keyIn("state", variables), world().keyIn("nowhere")]) {
      await expect(restoring(world(), { file, address, masterKey })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    }
    await rewrite(file, (lines) => [lines[0]!.replace(/"schema":\d+/, '"schema":9'), ...lines.slice(1)]);
    await expect(restoring(world(), { file, address })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("schema version 9"),
    });
    expect(await checkStore({ address, masterKey: world().masterKey, logger: SILENT })).toEqual({ kind: "absent" });
  });
});

describe.skipIf(inject("postgres") === "")("moving between databases", () => {
  test("a backup restored from SQLite into PostgreSQL and back is equal", async () => {
    await using world = await StoreWorld.open("sqlite");
    const store = await world.openStore();
    const key = await fill(store);
    const files = ["sqlite", "postgres", "back"].map((name) => join(world.folder, `${name}.backup`));
    await backUp(store, files[0]!);
    for (const [index, kind] of (["postgres", "sqlite"] as const).entries()) {
      const address = await world.newAddress(kind);
      await restoring(world, { file: files[index]!, address });
      const moved = await world.openStore({ address });
      expect(await moved.keys.findByText(key)).toMatchObject({ about: { name: "ada", tenant: "shop" } });
      await backUp(moved, files[index + 1]!);
    }
    expect(await rowsIn(files[1]!)).toEqual(await rowsIn(files[0]!));
    expect(await rowsIn(files[2]!)).toEqual(await rowsIn(files[0]!));
  });
});

/** Changes the lines of a backup and updates its checksum; the signature stays. */
async function rewrite(file: string, change: (lines: string[]) => string[]): Promise<void> {
  const { createHash } = await import("node:crypto");
  const lines = gunzipSync(await readFile(file))
    .toString("utf8")
    .trimEnd()
    .split("\n");
  const { signature } = JSON.parse(lines.at(-1)!) as { signature: string };
  const changed = change(lines.slice(0, -1)).map((line) => `${line}\n`);
  const sha256 = createHash("sha256").update(changed.join("")).digest("hex");
  const end = JSON.stringify({ rows: changed.length - 1, sha256, signature });
  await writeFile(file, gzipSync(`${changed.join("")}${end}\n`));
}

/** Without these two bytes a file is not a gzip file at all. */
const GZIP_START = 2;

describe("a damaged backup", () => {
  test("a backup with any changed bit or missing end is refused, and the store keeps its data", async () => {
    await using world = await StoreWorld.open("sqlite");
    const store = await world.openStore();
    await store.tenants.create("shop");
    const file = join(world.folder, "one.backup");
    await backUp(store, file);
    const whole = await readFile(file);
    const address = await world.newAddress();
    const target = await world.openStore({ address });
    await target.tenants.create("kept");
    const refused = { code: "DATA_DAMAGED" };
    const content = gunzipSync(whole);
    // Some bits of a gzip header, and the last bits before the checksum, have no meaning.
    const isHarmless = (bytes: Buffer) => {
      try {
        return gunzipSync(bytes).equals(content);
      } catch {
        return false;
      }
    };
    const bit = fc.record({
      at: fc.integer({ min: GZIP_START, max: whole.length - 1 }),
      bit: fc.integer({ min: 0, max: 7 }),
    });
    const end = fc.integer({ min: 1, max: whole.length - 1 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(bit, end), async (damage) => {
        const bytes = Buffer.from(typeof damage === "number" ? whole.subarray(0, damage) : whole);
        if (typeof damage !== "number") bytes[damage.at] = bytes[damage.at]! ^ (1 << damage.bit);
        fc.pre(!isHarmless(bytes));
        await writeFile(file, bytes);
        await expect(restoring(world, { file, address, replace: true })).rejects.toMatchObject(refused);
      }),
      { numRuns: examples(200) },
    );
    expect(await target.tenants.find("kept")).toBeDefined();
  });

  test.each<[string, (lines: string[]) => string]>([
    ["with a missing row", (lines) => lines.toSpliced(1, 1).join("\n")],
    ["with a changed row", (lines) => lines.join("\n").replace("shop", "shot")],
    ["with a line after its end", (lines) => [...lines, lines[1]].join("\n")],
    ["without its last line", (lines) => lines.slice(0, -1).join("\n")],
    ["with another JSON object", () => '{"hello":"world"}'],
    ["without JSON", () => "hello"],
    ["without lines", () => ""],
  ])("a backup %s is refused as damaged", async (_, damage) => {
    await using world = await StoreWorld.open("sqlite");
    const store = await world.openStore();
    await store.tenants.create("shop");
    const file = join(world.folder, "one.backup");
    await backUp(store, file);
    const lines = gunzipSync(await readFile(file))
      .toString("utf8")
      .trimEnd()
      .split("\n");
    await writeFile(file, gzipSync(`${damage(lines)}\n`));
    const address = await world.newAddress();
    await expect(restoring(world, { file, address })).rejects.toMatchObject({ code: "DATA_DAMAGED" });
  });

  test("a row that somebody without the master key added is refused", async () => {
    await using world = await StoreWorld.open("sqlite");
    const store = await world.openStore();
    await store.tenants.create("shop");
    const file = join(world.folder, "one.backup");
    await backUp(store, file);
    await rewrite(file, (lines) => [...lines, lines[1]!.replace("default", "added")]);
    const address = await world.newAddress();
    await expect(restoring(world, { file, address })).rejects.toMatchObject({
      code: "DATA_DAMAGED",
      message: expect.stringContaining("signature"),
    });
  });

  test("a missing backup file is an invalid argument", async () => {
    await using world = await StoreWorld.open("sqlite");
    const file = join(world.folder, "nothing.backup");
    await expect(restoring(world, { file, address: await world.newAddress() })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
  });
});
