import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MUSEUM = new URL("../../../api/museum/", import.meta.url);

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(() => world[Symbol.asyncDispose]());

test("nexus api test runs the checks of an example, a line for each", async () => {
  const { code, stdout, stderr } = await world.run(["api", "test", "capcorn"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain("ok      create_reservation: the documented booking is accepted\n");
  expect(stdout).toMatch(/^\d+ checks passed$/m);
});

test("a check that fails is told with what came instead, and ends with 5", async () => {
  const text = await readFile(new URL("museum.nexus.yaml", MUSEUM), "utf8");
  await world.write("home/work/project/museum.nexus.yaml", text.replace("total: 30.5 } }", "total: 31 } }"));
  await world.write("home/work/project/manual.md", await readFile(new URL("manual.md", MUSEUM), "utf8"));
  const { code, stdout } = await world.run(["api", "test", "./museum.nexus.yaml"]);
  expect(code).toBe(5);
  expect(stdout).toContain("FAILED  order_tickets: the documented order costs what the guide says\n");
  expect(stdout).toContain("        total: expected 31, not 30.5\n");
  expect(stdout).toContain("9 checks passed, 1 failed");

  const asked = ["api", "test", "museum.nexus.yaml", "--tool", "order_tickets", "--json"];
  const json = await world.run(asked);
  expect(json.code).toBe(5);
  expect(JSON.parse(json.stdout)).toMatchObject({ passed: 2, failed: 1, checks: [{ tool: "order_tickets" }, {}, {}] });
});

test("a tool that there is not is told", async () => {
  const { code, stderr } = await world.run(["api", "test", "museum", "--tool", "order_ticket"]);
  expect([code, stderr]).toEqual([6, expect.stringContaining(`Did you mean "order_tickets"?`)]);
});

test("tools of an import without examples are called with made-up arguments, and it is said how to add checks", async () => {
  await world.write(
    "home/work/project/shop.graphql",
    "type Query { item(id: ID!): Item }\ntype Item { id: ID! name: String }",
  );
  await world.run(["api", "import", "shop.graphql", "--base", "https://shop.example/graphql"]);
  const { code, stdout, stderr } = await world.run(["api", "test", "shop.nexus.yaml"]);
  expect(code).toBe(0);
  expect(stdout).toContain("ok      item: made-up arguments\n");
  expect(stdout).toContain("1 made-up call answered\n");
  expect(stderr).toContain("Without checks of their own: item. Add what a call has to give to the file:");

  const json = await world.run(["api", "test", "shop.nexus.yaml", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    passed: 0,
    failed: 0,
    checks: [],
    madeUp: [{ tool: "item", problems: [] }],
  });
});
