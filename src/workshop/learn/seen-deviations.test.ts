import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviationLog, readSeen } from "./seen-deviations.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nexus-deviations-"))));
afterAll(() => rm(folder, { recursive: true }));

test("names of a hostile upstream neither fill the record nor control a terminal", async () => {
  const file = join(folder, "shop.json");
  const log = new DeviationLog(file, { api: "shop", server: "shop" });
  log.note("find", [
    { path: "x".repeat(5_000_000), problem: "unknown member" },
    { path: "a\u001b[2J", problem: "unknown member" },
    { path: "a\u202eb", problem: "unknown member" },
    { path: "rooms[3].adults", problem: `expected \u001b[2J${"y".repeat(1_000_000)}`, received: "7" },
  ]);
  log.note(
    "find",
    Array.from({ length: 10_000 }, (_, at) => ({ path: `m${at}`, problem: "unknown member" })),
  );
  log.note("find", [{ path: "rooms[0].adults", problem: `expected \u001b[2J${"y".repeat(1_000_000)}`, received: "8" }]);
  log.flush();
  const { seen = [] } = readSeen(file) ?? {};
  expect(seen).toHaveLength(300);
  expect(seen.find(({ path }) => path === "rooms[].adults")).toMatchObject({ count: 2 });
  expect((await readFile(file)).length).toBeLessThan(200_000);
  expect(JSON.stringify(seen)).not.toMatch(/\\u001b|\\u202e/);
});

test("what was masked, looks like a token or cannot be seen is kept neither as a code nor as a name (X8)", async () => {
  const file = join(folder, "bank.json");
  const log = new DeviationLog(file, { api: "bank", server: "bank" });
  const token = `ghp_${"a1B2".repeat(9)}`;
  const problem = "expected one of the codes open";
  const state = (received: string) => ({ path: "state", problem, received });
  log.note("find", [state("closed"), state(token), state("•••"), state("o\u001b[2J"), state("a•••b")]);
  log.note("find", [
    { path: token, problem: "unknown member", received: "1" },
    { path: `accounts.${token}.balance`, problem: "unknown member", received: "1" },
    { path: "•••", problem: "unknown member", received: "1" },
  ]);
  log.flush();
  expect(readSeen(file)?.seen.map(({ path, values, count }) => ({ path, values, count }))).toEqual([
    { path: "state", values: ["closed"], count: 5 },
  ]);
});
