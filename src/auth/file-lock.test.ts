import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./file-lock.ts";

let folder: string;
const file = () => join(folder, "new/count");
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-lock-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function count(): Promise<void> {
  await withLock(file(), async () => {
    const before = Number(await readFile(file(), "utf8").catch(() => "0"));
    await writeFile(file(), String(before + 1));
  });
}

test("of many who change a file at once, nobody's change is lost, and no lock is left", async () => {
  await Promise.all(Array.from({ length: 20 }, count));
  expect(await readFile(file(), "utf8")).toBe("20");
  expect(await readdir(join(folder, "new"))).toEqual(["count"]);
});

test("a lock ends with its work, also where that failed, and is its owner's alone", async () => {
  const failing = withLock(file(), async () => {
    if (process.platform !== "win32") expect((await stat(`${file()}.lock`)).mode & 0o777).toBe(0o600);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await readdir(join(folder, "new"))).toEqual([]);
});

test("a lock that a dead process left is taken away by one of those who wait, and holds nobody up", async () => {
  await count();
  await writeFile(`${file()}.lock`, "1 dead");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(`${file()}.lock`, longAgo, longAgo);
  await Promise.all(Array.from({ length: 10 }, count));
  expect(await readFile(file(), "utf8")).toBe("11");
  expect(await readdir(join(folder, "new"))).toEqual(["count"]);
});
