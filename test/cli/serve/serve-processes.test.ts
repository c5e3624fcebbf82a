import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../../src/index.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { childrenOf } from "../../fixtures/processes.ts";
import { oddServer } from "../../host/odd-server.ts";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(() => world[Symbol.asyncDispose]());

interface Served {
  url: string;
  processes: object;
}

async function serving(config: object, args: readonly string[] = []): Promise<{ child: ChildProcess; said: Served }> {
  const file = await world.write("mcp.json", config);
  const { child, output } = world.start(["serve", "--port", "0", "--json", "--config", file, ...args]);
  await expect.poll(() => output.stdout || output.stderr).not.toBe("");
  return { child, said: JSON.parse(output.stdout || output.stderr) as Served };
}

const servers = Object.fromEntries(["a", "b", "c", "d"].map((id) => [id, oddServer()]));

test("nexus serve takes its limits from the configuration, keeps them, and says what to expect", async () => {
  const shared = { ...servers, e: oddServer({}, { isolation: "shared" }) };
  const { child, said } = await serving({ servers: shared, gateway: { limits: { processes: 2 } } });
  expect(said.processes).toEqual({ servers: 5, shared: 1, perClient: 4, perCall: 0, limit: 2 });
  await using client = await connect({ url: said.url });
  expect(await client.listTools()).toHaveLength(5);
  for (const id of Object.keys(shared)) {
    expect(await client.callTool(`${id}__echo`)).toMatchObject({ content: [{ type: "text" }] });
    expect(childrenOf(child.pid ?? 0).length).toBeLessThanOrEqual(2);
  }
  const metrics = await (await fetch(new URL("/metrics", said.url))).text();
  expect(metrics).toMatch(/^nexus_processes 2$/m);
  expect(metrics).toMatch(/^nexus_processes_waiting 0$/m);
  child.kill("SIGTERM");
});

test("options of nexus serve count before the configuration", async () => {
  const { child, said } = await serving({ servers, gateway: { limits: { processes: 2 } } }, ["--max-processes", "7"]);
  expect(said.processes).toMatchObject({ limit: 7 });
  child.kill("SIGTERM");
});

test.each([
  [{ limits: { processes: 0 } }, `"gateway.limits.processes" must be a whole number, 1 or more`],
  [{ limits: { memory: "lots" } }, `"gateway.limits.memory" is not a size`],
  [{ limits: { process: 2 } }, `gateway.limits.process: "process" is not known here`],
  [{ limits: { processWait: "soon" } }, `"gateway.limits.processWait" is not a duration`],
  [{ limits: [] }, `"gateway.limits" must be an object, not a list`],
  ["big", `"gateway" is not an object`],
])("nexus serve refuses the settings %j with their place", async (gateway, message) => {
  const file = await world.write("bad.json", { servers: {}, gateway });
  const ran = await world.run(["serve", "--port", "0", "--json", "--config", file]);
  const { error } = JSON.parse(ran.stderr) as { error: { message: string; source: { file: string; line: number } } };
  expect([ran.code, error.message]).toEqual([3, message]);
  expect(error.source).toMatchObject({ file, line: expect.any(Number) as number });
});

test.each([
  ["--max-processes", "many", "is not a number of processes"],
  ["--max-memory", "big", "is not a size"],
])("nexus serve refuses %s %s", async (option, value, problem) => {
  const ran = await world.run(["serve", option, value]);
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) as string });
});
