import { beforeEach, expect, test } from "vitest";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";
import type { Store } from "../store.ts";
import type { NewApiKey } from "./api-keys.ts";
import { hashOfKey, idInKey, isSameHash, newKeyId, newKeyText } from "./key-text.ts";

const KEY = /^nxs_[A-Za-z0-9]+_[A-Za-z0-9]+$/;
const HOUR_MS = 3_600_000;
const ADA: NewApiKey = {
  tenant: "default",
  name: "ada",
  role: "caller",
  grants: { allow: ["github.*"], deny: ["github.delete*"], readOnly: true },
  limits: { rate: { max: 10, windowMs: 1_000 }, perDay: 10_000 },
  expiresAt: 9e12,
};

test("keys are nxs_<id>_<secret> with a random secret of at least 256 bits", () => {
  const keys = Array.from({ length: 500 }, () => newKeyText(newKeyId()));
  for (const key of keys) {
    expect(key).toMatch(KEY);
    const [, id, secret = ""] = key.split("_");
    expect(idInKey(key)).toBe(id);
    expect(secret.length * Math.log2(62)).toBeGreaterThanOrEqual(256);
  }
  expect(new Set(keys.map((key) => key.split("_")[2])).size).toBe(keys.length);
  const letters = new Set(keys.join("").replaceAll("nxs", "").replaceAll("_", ""));
  expect(letters.size).toBe(62);
});

test.each(["", "nxs_", "nxs_a_b", "Bearer x", `${newKeyText(newKeyId())} `, newKeyText(newKeyId()).slice(0, -1)])(
  "%j is not a key",
  (text) => expect(idInKey(text)).toBeUndefined(),
);

test("hashes are equal only in full length", () => {
  const hash = hashOfKey("a");
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(isSameHash(hash, hash)).toBe(true);
  expect(isSameHash(hash, hashOfKey("b"))).toBe(false);
  expect(isSameHash(hash, hash.slice(0, 32))).toBe(false);
  expect(isSameHash("", "")).toBe(false);
});

