import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileEraCache } from "./era-cache.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-eras-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const later = Date.now() + 1e9;

test.each([null, "modern", 1, [], {}, { era: "modern" }, { era: "stone", expiresAt: later }, { expiresAt: later }])(
  "an entry that is none (%j) is as good as none",
  async (entry) => {
    const file = join(folder, "eras.json");
    await writeFile(file, JSON.stringify({ bad: entry, good: { era: "legacy", expiresAt: later } }));
    const cache = new FileEraCache(file);
    expect(await cache.find("bad")).toBeUndefined();
    expect(await cache.find("good")).toBe("legacy");
    await cache.remember("new", "modern");
    expect(await cache.find("new")).toBe("modern");
    expect(await cache.find("good")).toBe("legacy");
  },
);

test("concurrent writers leave a complete file and no other files", async () => {
  const file = join(folder, "eras.json");
  const [one, two] = [new FileEraCache(file), new FileEraCache(file)];
  await Promise.all([one.remember("a", "modern"), two.remember("b", "modern")]);
  expect([await one.find("a"), await one.find("b")]).toContain("modern");
  expect(await readdir(folder)).toEqual(["eras.json"]);
});
