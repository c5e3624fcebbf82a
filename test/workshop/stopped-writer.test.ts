import { once } from "node:events";
import { appendFile, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Params } from "../../src/protocol/json-rpc.ts";
import { ApiWorld } from "./api-world.ts";
import { booking } from "./capcorn/capcorn-stay.ts";

const SECRETS = { user: "partner", password: "word", system: "21", "pin-9100": "k-81-k" };
const preloading = (name: string) => {
  return { NODE_OPTIONS: `--import=${fileURLToPath(new URL(`../fixtures/preload/${name}.mjs`, import.meta.url))}` };
};
const callFor = (mine: Params) => ["mcp", "call", "capcorn.create_reservation", "--args", JSON.stringify(mine)];

let world: ApiWorld;
beforeAll(async () => {
  world = await ApiWorld.open({ api: "capcorn", secrets: SECRETS });
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function fileOfWrites(ending: string): Promise<string> {
  const folder = join(world.world.home, ".local/state/nexus/writes");
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(ending));
  return join(folder, name);
}

/** Books with two processes, the first of which is stopped right before it records that it does. */
async function bookTwice(mine: Params, whileStopped: (lock: string) => Promise<void>) {
  const first = world.world.start(callFor(mine), { env: preloading("stop-before-append") });
  const firstEnded = once(first.child, "close");
  await expect.poll(() => first.output.stderr).toContain("stopped");
  await whileStopped(await fileOfWrites(".lock"));
  const second = world.world.start(callFor(mine), { env: preloading("report-waiting") });
  const secondEnded = once(second.child, "close");
  const isWaiting = () => second.output.stderr.includes("waiting") || second.child.exitCode !== null;
  await expect.poll(isWaiting).toBe(true);
  first.child.kill("SIGCONT");
  await Promise.all([firstEnded, secondEnded]);
  return { first, second };
}

test("--verbose tells each thing about a call once", async () => {
  const search = { hotelIds: [9100], arrival: "2025-12-17", departure: "2025-12-20", rooms: [{ adults: 2 }] };
  const args = ["mcp", "call", "capcorn.availability_search", "--verbose", "--args", JSON.stringify(search)];
  const { code, stderr } = await world.world.run(args);
  expect(code).toBe(0);
  expect(stderr.match(/Sending a request/g)).toHaveLength(1);
});

// Windows has no signals that stop a process and let it go on.
test.runIf(process.platform !== "win32")(
  "X15: a process that was stopped while it records a write keeps its lock, and another one waits",
  async () => {
    const before = world.sent("create_reservation");
    const { first, second } = await bookTwice(booking({ reference: "stopped" }), async (lock) => {
      // What an hour without a sign of life looks like, or a clock that was set.
      const longAgo = new Date(Date.now() - 3_600_000);
      await utimes(lock, longAgo, longAgo);
    });
    expect(world.sent("create_reservation")).toBe(before + 1);
    expect(first.child.exitCode).toBe(0);
    expect(second.output.stdout).toMatch(/already done|has been running/);
  },
);

test.runIf(process.platform !== "win32")(
  "X15: a process that has lost its lock while it was stopped does not send what another sent meanwhile",
  async () => {
    const before = world.sent("create_reservation");
    const { first, second } = await bookTwice(booking({ reference: "lost" }), (lock) => rm(lock));
    expect(world.sent("create_reservation")).toBe(before + 1);
    expect(second.child.exitCode).toBe(0);
    expect(first.output.stdout).toContain("already done");
  },
);

test("X15: a booking is recognised after thousands of others", async () => {
  const mine = booking({ reference: "early" });
  const before = world.sent("create_reservation");
  expect((await world.world.run(callFor(mine))).code).toBe(0);
  const others = Array.from({ length: 12_000 }, (_, index) => {
    return JSON.stringify({ key: `OTHER${index}`, kind: "done", at: Date.now(), result: { content: [] } });
  });
  await appendFile(await fileOfWrites(".jsonl"), `${others.join("\n")}\n`);
  expect((await world.world.run(callFor(booking({ reference: "late" })))).code).toBe(0);
  expect((await world.world.run(callFor(mine))).stdout).toContain("already done");
  expect(world.sent("create_reservation")).toBe(before + 2);
});
