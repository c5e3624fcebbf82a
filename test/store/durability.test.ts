import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { isFull } from "../fixtures/depth.ts";
import { hasPostgres, PostgresServer } from "../fixtures/postgres.ts";
import { addressOf, onBothEngines, StoreWorld } from "../fixtures/store-world.ts";
import type { Store } from "../../src/store/store.ts";

const WRITER = fileURLToPath(new URL("../../build/fixtures/store-writer.js", import.meta.url));
const KILLED = isFull ? 10 : 3;
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

/** A process that writes to a store. `acknowledged` are the lines it printed after its writes. */
class Writer {
  readonly acknowledged: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #awaited: { count: number; resolve: () => void } | undefined;

  constructor(address: string, stateFolder: string, name: string, count?: number) {
    const args = [WRITER, address, stateFolder, name, ...(count === undefined ? [] : [String(count)])];
    this.#child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    children.add(this.#child);
    const lines = createInterface({ input: this.#child.stdout! });
    lines.on("line", (line) => this.#take(line));
    this.#ended = Promise.all([once(this.#child, "close"), once(lines, "close")]);
  }

  async wrote(count: number): Promise<void> {
    if (this.acknowledged.length >= count) return;
    await Promise.race([
      new Promise<void>((resolve) => (this.#awaited = { count, resolve })),
      this.#ended.then(() => Promise.reject(new Error("the writer ended"))),
    ]);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async ended(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  #take(line: string): void {
    this.acknowledged.push(line);
    if (this.#awaited && this.acknowledged.length >= this.#awaited.count) this.#awaited.resolve();
  }
}

/** The acknowledged writes that are not in the store. */
async function missingIn(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const line of acknowledged) {
    const [file = "", id = ""] = line.split(" ");
    const [isTrusted, key] = await Promise.all([store.trust.isTrusted(file, "trusted"), store.keys.find(id)]);
    if (!isTrusted || key?.name !== file) missing.push(line);
  }
  return missing;
}

onBothEngines("durability", (world) => {
  const stateFolder = () => join(world().folder, "state");

  test(`R8: ${KILLED} processes killed during writes lose no acknowledged write`, async () => {
    const text = await world().newAddressText();
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLED; round++) {
      const writer = new Writer(text, stateFolder(), `w${round}`);
      // After a different number of writes each time.
      await writer.wrote(5 + 7 * round);
      await writer.kill();
      acknowledged.push(...writer.acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLED * 5);
    const store = await world().openStore({ address: addressOf(text) });
    expect(await missingIn(store, acknowledged)).toEqual([]);
    expect(await store.engine.findDamage()).toEqual([]);
  });

  test("processes that write to one store at the same time lose no write", async () => {
    const text = await world().newAddressText();
    const writers = ["one", "two", "three"].map((name) => new Writer(text, stateFolder(), name, 40));
    expect(await Promise.all(writers.map((writer) => writer.ended()))).toEqual([0, 0, 0]);
    const acknowledged = writers.flatMap((writer) => writer.acknowledged);
    expect(acknowledged).toHaveLength(120);
    const store = await world().openStore({ address: addressOf(text) });
    expect(await missingIn(store, acknowledged)).toEqual([]);
    expect(await store.keys.count()).toBe(120);
    const rows = await store.engine.db.selectFrom("nexus_generations").selectAll().execute();
    expect(rows).toEqual([{ topic: "keys", value: 120 }]);
  });
});

/** One write as a single statement, one as a transaction. */
async function writeBoth(store: Store, file: string): Promise<void> {
  await store.trust.trust(file, "trusted");
  const grants = { allow: ["*"], deny: [], readOnly: false };
  await store.keys.create({ tenant: "default", name: file, role: "caller", grants });
}

describe.skipIf(!hasPostgres)(`unavailable PostgreSQL${hasPostgres ? "" : " (not installed: not tried)"}`, () => {
  test("a stopped PostgreSQL causes STORE_UNAVAILABLE, and the pool recovers after its restart", async () => {
    await using server = await PostgresServer.start();
    await using world = await StoreWorld.open("postgres");
    const store = await world.openStore({ address: addressOf(server.url) });
    const codes: string[] = [];
    const over = new AbortController();
    const stored: string[] = [];
    const use = async (name: string) => {
      for (let index = 0; !over.signal.aborted; index++) {
        const file = `${name}-${index}`;
        await writeBoth(store, file).then(
          () => stored.push(file),
          async (error: { code: string }) => {
            codes.push(error.code);
            await new Promise(setImmediate);
          },
        );
      }
    };
    const using = ["a", "b", "c", "d"].map(use);
    await expect.poll(() => stored.length).toBeGreaterThan(20);
    await server.stop();
    await expect.poll(() => codes.length).toBeGreaterThan(20);
    await expect(store.tenants.list()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.not.stringContaining("only-for-tests"),
      details: { mayHaveReached: false },
    });
    await server.startAgain();
    const before = stored.length;
    await expect.poll(() => stored.length).toBeGreaterThan(before + 20);
    over.abort();
    await Promise.all(using);
    expect(new Set(codes)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    const names = new Set((await store.keys.list()).map(({ name }) => name));
    for (const file of stored) {
      expect(names).toContain(file);
      expect(await store.trust.isTrusted(file, "trusted")).toBe(true);
    }
  });

  test("change notices report since when the database is silent, and continue after its restart", async () => {
    await using server = await PostgresServer.start();
    await using world = await StoreWorld.open("postgres");
    const store = await world.openStore({ address: addressOf(server.url) });
    const heard: string[] = [];
    await store.changes.listen((topic) => void heard.push(topic));
    await server.stop();
    await expect.poll(() => store.changes.silentSince).toBeGreaterThan(0);
    await server.startAgain();
    await expect.poll(() => store.changes.silentSince).toBeUndefined();
    await store.tenants.create("shop");
    await expect.poll(() => heard).toEqual(["tenants"]);
  });

  test("a wrong password is CONFIG_INVALID, a closed port STORE_UNAVAILABLE", async () => {
    await using world = await StoreWorld.open("postgres");
    const shared = inject("postgres");
    const wrong = addressOf(shared.replace("only-for-tests", "wrong"));
    await expect(world.openStore({ address: wrong })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const closed = addressOf(shared.replace(/:\d+\//, ":1/"));
    await expect(world.openStore({ address: closed })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
