import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../../api/museum/", import.meta.url));
const FOLDER = "home/work/project/api/museum";

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  const folder = join(world.project, "api", "museum");
  await mkdir(folder, { recursive: true });
  for (const name of ["museum.nexus.yaml", "manual.md"]) await copyFile(join(MUSEUM, name), join(folder, name));
  const text = await world.read(`${FOLDER}/museum.nexus.yaml`);
  await world.write(`${FOLDER}/museum.nexus.yaml`, text.replaceAll("    effect: ", "    offer: search\n    effect: "));
});
afterAll(() => world[Symbol.asyncDispose]());

test("X6: tools that are searched for work on the command line, with the hints of the gravest", async () => {
  const checked = await world.run(["api", "check", "museum"]);
  expect(checked.stdout).toContain("0 tools; 4 more by searching");
  expect((await world.run(["api", "approve", "museum", "--by", "Ada", "--yes"])).code).toBe(0);
  await world.run(["mcp", "add", "museum", "--api", "museum", "--upstream", "fake"]);
  const listed = await world.run(["mcp", "tools", "museum"]);
  expect(listed.stdout).toMatch(/search_tools.*\[read-only\]/);
  expect(listed.stdout).toMatch(/call_tool.*\[destructive\]/);
  expect(listed.stdout).not.toContain("order_tickets(");
  const found = await world.run(["mcp", "call", "museum.search_tools", "--arg", "query=buy tickets", "--json"]);
  expect(JSON.parse(found.stdout)).toMatchObject({
    structuredContent: { servers: [{ tools: [{ name: "order_tickets" }, {}, {}] }] },
  });
  const call = { name: "find_exhibitions", arguments: { on: "2026-05-02", tags: ["salt"] } };
  const called = await world.run(["mcp", "call", "museum.call_tool", "--args", JSON.stringify(call)]);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("Found 1 exhibitions.") });
  const direct = await world.run(["mcp", "call", "museum.find_exhibitions", "--arg", "on=2026-05-02"]);
  expect(direct.code).not.toBe(0);
  expect(direct.stderr).toContain("nexus mcp call museum.call_tool --arg name=find_exhibitions --arg 'arguments={…}'");
  const shown = await world.run(["api", "show", "museum", "--tool", "find_exhibitions"]);
  expect(shown.stdout).toContain("Documents say");
});

test("R8: rules of the entry apply to the tool inside call_tool, for mcp call and mcp request", async () => {
  const api = join(world.project, "api", "museum", "museum.nexus.yaml");
  await world.configure({ ruled: { api, upstream: "fake", tools: { deny: ["find_exhibitions"] } } });
  const call = { name: "find_exhibitions", arguments: { on: "2026-05-02" } };
  const called = await world.run(["mcp", "call", "ruled.call_tool", "--args", JSON.stringify(call)]);
  expect(called.stderr).toContain("find_exhibitions");
  expect(called.code).not.toBe(0);
  const params = JSON.stringify({ name: "call_tool", arguments: call });
  const requested = await world.run(["mcp", "request", "ruled", "tools/call", params]);
  expect(requested.code).not.toBe(0);
  expect(requested.stdout).not.toContain("exhibitions");
});

test("R8: an entry that allows one tool is enough to find and call it, and pattern keys of a set are refused", async () => {
  const api = join(world.project, "api", "museum", "museum.nexus.yaml");
  await world.configure({ ruled: { api, upstream: "fake", tools: { allow: ["find_exhibitions"] } } });
  const calling = (name: string) =>
    world.run(["mcp", "call", "ruled.call_tool", "--args", JSON.stringify({ name, arguments: { on: "2026-05-02" } })]);
  expect(await calling("find_exhibitions")).toMatchObject({ code: 0 });
  expect((await calling("order_tickets")).stderr).toContain("order_tickets");
  expect((await calling("call_tool")).stderr).toContain('There is no tool "call_tool"');
  const found = await world.run(["mcp", "call", "ruled.search_tools", "query=tickets exhibitions", "--json"]);
  expect(found.stdout).toContain("find_exhibitions");
  expect(found.stdout).not.toContain('"name":"order_tickets"');
  const fixing = ["--allow", "ruled", "--fix", "ruled.*.on=2026-05-02"];
  const refused = await world.run(["sets", "create", "desk", ...fixing]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('"ruled.*" is a pattern');
});
