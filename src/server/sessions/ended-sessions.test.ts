import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EndedSessions } from "./session-ids.ts";

const FUTURE = Date.now() + 3_600_000;
const ended = (id: string, openedAt = 1, until = FUTURE) => ({ principal: "ada", id, openedAt, until });

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-ended-"));
  file = join(folder, "new", "ended.jsonl");
});
afterEach(() => rm(folder, { recursive: true }));

test("what was ended is remembered by every process that comes later, however many wrote at once", async () => {
  const processes = await Promise.all([EndedSessions.open(file), EndedSessions.open(file)]);
  await Promise.all(processes.flatMap((each, at) => ["a", "b"].map((id) => each.add(ended(`${id}${at}`)))));
  const later = await EndedSessions.open(file);
  for (const id of ["a0", "b0", "a1", "b1"]) expect(later.has(ended(id))).toBe(true);
  expect(later.has(ended("c"))).toBe(false);
  expect(later.has({ ...ended("a0"), principal: "bob" })).toBe(false);
});

test("a line that a process did not finish costs no other line", async () => {
  const before = await EndedSessions.open(file);
  await before.add(ended("a"));
  await appendFile(file, `{"principal":"ad`);
  await before.add(ended("b"));
  const later = await EndedSessions.open(file);
  expect(["a", "b"].map((id) => later.has(ended(id)))).toEqual([true, true]);
});

test("what has expired is forgotten, and leaves the file when there is much of it", async () => {
  const before = await EndedSessions.open(file);
  await before.add(ended("kept"));
  const expired = Array.from({ length: 3000 }, (_, at) => `${JSON.stringify(ended(`e${at}`, 1, 1))}\n`);
  await appendFile(file, `\n${expired.join("")}{"no":"session"}\n`);
  const later = await EndedSessions.open(file);
  expect([later.has(ended("kept")), later.has(ended("e1"))]).toEqual([true, false]);
  expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(1);
});

test("one who ends sessions without pause is remembered in bounded space, and ends no session of others", () => {
  const sessions = new EndedSessions();
  for (let at = 0; at < 25_000; at++) void sessions.add(ended(`s${at}`, at));
  expect([0, 16_000, 24_999].map((at) => sessions.has(ended(`s${at}`, at)))).toEqual([false, true, true]);
  // Without authentication all clients are one principal.
  expect([0, 24_999].map((openedAt) => sessions.has(ended("open", openedAt)))).toEqual([false, false]);
});

test("one who ends sessions without pause does not fill the disk, and the latest do not come back after a restart", async () => {
  const sessions = await EndedSessions.open(file);
  for (let at = 0; at < 45_000; at += 3000) {
    await Promise.all(Array.from({ length: 3000 }, (_, more) => sessions.add(ended(`s${at + more}`, at + more))));
  }
  expect((await readFile(file, "utf8")).split("\n").length).toBeLessThan(30_000);
  const later = await EndedSessions.open(file);
  for (const each of [sessions, later]) {
    expect([36_000, 44_999].map((at) => each.has(ended(`s${at}`, at)))).toEqual([true, true]);
    expect(each.has(ended("open", 1))).toBe(false);
  }
});

test("many principals together are remembered in bounded space, those with the most sessions least exactly", () => {
  const sessions = new EndedSessions();
  const principals = Array.from({ length: 12 }, (_, at) => `p${at}`);
  void sessions.add({ ...ended("s"), principal: "few" });
  for (const principal of principals) {
    for (let at = 0; at < 9000; at++) void sessions.add({ ...ended(`s${at}`, at), principal });
  }
  const remembering = (at: number) =>
    principals.filter((principal) => sessions.has({ ...ended(`s${at}`, at), principal })).length;
  expect(remembering(8999)).toBe(12);
  expect(remembering(0)).toBeLessThan(12);
  expect(["s", "open"].map((id) => sessions.has({ ...ended(id), principal: "few" }))).toEqual([true, false]);
});

test("revocation concerns what was opened until then, also after a restart", async () => {
  await (await EndedSessions.open(file)).add({ principal: "ada", openedAt: 100, until: FUTURE });
  const later = await EndedSessions.open(file);
  expect([99, 100, 101].map((openedAt) => later.has(ended("x", openedAt)))).toEqual([true, true, false]);
});

test.skipIf(process.platform === "win32")("a file that others can write is not used", async () => {
  const open = join(folder, "open.jsonl");
  await writeFile(open, "", { mode: 0o666 });
  await expect(EndedSessions.open(open)).rejects.toThrow("Other users can read or change");
});
