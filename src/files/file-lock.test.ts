import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./file-lock.ts";

let folder: string;
const file = () => join(folder, "new/count");
const lock = () => `${file()}.lock`;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-lock-"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await rm(folder, { recursive: true });
});

async function count(): Promise<void> {
  await withLock(file(), async () => {
    const before = Number(await readFile(file(), "utf8").catch(() => "0"));
    await writeFile(file(), String(before + 1));
  });
}

/** A lock as a process of ours writes it, with another process's number. */
async function tokenOf(pid: number | undefined): Promise<string> {
  const own = await withLock(join(folder, "own"), () => readFile(join(folder, "own.lock"), "utf8"));
  return own.replace(/^\d+/, String(pid));
}

function startIdle(): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  children.add(child);
  return child;
}

/** When the process started, as Linux says it: the field that is the last one of a lock. */
async function startOf(pid: number | undefined): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

async function setTime(ms: number): Promise<void> {
  const at = new Date(Date.now() + ms);
  await utimes(lock(), at, at);
}

/** Whether the counting is still waiting after the lock was tried many times. */
async function isWaiting(counting: Promise<void>): Promise<boolean> {
  const looking = async () => {
    for (let look = 0; look < 300; look++) await readFile(lock()).catch(() => {});
    return true;
  };
  return Promise.race([counting.then(() => false), looking()]);
}

test("concurrent changes of a file are all kept, and no lock is left", async () => {
  await Promise.all(Array.from({ length: 20 }, count));
  expect(await readFile(file(), "utf8")).toBe("20");
  expect(await readdir(join(folder, "new"))).toEqual(["count"]);
});

test("a lock ends with its work, even if it failed, and only its owner can read it", async () => {
  const failing = withLock(file(), async () => {
    if (process.platform !== "win32") expect((await stat(lock())).mode & 0o777).toBe(0o600);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await readdir(join(folder, "new"))).toEqual([]);
});

test("a lock with an unknown holder is removed by one of the waiting processes after a while", async () => {
  await count();
  await writeFile(lock(), "1 dead");
  await Promise.all(Array.from({ length: 10 }, count));
  expect(await readFile(file(), "utf8")).toBe("11");
  expect(await readdir(join(folder, "new"))).toEqual(["count"]);
});

test("the lock of a killed process is free at once, independent of the clock", async () => {
  await count();
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  await writeFile(lock(), await tokenOf(child.pid));
  await setTime(3_600_000);
  const started = performance.now();
  await count();
  expect(performance.now() - started).toBeLessThan(4_000);
});

test.runIf(process.platform === "linux")(
  "a lock of a process that was killed is free at once, also where another process has its number by now",
  async () => {
    await count();
    await writeFile(lock(), (await tokenOf(startIdle().pid)).replace(/\S+$/, "1"));
    const started = performance.now();
    await count();
    expect(performance.now() - started).toBeLessThan(4_000);
  },
);

test("the lock of another machine with a clock ahead is not waited for forever", async () => {
  await count();
  await writeFile(lock(), `1 abc elsewhere 1`);
  await setTime(3_600_000);
  await count();
  expect(await readFile(file(), "utf8")).toBe("2");
});

test("a lock of another machine that is being touched is kept", async () => {
  await count();
  await writeFile(lock(), `1 abc elsewhere 1`);
  let ms = 0;
  const touching = setInterval(() => void setTime((ms -= 60_000)).catch(() => {}), 100);
  const counting = count();
  expect(await isWaiting(counting)).toBe(true);
  clearInterval(touching);
  await rm(lock());
  await counting;
});

test.runIf(process.platform === "linux")(
  "a process that is stopped keeps its lock, whatever the clock says",
  async () => {
    await count();
    const child = startIdle();
    const token = (await tokenOf(child.pid)).replace(/\S+$/, await startOf(child.pid));
    child.kill("SIGSTOP");
    await writeFile(lock(), token);
    await setTime(-3_600_000);
    const counting = count();
    expect(await isWaiting(counting)).toBe(true);
    expect(await readFile(lock(), "utf8")).toBe(token);
    child.kill("SIGKILL");
    await counting;
    expect(await readFile(file(), "utf8")).toBe("2");
  },
);

test("work that has lost its lock notices it before it writes, and leaves the new lock alone", async () => {
  const losing = withLock(file(), async ({ check }) => {
    await check();
    await writeFile(lock(), "2 other elsewhere 1");
    await check();
  });
  await expect(losing).rejects.toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining("took the lock"),
  });
  expect(await readFile(lock(), "utf8")).toBe("2 other elsewhere 1");
});

test("a folder in place of the lock is reported and not removed", async () => {
  await mkdir(lock(), { recursive: true });
  await expect(count()).rejects.toThrow("The lock of the file cannot be created because a folder");
  expect(await readdir(join(folder, "new"))).toEqual(["count.lock"]);
});
