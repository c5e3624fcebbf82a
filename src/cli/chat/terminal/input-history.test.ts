import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HistoryWalk, InputHistory } from "./input-history.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-history-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the history is kept across sessions in a file that only its owner can read", async () => {
  const path = join(folder, "kept", "history");
  const first = await InputHistory.load(path, "linux");
  const second = await InputHistory.load(path, "linux");
  await first.add("one\ntwo");
  await second.add("three");
  await second.add("three");
  await second.add("   ");
  expect((await InputHistory.load(path, "linux")).entries).toEqual(["one\ntwo", "three"]);
  if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("the history is bounded in entries and in their length", async () => {
  const path = join(folder, "bounded");
  await writeFile(path, Array.from({ length: 800 }, (_, at) => `"entry ${at}"\n`).join(""), { mode: 0o600 });
  const history = await InputHistory.load(path, "linux");
  await history.add("x".repeat(20_000));
  await history.add("last");
  expect(history.entries).toHaveLength(500);
  expect((await InputHistory.load(path, "linux")).entries.at(-1)).toBe("last");
});

test.runIf(process.platform !== "win32")(
  "a history that others can read, or that is damaged, is not used",
  async () => {
    const path = join(folder, "open");
    await writeFile(path, `"secret"\n{broken\n`);
    await chmod(path, 0o644);
    expect((await InputHistory.load(path, "linux")).entries).toEqual([]);
    await chmod(path, 0o600);
    expect((await InputHistory.load(path, "linux")).entries).toEqual(["secret"]);
  },
);

test("going back and forth returns to what was being typed", () => {
  const walk = new HistoryWalk(["a", "b"]);
  expect([walk.older("draft"), walk.older("b"), walk.older("a")]).toEqual(["b", "a", undefined]);
  expect([walk.newer(), walk.newer(), walk.newer()]).toEqual(["b", "draft", undefined]);
});
