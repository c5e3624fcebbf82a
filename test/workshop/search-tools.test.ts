import { describe, expect, test } from "vitest";
import { connect, type Client } from "../../src/index.ts";
import type { InputRequest } from "../../src/protocol/mcp.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { apiServer, transportTo } from "../../src/workshop/serve/api-server.ts";
import { MANUAL, openShop, type Shop } from "./shop-world.ts";

const SEARCHED = ["find_items", "order_item"];

/** The shop, of whose tools two are searched for and one is only for steps. */
function hiding(text: string): string {
  const hidden = SEARCHED.reduce(
    (edited, name) => edited.replace(`  ${name}:\n`, `  ${name}:\n    offer: search\n`),
    text,
  );
  return hidden.replace("  ring_bell:\n", `${STEP}  ring_bell:\n`);
}

const STEP = `  inner_step:
    offer: none
    title: Inner step
    description: Finds items for other tools.
    effect: read
    input: Query
    request: { method: POST, path: find, secrets: login, body: xml }
    response: { as: xml, type: Found, text: Done. }
`;

function opened(shop: Shop, handle?: (request: InputRequest) => void): Promise<Client> {
  const answer = async (request: InputRequest) => {
    handle?.(request);
    return { action: "accept" as const, content: { confirm: true } };
  };
  return connect(
    transportTo(apiServer(shop.runner, { documents: { manual: MANUAL } })),
    handle ? { input: { capabilities: { elicitation: { form: {} } }, handle: answer } } : {},
  );
}

describe("X6: tools that are not in the list", () => {
  test("are found, described and called with three tools, which say what they can do", async () => {
    await using shop = await openShop({}, hiding);
    await using client = await opened(shop);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["ring_bell", "describe_tool", "search_tools", "call_tool"]);
    expect(tools.find(({ name }) => name === "call_tool")?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: false,
    });
    expect(tools.find(({ name }) => name === "search_tools")?.annotations).toMatchObject({ readOnlyHint: true });
    const found = await client.callTool("search_tools", { query: "order an item" });
    expect(found.structuredContent).toMatchObject({
      servers: [
        {
          server: "shop",
          tools: [
            { name: "order_item", rank: 1, effect: "write", call: "call_tool" },
            { name: "find_items", rank: 2, effect: "read" },
          ],
        },
      ],
      more: 0,
    });
    const described = await client.callTool("describe_tool", { name: "order_item" });
    expect(described.structuredContent).toBeUndefined();
    expect(JSON.parse(described.content.at(-1)?.text ?? "")).toMatchObject({
      name: "order_item",
      inputSchema: { type: "object", required: ["code", "expectedTotal"] },
      annotations: { readOnlyHint: false },
      call: "call_tool",
    });
    const called = await client.callTool("call_tool", { name: "find_items", arguments: { text: "tea" } });
    expect(called).toMatchObject({ structuredContent: { count: 1 }, _meta: { "dev.nexus/tool": "find_items" } });
    expect(shop.logged.some(({ data }) => data["tool"] === "find_items")).toBe(true);
  });

  test("are checked, confirmed and written once as if they were called directly", async () => {
    await using shop = await openShop({}, hiding);
    const asked: InputRequest[] = [];
    await using client = await opened(shop, (request) => asked.push(request));
    const wrong = await client.callTool("call_tool", { name: "find_items", arguments: { text: "", more: 1 } });
    expect(wrong).toMatchObject({ isError: true });
    expect(shop.asked).toEqual([]);
    const order = { name: "order_item", arguments: { code: "tea", expectedTotal: 2, reference: "asked" } };
    expect(await client.callTool("call_tool", order)).toMatchObject({ structuredContent: { total: 3 } });
    expect(asked).toHaveLength(1);
    const again = { ...order, arguments: { code: "tea", expectedTotal: 3 } };
    for (const _ of [1, 2]) await client.callTool("call_tool", again);
    expect(shop.askedFor("orders")).toHaveLength(2);
  });

  test("can also be called directly by name, and like listed ones through call_tool", async () => {
    await using shop = await openShop({}, hiding);
    await using client = await opened(shop);
    expect(await client.callTool("find_items", { text: "tea" })).toMatchObject({ structuredContent: { count: 1 } });
    const listed = await client.callTool("call_tool", { name: "ring_bell", arguments: { times: 1 } });
    const { content, structuredContent } = await client.callTool("ring_bell", { times: 1 });
    expect(listed).toMatchObject({ content, structuredContent });
  });

  test("are not those that are only steps", async () => {
    await using shop = await openShop({}, hiding);
    await using client = await opened(shop);
    await expect(client.callTool("inner_step", { text: "tea" })).rejects.toMatchObject({ code: "SERVER_ERROR" });
    for (const [name, said] of [
      ["inner_step", "There is no tool"],
      ["find_item", "Did you mean find_items?"],
      ["call_tool", "There is no tool"],
    ]) {
      const result = await client.callTool("call_tool", { name: name ?? "", arguments: { times: 1 } });
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(said ?? "") }] });
    }
    expect((await client.callTool("search_tools", { query: "step" })).structuredContent).toEqual({
      servers: [],
      more: 0,
    });
    expect(shop.asked).toEqual([]);
  });
});

test("a file whose tools are searched for may not use the names of the searching tools", async () => {
  await using shop = await openShop();
  expect((await (await opened(shop)).listTools()).map(({ name }) => name)).not.toContain("search_tools");
  let text = "";
  await using _ = await openShop({}, (file) => (text = file));
  const { problems } = readToolFile(hiding(text).replace("  ring_bell:", "  call_tool:"), "shop.nexus.yaml");
  expect(problems.map(({ path, message }) => `${path} ${message}`)).toContain(
    "tools.call_tool is the name of a tool that searches, describes or calls others",
  );
});
