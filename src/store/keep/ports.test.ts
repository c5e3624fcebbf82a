import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { secretStoreCases } from "../../../test/fixtures/secret-store-cases.ts";
import { cacheStoreCases, eraCacheCases, trustStoreCases } from "../../../test/fixtures/small-store-cases.ts";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";
import { lastingLedgerCases, ledgerCases } from "../../../test/fixtures/write-ledger-cases.ts";
import { MemoryCache } from "../../client/conversation/response-cache.ts";
import { FileTrustStore } from "../../config/trust/trust-store.ts";
import { FileEraCache } from "../../host/servers/era-cache.ts";
import { RETENTION_MS } from "../../workshop/run/writes/write-ledger.ts";
import type { Store } from "../store.ts";

const clock = { now: 1_000 };
const now = () => clock.now;

describe("file and memory implementations", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "nexus-ports-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  trustStoreCases(() => new FileTrustStore({ folder, platform: process.platform }));
  eraCacheCases(() => new FileEraCache(join(folder, "eras.json")));
  cacheStoreCases({
    open: (maxAnswers) => new MemoryCache(maxAnswers === undefined ? {} : { maxAnswers }),
    tick: () => {},
  });
});

onBothEngines("database implementations", (world) => {
  let store: Store;
  let servers = 0;
  beforeEach(async () => {
    clock.now = Date.now();
    store = await world().openStore({ now });
  });
  const server = () => ({ tenant: "default", server: `s${servers++}`, instance: "default" });

  ledgerCases({ open: () => store.writes(server()), clock });
  lastingLedgerCases({
    newStorage: async () => {
      const address = await world().newAddress();
      const of = server();
      return async () => (await world().openStore({ address, now })).writes(of);
    },
    clock,
  });
  trustStoreCases(() => store.trust);
  eraCacheCases(() => store.eras("default"));
  secretStoreCases(() => store.secrets("default"));
  cacheStoreCases({
    open: (maxAnswers) => store.cache("default", maxAnswers === undefined ? {} : { maxAnswers }),
    tick: () => clock.now++,
  });

  test("completed writes are forgotten after a year, pending and unknown ones are not", async () => {
    const ledger = store.writes(server());
    const result = { content: [] };
    await ledger.settle("done", { kind: "done", result });
    await ledger.settle("unknown", { kind: "unknown" });
    await ledger.begin("open", clock.now + 1_000);
    clock.now += RETENTION_MS;
    expect(await ledger.begin("done", clock.now + 1_000)).toMatchObject({ kind: "done" });
    clock.now += 1;
    expect(await ledger.find("done")).toBeUndefined();
    expect(await ledger.begin("done", clock.now + 1_000)).toBeUndefined();
    expect(await ledger.begin("unknown", clock.now + 1_000)).toMatchObject({ kind: "unknown" });
    expect(await ledger.begin("open", clock.now + 1_000)).toMatchObject({ kind: "unknown" });
  });

  test("rows of forgotten writes are removed, those of other servers and of unknown outcomes are kept", async () => {
    const [of, other] = [server(), server()];
    const done = { kind: "done" as const, result: { content: [] } };
    await store.writes(of).settle("done", done);
    await store.writes(of).settle("unknown", { kind: "unknown" });
    await store.writes(other).settle("done", done);
    const rows = async ({ server: name }: typeof of) => {
      const writes = store.engine.db.selectFrom("nexus_writes").select("key").where("server", "=", name);
      return (await writes.execute()).map(({ key }) => key).toSorted();
    };
    clock.now += RETENTION_MS + 1;
    await store.writes(of).settle("new", done);
    expect(await rows(of)).toEqual(["new", "unknown"]);
    expect(await rows(other)).toEqual(["done"]);
  });

  test("secrets, writes, eras and answers are separated by tenant, writes also by server and instance", async () => {
    await store.tenants.create("other");
    const expiresAt = clock.now + 1_000;
    await store.secrets("default").set("pin", "1");
    await store.eras("default").remember("server", "modern");
    await store.cache("default").set("key", { result: {}, expiresAt });
    const of = { tenant: "default", server: "a", instance: "default" };
    await store.writes(of).begin("key", expiresAt);

    expect(await store.secrets("other").get("pin")).toBeUndefined();
    expect(await store.secrets("other").list()).toEqual({ secrets: [], unreadable: 0 });
    expect(await store.secrets("other").remove("pin")).toBe(false);
    expect(await store.eras("other").find("server")).toBeUndefined();
    expect(await store.cache("other").get("key")).toBeUndefined();
    await store.cache("other").forget("");
    expect(await store.cache("default").get("key")).toBeDefined();
    for (const foreign of [{ tenant: "other" }, { server: "b" }, { instance: "second" }]) {
      expect(await store.writes({ ...of, ...foreign }).find("key")).toBeUndefined();
    }
  });

  test("the table of secrets reveals neither names nor values, nor equal values", async () => {
    const sealed = async () => {
      await store.secrets("default").set("github-name", "the-secret-value");
      return store.engine.db.selectFrom("nexus_secrets").selectAll().executeTakeFirstOrThrow();
    };
    const [one, two] = [await sealed(), await sealed()];
    expect(JSON.stringify([one, two])).not.toMatch(/github-name|the-secret-value/);
    expect(one.sealed).not.toBe(two.sealed);
  });

  test("changed or swapped secrets are noticed, and missing in the list", async () => {
    const secrets = store.secrets("default");
    const { db } = store.engine;
    await secrets.set("a", "value-a");
    const { sealed } = await db.selectFrom("nexus_secrets").selectAll().executeTakeFirstOrThrow();
    await secrets.set("b", "value-b");
    await db.updateTable("nexus_secrets").set({ sealed }).execute();
    await expect(secrets.get("b")).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: "A stored secret cannot be decrypted",
    });
    await expect(secrets.allow("b", "https://b.example")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await secrets.get("a")).toEqual({ value: "value-a" });
    expect(await secrets.list()).toEqual({ secrets: [{ name: "a" }], unreadable: 1 });
    await secrets.set("b", "again");
    expect(await secrets.get("b")).toEqual({ value: "again" });
  });

  test("a secret that is too long is refused when it is set", async () => {
    await expect(store.secrets("default").set("long", "x".repeat(2_000_000))).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
    expect(await store.secrets("default").list()).toEqual({ secrets: [], unreadable: 0 });
  });

  test("the era of a server expires, unless it was confirmed in the second half of its lifetime", async () => {
    const DAY_MS = 86_400_000;
    const eras = store.eras("default");
    await eras.remember("a", "legacy");
    await eras.remember("b", "legacy");
    clock.now += 0.6 * DAY_MS;
    await eras.remember("a", "legacy");
    clock.now += 0.6 * DAY_MS;
    expect(await eras.find("a")).toBe("legacy");
    expect(await eras.find("b")).toBeUndefined();
  });
});
