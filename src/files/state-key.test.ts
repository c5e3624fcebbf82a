import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultInstance, instanceKey } from "../auth/server-instance.ts";
import { loadStateKey } from "./state-key.ts";

const SHOP = defaultInstance("shop");
let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nexus-state-key-"))));
afterAll(() => rm(folder, { recursive: true }));

test("concurrent and later readers get the same key", async () => {
  const load = () => loadStateKey(join(folder, "new"), process.platform, "a");
  const keys = await Promise.all(Array.from({ length: 8 }, load));
  const texts = [...keys, await load()].map((key) => key.toString("hex"));
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toHaveLength(64);
});

test("each purpose and each server has a key of its own", async () => {
  const others = [defaultInstance("hotel"), { ...SHOP, tenant: "other" }, { ...SHOP, instance: "test" }];
  const purposes = [...[SHOP, ...others].map((of) => instanceKey(of)), "gateway sessions"];
  const keys = await Promise.all(purposes.map((purpose) => loadStateKey(folder, process.platform, purpose)));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(5);
});

test("an invalid key is replaced", async () => {
  await writeFile(join(folder, "request-state.key"), "short", { mode: 0o600 });
  expect(await loadStateKey(folder, process.platform, "a")).toHaveLength(32);
});
