import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
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

test("a lock of a process that was killed is free at once, whatever the clock says", async () => {
  await count();
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  await writeFile(`${file()}.lock`, `${child.pid} abc ${hostname()}`);
  const later = new Date(Date.now() + 3_600_000);
  await utimes(`${file()}.lock`, later, later);
  const started = performance.now();
  await count();
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("a lock of another machine whose clock is ahead is not waited for without end", { timeout: 15_000 }, async () => {
  await count();
  await writeFile(`${file()}.lock`, "1 abc elsewhere");
  const later = new Date(Date.now() + 3_600_000);
  await utimes(`${file()}.lock`, later, later);
  await count();
  expect(await readFile(file(), "utf8")).toBe("2");
});

test("a process that is held up keeps its lock for longer than one of which nothing is known", async () => {
  await count();
  await writeFile(`${file()}.lock`, `${process.pid} abc ${hostname()}`);
  const ago = new Date(Date.now() - 7_000);
  await utimes(`${file()}.lock`, ago, ago);
  const waiting = count();
  const first = await Promise.race([
    waiting.then(() => "taken"),
    Promise.resolve().then(async () => {
      for (let i = 0; i < 20; i++) await readdir(folder);
      return "kept";
    }),
  ]);
  expect(first).toBe("kept");
  expect(await readFile(`${file()}.lock`, "utf8")).toContain("abc");
  await rm(`${file()}.lock`);
  await waiting;
});

test("a folder in the place of the lock is told, and left alone", async () => {
  await mkdir(`${file()}.lock`, { recursive: true });
  await expect(count()).rejects.toThrow("A folder is where the lock of the file has to be");
  expect(await readdir(join(folder, "new"))).toEqual(["count.lock"]);
});