onBothEngines("API keys", (world) => {
  let store: Store;
  let time = 0;
  beforeEach(async () => {
    time = 1_000_000;
    store = await world().openStore({ now: () => time });
  });

  test("a key is found by its id and its text, and its secret is not stored", async () => {
    const { key, about } = await store.keys.create(ADA);
    expect(about).toEqual({ ...ADA, id: idInKey(key), allTenants: false, createdAt: time });
    expect(await store.keys.find(about.id)).toEqual(about);
    expect(await store.keys.findByText(key)).toEqual({ about, until: Infinity });
    expect(await store.keys.find("nobody")).toBeUndefined();
    const rows = JSON.stringify(await store.engine.db.selectFrom("nexus_api_keys").selectAll().execute());
    expect(rows).toContain(hashOfKey(key));
    expect(rows).not.toContain(key.split("_")[2]);
  });

  test("a wrong secret with a valid id finds no key", async () => {
    const { key, about } = await store.keys.create(ADA);
    expect(await store.keys.findByText(newKeyText(about.id))).toBeUndefined();
    expect(await store.keys.findByText(`${key}x`)).toBeUndefined();
    expect(await store.keys.findByText(newKeyText(newKeyId()))).toBeUndefined();
  });

  test("keys are listed by tenant, the oldest first", async () => {
    await store.tenants.create("shop");
    for (const name of ["a", "b", "c"]) {
      await store.keys.create({ ...ADA, name, tenant: name === "b" ? "shop" : "default" });
      time++;
    }
    expect((await store.keys.list("default")).map(({ name }) => name)).toEqual(["a", "c"]);
    expect((await store.keys.list()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(await store.keys.count()).toBe(3);
  });

  test("a rotation keeps the id, and the old secret is valid until the overlap ends", async () => {
    const { key: first, about } = await store.keys.create(ADA);
    const second = await store.keys.rotate(about.id, HOUR_MS);
    expect(second?.about).toMatchObject({ id: about.id, name: "ada", formerUntil: time + HOUR_MS });
    expect(second?.key).not.toBe(first);
    const works = async (key = "") => (await store.keys.findByText(key)) !== undefined;
    expect([await works(first), await works(second?.key)]).toEqual([true, true]);
    time += HOUR_MS - 1;
    expect(await works(first)).toBe(true);
    time += 1;
    expect([await works(first), await works(second?.key)]).toEqual([false, true]);
    const third = await store.keys.rotate(about.id, 0);
    expect([await works(second?.key), await works(third?.key)]).toEqual([false, true]);
    expect(await store.keys.rotate("nobody", 0)).toBeUndefined();
  });

  test("a key that has expired cannot be rotated", async () => {
    const { key, about } = await store.keys.create({ ...ADA, expiresAt: time + HOUR_MS });
    time += HOUR_MS;
    expect(await store.keys.rotate(about.id, HOUR_MS)).toBeUndefined();
    expect(await store.keys.findByText(key)).toMatchObject({ about: { formerUntil: undefined }, until: Infinity });
  });

  test("concurrent rotations leave the last two secrets valid", async () => {
    const { about } = await store.keys.create(ADA);
    const issued = await Promise.all(Array.from({ length: 5 }, () => store.keys.rotate(about.id, HOUR_MS)));
    const found = await Promise.all(issued.map((each) => store.keys.findByText(each?.key ?? "")));
    expect(found.filter((each) => each !== undefined)).toHaveLength(2);
  });

  test("a revoked key is marked, cannot be rotated, and loses its former secret", async () => {
    const { key, about } = await store.keys.create(ADA);
    const rotated = await store.keys.rotate(about.id, HOUR_MS);
    expect(await store.keys.revoke(about.id)).toMatchObject({ id: about.id, revokedAt: time });
    expect(await store.keys.findByText(rotated?.key ?? "")).toMatchObject({ about: { revokedAt: time } });
    expect(await store.keys.findByText(key)).toBeUndefined();
    expect(await store.keys.revoke(about.id)).toBeUndefined();
    expect(await store.keys.rotate(about.id, HOUR_MS)).toBeUndefined();
  });

  test("the last use of a key is recorded", async () => {
    const { about } = await store.keys.create(ADA);
    expect(about.usedAt).toBeUndefined();
    time += 5;
    await store.keys.recordUse(about.id);
    expect(await store.keys.find(about.id)).toMatchObject({ usedAt: time });
  });

  test("a key of a tenant that does not exist is refused", async () => {
    await expect(store.keys.create({ ...ADA, tenant: "nobody" })).rejects.toMatchObject({ code: "NAME_UNKNOWN" });
    expect(await store.keys.count()).toBe(0);
  });

  test("tenants have unique names and are removed with all their data", async () => {
    expect((await store.tenants.list()).map(({ name }) => name)).toEqual(["default"]);
    expect(await store.tenants.create("shop")).toEqual({ name: "shop", createdAt: time, limits: {} });
    await store.tenants.create("a-1");
    expect((await store.tenants.list()).map(({ name }) => name)).toEqual(["a-1", "default", "shop"]);
    await expect(store.tenants.create("shop")).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });

    const { key } = await store.keys.create({ ...ADA, tenant: "shop" });
    await store.secrets("shop").set("pin", "4711");
    await store.writes({ tenant: "shop", server: "s", instance: "default" }).begin("a", 9e15);
    expect(await store.tenants.remove("shop")).toBe(true);
    expect(await store.tenants.remove("shop")).toBe(false);
    expect(await store.tenants.find("shop")).toBeUndefined();
    expect(await store.keys.findByText(key)).toBeUndefined();
    await store.tenants.create("shop");
    expect(await store.secrets("shop").list()).toEqual({ secrets: [], unreadable: 0 });
    expect(await store.keys.list("shop")).toEqual([]);
  });

  test("invalid tenant names are refused", async () => {
    for (const name of ["", "Shop", "1shop", "-", "a".repeat(33), "shop/../x", "shop\n"]) {
      await expect(store.tenants.create(name)).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    }
  });

  test("the default tenant cannot be removed", async () => {
    await expect(store.tenants.remove("default")).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  });
});
