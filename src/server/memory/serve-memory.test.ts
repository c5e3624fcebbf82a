import { expect, test } from "vitest";
import { connect, MemoryTransport } from "../../index.ts";
import type { Message } from "../../protocol/json-rpc.ts";
import type { Question } from "../../protocol/mcp.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { McpServer } from "../features/mcp-server.ts";
import { serveMemory, type MemoryEnd } from "./serve-memory.ts";

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const question = (message: string): Question => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { yes: { type: "boolean" } } } },
});

function serverOf(revisions: Revision[] = ["2026-07-28"]): { server: McpServer; transport: MemoryTransport } {
  const server = new McpServer({ name: "here", version: "1", revisions });
  return { server, transport: new MemoryTransport((end) => serveMemory(server, end)) };
}

test.each([
  ["modern", ["2026-07-28"]],
  ["legacy", ["2025-11-25"]],
  ["modern", ["2026-07-28", "2025-06-18"]],
] as [string, Revision[]][])("a client in the same process is answered in its era: %s %j", async (era, revisions) => {
  const { server, transport } = serverOf(revisions);
  server.tool({ name: "echo" }, (_args, context) => context.era);
  await using client = await connect(transport);
  expect(client.era).toBe(era);
  expect(await client.callTool("echo")).toMatchObject({ content: [{ text: era }] });
});

test("a call that the client gives up is aborted, and so is every call of a client that leaves", async () => {
  const aborted: string[] = [];
  let started = () => {};
  const { server, transport } = serverOf();
  server.tool("hang", { input: { type: "object" } }, (args, { signal }) => {
    signal.addEventListener("abort", () => aborted.push(String(args["name"])));
    started();
    return new Promise(() => {});
  });
  const client = await connect(transport);
  const call = async (name: string, signal?: AbortSignal) => {
    const running = new Promise<void>((resolve) => (started = resolve));
    const failed = client.callTool("hang", { name }, signal ? { signal } : {}).catch((error: unknown) => error);
    await running;
    return { failed };
  };
  const stop = new AbortController();
  const first = await call("first", stop.signal);
  stop.abort();
  expect(await first.failed).toMatchObject({ code: "CANCELLED" });
  const second = await call("second");
  await client.close();
  await second.failed;
  await expect.poll(() => aborted).toEqual(["first", "second"]);
});

test("an answer counts only for the question that was asked: another key is asked again", async () => {
  let price = 1;
  const { server, transport } = serverOf();
  server.tool({ name: "buy" }, async (_args, { ask }) => {
    const key = `price-${price}`;
    const answers = await ask({ [key]: question(key) }, { sealed: true });
    return { content: [{ type: "text", text: `${key} ${JSON.stringify(answers[key])}` }] };
  });
  const input = { capabilities: { elicitation: {} }, handle: () => ({ action: "accept" as const }) };
  await using client = await connect(transport, { input });
  const asked = await client.request("tools/call", { name: "buy" });
  price = 2;
  const forged = await client.request("tools/call", {
    name: "buy",
    requestState: asked["requestState"],
    inputResponses: { "price-2": { action: "accept" } },
  });
  expect(forged).toMatchObject({ resultType: "input_required", inputRequests: { "price-2": {} } });
  const bought = await client.request("tools/call", {
    name: "buy",
    requestState: forged["requestState"],
    inputResponses: { "price-2": { action: "accept" } },
  });
  expect(bought).toMatchObject({
    resultType: "complete",
    content: [{ text: 'price-2 {"action":"accept","content":{}}' }],
  });
});

test("an answer that nobody asked for does not count for a sealed question of a later round", async () => {
  const { server, transport } = serverOf();
  server.tool({ name: "buy" }, async (_args, { ask }) => {
    await ask({ size: question("size"), color: question("color") });
    await ask({ price: question("price") }, { sealed: true });
    return "bought";
  });
  const input = { capabilities: { elicitation: {} }, handle: () => ({ action: "accept" as const }) };
  await using client = await connect(transport, { input });
  const accept = { action: "accept" };
  let state: Record<string, unknown> = {};
  const call = async (inputResponses: Record<string, unknown>) => {
    const result = await client.request("tools/call", { name: "buy", ...state, inputResponses });
    state = "requestState" in result ? { requestState: result["requestState"] } : {};
    return result;
  };
  expect(Object.keys((await call({ size: accept, price: accept }))["inputRequests"] ?? {})).toEqual(["color"]);
  expect(Object.keys((await call({ color: accept, price: accept }))["inputRequests"] ?? {})).toEqual(["price"]);
  expect(await call({ price: accept })).toMatchObject({ resultType: "complete", content: [{ text: "bought" }] });
});

test("answers given in the open are kept when a sealed question follows, so nothing is asked twice", async () => {
  const { server, transport } = serverOf();
  server.tool({ name: "buy" }, async (_args, { ask }) => {
    await ask({ size: question("size") });
    await ask({ price: question("price") }, { sealed: true });
    await ask({ thanks: question("thanks") });
    return "bought";
  });
  const asked: unknown[] = [];
  const handle = ({ params }: { params?: Record<string, unknown> }) => {
    asked.push(params?.["message"]);
    return { action: "accept" as const };
  };
  await using client = await connect(transport, { input: { capabilities: { elicitation: {} }, handle } });
  expect(await client.callTool("buy")).toMatchObject({ content: [{ text: "bought" }] });
  expect(asked).toEqual(["size", "price", "thanks"]);
});

