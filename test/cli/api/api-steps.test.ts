import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultInstance, instanceFileName } from "../../../src/auth/server-instance.ts";
import { FileWriteLedger } from "../../../src/workshop/run/writes/file-write-ledger.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";

const FILE = fileURLToPath(new URL("../../../examples/workshop/steps.nexus.yaml", import.meta.url));

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test("nexus api show lists the steps of a tool, and nexus api test runs its checks", async () => {
  const shown = await world.run(["api", "show", FILE]);
  expect(shown.code, shown.stderr).toBe(0);
  expect(shown.stdout).toContain("created: create_customer, when count(customers.items) == 0");
  expect(shown.stdout).toContain("lines: add_line, for each of input.lines (at most 10)");
  const checked = await world.run(["api", "check", FILE]);
  expect(checked.stdout).toMatch(/0 errors/);
  const tested = await world.run(["api", "test", FILE]);
  expect(tested.stdout).toContain("5 checks passed");
});

test("nexus api writes and settle know the writes of steps", async () => {
  const name = `${instanceFileName(defaultInstance("garden-orders"))}.jsonl`;
  const file = join(world.home, ".local/state/nexus/writes", name);
  const ledger = new FileWriteLedger({ file, platform: process.platform });
  await ledger.begin("XK7PR2M4QW9TZ3HVNC5D", 1, "create_order, step order (post_order)");
  expect((await world.run(["api", "writes"])).stdout).toContain("garden-orders.create_order, step order (post_order)");
  const settled = await world.run(["api", "settle", "XK7PR2M4QW9TZ3HVNC5D", "--happened", "no"]);
  expect(settled.stdout).toContain("was not executed. The same call can be made again.");
});
