import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ConsentRequest, HostOptions } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { AccessWorld } from "../gateway/access/access-world.ts";
import { DeskApi, DeskUpstream } from "../gateway/access/desk-api.ts";

let upstream: DeskUpstream;
let api: DeskApi;
beforeAll(async () => {
  upstream = await DeskUpstream.open();
  api = DeskApi.open(
    [
      { name: "look", effect: "read", isSearched: false },
      { name: "orders", effect: "read", isSearched: true },
      { name: "pay", effect: "write", isSearched: true },
      { name: "cancel", effect: "destructive", isSearched: true },
    ],
    upstream.url,
  );
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => void upstream.reached.splice(0));

async function hostWith(policy: HostOptions["policy"], tools?: { allow?: string[]; deny?: string[] }) {
  const world = await AccessWorld.open({ desk: api }, { policy, ...(tools && { entries: { desk: { tools } } }) });
  return { world, host: world.host };
}

test("a host decides a call through call_tool as the call of the tool, and consent is asked for that (R8)", async () => {
  const asked: unknown[] = [];
  const consent = ({ tool, arguments: args }: ConsentRequest) => asked.push([tool, args]) > 0 && tool === "pay";
  const { world, host } = await hostWith({ consent });
  await using _ = world;
  const calling = (name: string) => host.callTool("desk.call_tool", { name, arguments: { note: "n" } });
  expect((await calling("orders")).isError).toBeUndefined();
  expect((await calling("pay")).isError).toBeUndefined();
  expect((await failure(calling("cancel"))).code).toBe("DENIED");
  expect(asked).toEqual([
    ["pay", { note: "n" }],
    ["cancel", { note: "n" }],
  ]);
  expect(upstream.reached.map(({ path, body }) => [path, body])).toEqual([
    ["/orders", { note: "n" }],
    ["/pay", { note: "n" }],
  ]);
});

test("with readOnly, a host reaches the reads of an API and finds nothing else", async () => {
  const { world, host } = await hostWith({ readOnly: true });
  await using _ = world;
  expect(host.tools().map(({ tool }) => tool.name)).toEqual(["look", "describe_tool", "search_tools", "call_tool"]);
  const found = await host.callTool("desk.search_tools", { query: "does" });
  expect(JSON.stringify(found.structuredContent)).toMatch(/"look".*"orders"|"orders".*"look"/);
  expect(JSON.stringify(found)).not.toMatch(/pay|cancel/);
  expect(JSON.stringify(await host.callTool("desk.describe_tool", { name: "pay" }))).toContain("There is no tool");
  expect((await host.callTool("desk.call_tool", { name: "orders" })).isError).toBeUndefined();
  expect((await failure(host.callTool("desk.call_tool", { name: "pay" }))).code).toBe("DENIED");
  expect((await failure(host.callTool("desk.call_tool", { name: "nothing" }))).code).toBe("NAME_UNKNOWN");
  expect((await failure(host.callTool("desk.call_tool", { name: "call_tool" }))).code).toBe("NAME_UNKNOWN");
  expect((await failure(host.callTool("desk.call_tool", { name: 7 }))).code).toBe("ARGUMENTS_INVALID");
  expect((await failure(host.callTool("desk.call_tool", { name: "orders", arguments: [] }))).code).toBe(
    "ARGUMENTS_INVALID",
  );
});

test("rules of the entry are about the tools that are found, and denying call_tool denies what it leads to", async () => {
  const { world, host } = await hostWith(undefined, { allow: ["orders"] });
  await using _ = world;
  expect(host.tools().map(({ tool }) => tool.name)).toEqual(["describe_tool", "search_tools", "call_tool"]);
  expect((await host.callTool("desk.call_tool", { name: "orders" })).isError).toBeUndefined();
  expect((await failure(host.callTool("desk.call_tool", { name: "look" }))).code).toBe("DENIED");
  const { world: other, host: denying } = await hostWith(undefined, { deny: ["call_tool"] });
  await using _other = other;
  expect(denying.tools().map(({ tool }) => tool.name)).toEqual(["look"]);
  expect((await failure(denying.callTool("desk.call_tool", { name: "orders" }))).code).toBe("DENIED");
  expect(upstream.reached).toHaveLength(1);
});
