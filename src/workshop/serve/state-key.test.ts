import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultInstance, type ServerInstance } from "../../auth/server-instance.ts";
import { loadStateKey } from "./state-key.ts";

const SHOP = defaultInstance("shop");
let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nexus-state-key-"))));
afterAll(() => rm(folder, { recursive: true }));

test("all who look for a key at the same time get the same one, and so does whoever comes later", async () => {
  const load = () => loadStateKey(SHOP, join(folder, "new"), process.platform);
  const keys = await Promise.all(Array.from({ length: 8 }, load));
  const texts = [...keys, await load()].map((key) => Buffer.from(key).toString("hex"));
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toHaveLength(64);
});

test("each server has a key of its own", async () => {
  const load = async (of: ServerInstance) => Buffer.from(await loadStateKey(of, folder, process.platform));
  const others = [defaultInstance("hotel"), { ...SHOP, tenant: "other" }, { ...SHOP, instance: "test" }];
  const keys = await Promise.all([SHOP, ...others].map(load));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(4);
});

test("what is no key is replaced", async () => {
  await writeFile(join(folder, "request-state.key"), "short", { mode: 0o600 });
  expect(await loadStateKey(SHOP, folder, process.platform)).toHaveLength(32);
});