test("what was asked of one caller is not answered by another", async () => {
  const { server, transport } = serverOf();
  server.tool({ name: "buy" }, async (_args, { ask }) => {
    await ask({ price: question("price") }, { sealed: true });
    return { content: [{ type: "text", text: "bought" }] };
  });
  const input = { capabilities: { elicitation: {} }, handle: () => ({ action: "accept" as const }) };
  await using client = await connect(transport, { input });
  const by = (caller: string) => ({ name: "buy", _meta: { "dev.nexus/caller": caller } });
  const asked = await client.request("tools/call", by("ann"));
  const answer = { requestState: asked["requestState"], inputResponses: { price: { action: "accept" } } };
  await expect(client.request("tools/call", { ...by("bob"), ...answer })).rejects.toThrow("request state");
  expect(await client.request("tools/call", { ...by("ann"), ...answer })).toMatchObject({
    content: [{ text: "bought" }],
  });
});

test("a resource is kept for its reader alone, unless its handler says that it is public", async () => {
  const { server, transport } = serverOf();
  const read = (uri: string) => [{ uri, text: "for you" }];
  server.template({ uriTemplate: "mine://{id}", name: "mine" }, read);
  server.template({ uriTemplate: "all://{id}", name: "all" }, (uri) => ({ contents: read(uri), cacheScope: "public" }));
  await using client = await connect(transport);
  expect(await client.request("resources/read", { uri: "mine://1" })).toMatchObject({ cacheScope: "private" });
  expect(await client.request("resources/read", { uri: "all://1" })).toMatchObject({ cacheScope: "public" });
});

test("a client that declares URLs alone is not asked with a form", async () => {
  const { server, transport } = serverOf();
  server.tool({ name: "buy" }, async (_args, { ask }) => {
    await ask({ price: question("Buy it?") });
    return "bought";
  });
  const input = { capabilities: { elicitation: { url: {} } }, handle: () => ({ action: "accept" as const }) };
  await using client = await connect(transport, { input });
  await expect(client.callTool("buy")).rejects.toMatchObject({
    details: { rpc: { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
  });
});

test("when one of several questions fails at a legacy client, the others are withdrawn", async () => {
  const { server } = serverOf(["2025-11-25"]);
  server.tool({ name: "buy" }, (_args, { ask }) =>
    ask({ refused: question("refused"), open: question("open") }).then(
      () => "bought",
      () => new Promise<never>(() => {}),
    ),
  );
  const sent: Message[] = [];
  const end: MemoryEnd = { onMessage: () => {}, send: (message) => sent.push(message), closed: new Promise(() => {}) };
  serveMemory(server, end);
  const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: {} };
  end.onMessage({ jsonrpc: "2.0", id: "a", method: "initialize", params });
  end.onMessage({ jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "buy" } });
  await expect.poll(() => sent).toMatchObject([{ id: "a" }, { id: 1 }, { id: 2 }]);
  end.onMessage({ jsonrpc: "2.0", id: 1, error: { code: -32_603, message: "not today" } });
  await expect.poll(() => sent[3]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 2 } });
});

test("a request that says nothing of its era is of the era of the first", async () => {
  for (const [first, code] of [
    [{ method: "server/discover", params: { _meta: MODERN_META } }, -32_602],
    [{ method: "ping" }, -32_600],
  ] as const) {
    const { server } = serverOf(["2026-07-28", "2025-11-25"]);
    const sent: Message[] = [];
    const end: MemoryEnd = {
      onMessage: () => {},
      send: (message) => sent.push(message),
      closed: new Promise(() => {}),
    };
    serveMemory(server, end);
    end.onMessage({ jsonrpc: "2.0", id: 1, ...first });
    end.onMessage({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    await expect.poll(() => sent).toHaveLength(2);
    expect(sent.find((message) => "id" in message && message.id === 2)).toMatchObject({ error: { code } });
  }
});

test("a server of the newest revision alone says so to a client that wants to initialize", async () => {
  const { server } = serverOf();
  const sent: Message[] = [];
  const end: MemoryEnd = { onMessage: () => {}, send: (message) => sent.push(message), closed: new Promise(() => {}) };
  serveMemory(server, end);
  end.onMessage({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  const data = { supported: ["2026-07-28"], requested: "2025-11-25" };
  await expect.poll(() => sent).toMatchObject([{ id: 1, error: { code: -32_022, data } }]);
});

test("a second request with the id of one that runs is refused, and the first can still be cancelled", async () => {
  const server = new McpServer({ name: "here", version: "1", revisions: ["2026-07-28"] });
  const sent: Message[] = [];
  const end: MemoryEnd = { onMessage: () => {}, send: (message) => sent.push(message), closed: new Promise(() => {}) };
  const aborted = new Promise<void>((resolve) => {
    server.tool({ name: "hang" }, (_args, { signal }) => {
      signal.addEventListener("abort", () => resolve());
      return new Promise(() => {});
    });
  });
  serveMemory(server, end);
  const params = { name: "hang", _meta: MODERN_META };
  const call: Message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  end.onMessage(call);
  end.onMessage(call);
  await expect.poll(() => sent).toMatchObject([{ id: 1, error: { code: -32_600 } }]);
  end.onMessage({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await aborted;
});

test("an answer within the process is handed over as it is, and its text is not made in vain", async () => {
  let written = 0;
  const structuredContent = {
    toJSON() {
      written++;
      return {};
    },
  };
  const { server, transport } = serverOf();
  server.tool({ name: "give" }, () => ({ content: [], structuredContent }));
  await using client = await connect(transport);
  const result = await client.callTool("give");
  expect(result.structuredContent).toBe(structuredContent);
  expect(written).toBe(0);
});
