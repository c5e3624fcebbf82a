import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../../src/index.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { StoreWorld } from "../../fixtures/store-world.ts";

const DESCRIPTION = `
openapi: 3.1.0
info: { title: Boats, version: "1" }
servers: [{ url: https://api.boats.example/v1 }]
paths:
  /harbours:
    get: { operationId: listHarbours, summary: Lists harbours., responses: { "204": { description: Listed } } }
  /boats:
    get: { operationId: findBoats, summary: Finds boats for hire., responses: { "204": { description: Found } } }
    post: { operationId: hireBoat, summary: Hires a boat., responses: { "204": { description: Hired } } }
  /boats/{id}:
    delete:
      operationId: sinkBoat
      summary: Removes a boat for ever.
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "204": { description: Removed } }
`;

interface Found {
  servers: { tools: { name: string; effect: string }[] }[];
}

let world: NexusWorld;
let stores: StoreWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  stores = await StoreWorld.open("sqlite");
  await world.write("home/work/project/boats.yaml", DESCRIPTION);
  const words = ["import", "boats.yaml", "--name", "boats", "--select", "op:listHarbours", "--rest", "search"];
  for (const command of [words, ["approve", "boats", "--by", "Ada", "--yes"]]) {
    const { code, stderr } = await world.run(["api", ...command]);
    expect([code, stderr]).toEqual([0, ""]);
  }
  await world.run(["mcp", "add", "boats", "--api", "boats", "--upstream", "fake"]);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
});

test("X6, X7: of an imported file, a caller who may only read finds, is described and calls no tool that writes", async () => {
  const database = await stores.newAddressText();
  const keyFor = async (name: string, ...rules: string[]) => {
    const { stdout } = await world.run(["keys", "create", name, ...rules, "--json", "--database", database]);
    return (JSON.parse(stdout) as { key: string }).key;
  };
  const everything = await keyFor("writer", "--allow", "boats");
  const readOnly = await keyFor("reader", "--allow", "boats", "--read-only");
  const { child, output } = world.start(["serve", "--port", "0", "--json", "--database", database]);
  try {
    await expect.poll(() => output.stdout).toContain("\n");
    const { url } = JSON.parse(output.stdout) as { url: string };
    const open = (key: string) => connect({ url, headers: { authorization: `Bearer ${key}` } });
    await using writer = await open(everything);
    await using reader = await open(readOnly);

    const query = { query: "boat" };
    const all = (await writer.callTool("boats__search_tools", query)).structuredContent as unknown as Found;
    expect(
      all.servers
        .flatMap(({ tools }) => tools)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["boats__find_boats", "boats__hire_boat", "boats__sink_boat"]);
    const some = await reader.callTool("boats__search_tools", query);
    expect((some.structuredContent as unknown as Found).servers[0]?.tools).toMatchObject([
      { name: "boats__find_boats", effect: "read" },
    ]);
    expect(JSON.stringify(some)).not.toMatch(/hire_boat|sink_boat/);

    const described = await reader.callTool("boats__describe_tool", { name: "boats__find_boats" });
    expect(described.content.at(-1)?.text).toContain("Finds boats for hire.");
    expect((await reader.callTool("boats__call_tool", { name: "boats__find_boats" })).isError).toBeUndefined();
    for (const name of ["boats__hire_boat", "boats__sink_boat"]) {
      const args = { name, arguments: { id: "1" } };
      for (const tool of ["boats__describe_tool", "boats__call_tool"]) {
        const refused = await reader.callTool(tool, tool.endsWith("call_tool") ? args : { name }).then(
          (result) => JSON.stringify(result),
          (error: unknown) => String(error),
        );
        expect(refused).not.toMatch(/Hires a boat|for ever|done/);
      }
    }
    expect((await writer.callTool("boats__call_tool", { name: "boats__hire_boat" })).isError).toBeUndefined();

    // Through a gateway the hint names the tool that the gateway lists, and where it is.
    const header = ["--header", `Authorization: Bearer ${readOnly}`];
    const direct = await world.run(["mcp", "call", "boats__find_boats", "--url", url, ...header]);
    expect([direct.code, direct.stderr]).toEqual([
      6,
      expect.stringContaining(
        `nexus mcp call boats__call_tool --arg name=boats__find_boats --arg 'arguments={…}' --url ${url} `,
      ),
    ]);

    const { stdout: keys } = await world.run(["keys", "list", "--json", "--database", database]);
    const id = (JSON.parse(keys) as { items: { id: string; name: string }[] }).items.find(
      ({ name }) => name === "reader",
    )?.id;
    const explained = (tool: string) => world.run(["keys", "explain", id ?? "", tool, "--database", database]);
    expect(await explained("boats.find_boats")).toMatchObject({ code: 0 });
    expect(await explained("boats.call_tool")).toMatchObject({ code: 0 });
    expect(await explained("boats.hire_boat")).toMatchObject({
      code: 8,
      stdout: expect.stringContaining("only read-only tools are allowed"),
    });

    const found = async (tool: string) => {
      const { stdout } = await world.run(["audit", "list", "--tool", tool, "--json", "--database", database]);
      return (JSON.parse(stdout) as { items: { decision: string; through: string }[] }).items.map(
        ({ decision, through }) => [decision, through],
      );
    };
    await expect
      .poll(() => found("boats__hire_boat"))
      .toEqual(
        expect.arrayContaining([
          ["allowed", "call_tool"],
          ["denied", "call_tool"],
        ]),
      );
    expect(await found("boats__find_boats")).toEqual([["allowed", "call_tool"]]);
    expect(await found("boats__call_tool")).toEqual([]);
  } finally {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  }
});
