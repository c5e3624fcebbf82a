import { expect, test } from "vitest";
import { connect, type Params } from "../../src/index.ts";
import { ScriptedError, ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";

/** The POSTs the server got, with their headers and what was in them. */
function posts({ transcript }: HttpFixture) {
  return transcript.entries
    .filter(({ direction, method, message }) => direction === "in" && method === "POST" && message !== undefined)
    .map(({ headers, message }) => ({
      headers: headers ?? {},
      message: message as { method?: string; params?: Params },
    }));
}

function find(server: HttpFixture, method: string) {
  const found = posts(server).filter(({ message }) => message.method === method);
  const last = found.at(-1);
  if (!last) throw new Error(`no ${method} was sent`);
  return last;
}

test("modern requests carry their version, their sender and their target, in headers and body (P1.7)", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  await using client = await connect(
    { url: server.url },
    {
      clientInfo: { name: "tester", version: "9" },
      input: { capabilities: { roots: {} }, handle: () => ({ roots: [] }) },
    },
  );
  await client.callTool("echo", { text: "x" });
  await client.readResource("test://static-text");
  await client.getPrompt("test_simple_prompt");
  await client.listTools();

  for (const [method, name] of [
    ["tools/call", "echo"],
    ["resources/read", "test://static-text"],
    ["prompts/get", "test_simple_prompt"],
    ["tools/list", undefined],
  ] as const) {
    const { headers, message } = find(server, method);
    expect(headers).toMatchObject({ "mcp-protocol-version": "2026-07-28", "mcp-method": method });
    expect(headers["mcp-name"]).toBe(name);
    expect(headers).not.toHaveProperty("mcp-session-id");
    expect(message.params?.["_meta"]).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "tester", version: "9" },
      "io.modelcontextprotocol/clientCapabilities": { roots: {} },
    });
  }
});

test.each([
  ["2025-11-25", "2025-11-25"],
  ["2025-06-18", "2025-06-18"],
  ["2025-03-26", undefined],
] as const)(
  "a server of %s gets the headers of its revision, and no modern ones (P1.7, P1.8)",
  async (revision, version) => {
    await using server = await startHttpFixture({ revision });
    await using client = await connect({ url: server.url });
    await client.callTool("echo", { text: "x" });
    const { headers, message } = find(server, "tools/call");
    expect(headers["mcp-protocol-version"]).toBe(version);
    expect(headers["mcp-session-id"]).toEqual(expect.any(String));
    expect(headers).not.toHaveProperty("mcp-method");
    expect(message.params).toEqual({ name: "echo", arguments: { text: "x" } });
    expect(find(server, "notifications/initialized").headers["mcp-session-id"]).toEqual(expect.any(String));
  },
);

test("a request without parameters has none, and capabilities are exactly those given (P1.1, P1.2)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  const capabilities = { sampling: {}, elicitation: { form: {} } };
  await using client = await connect({ url: server.url }, { input: { capabilities, handle: () => ({ roots: [] }) } });
  await client.listTools();
  expect(find(server, "tools/list").message).not.toHaveProperty("params");
  expect(find(server, "notifications/initialized").message).not.toHaveProperty("params");
  expect(find(server, "initialize").message.params).toMatchObject({ protocolVersion: "2025-11-25", capabilities });
  expect(find(server, "initialize").message.params?.["capabilities"]).toEqual(capabilities);
});

test("arguments that are headers too are sent as such once the tool is known (P1.7)", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  await using client = await connect({ url: server.url });
  await client.listTools();
  await client.callTool("test_param_headers", {
    region: "café",
    priority: 7,
    dryRun: true,
    place: { city: "Wien" },
    note: "n",
  });
  expect(find(server, "tools/call").headers).toMatchObject({
    "mcp-param-region": "=?base64?Y2Fmw6k=?=",
    "mcp-param-priority": "7",
    "mcp-param-dry-run": "true",
    "mcp-param-city": "Wien",
  });
});

test("a header that the server misses makes the client read the list and try once more", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  await using client = await connect({ url: server.url });
  const result = await client.callTool("test_param_headers", { region: "eu" });
  expect(result).toMatchObject({ content: [{ text: '{"region":"eu"}' }] });
  expect(posts(server).map(({ message }) => message.method)).toEqual([
    "server/discover",
    "tools/call",
    "tools/list",
    "tools/call",
  ]);
});

test("trace context and further _meta travel with the call, and cannot replace what is ours", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  await using client = await connect({ url: server.url });
  const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=b" };
  const meta = { "com.example/x": 1, "io.modelcontextprotocol/protocolVersion": "1999-01-01" };
  await client.callTool("echo", { text: "x" }, { trace, meta });
  expect(find(server, "tools/call").message.params?.["_meta"]).toMatchObject({
    ...trace,
    "com.example/x": 1,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  });
});

test("nothing is asked of a server that does not declare it (G1, P1.3)", async () => {
  const server = new ScriptedServer({ era: "legacy" });
  await using client = await connect(server.transport, { era: "legacy" });
  expect(await client.listTools()).toEqual([]);
  expect(await client.listResources()).toEqual([]);
  expect(await client.listPrompts()).toEqual([]);
  expect(await failure(client.setLogLevel("info"))).toMatchObject({ code: "CAPABILITY_MISSING" });
  const ref = { type: "ref/prompt", name: "p" } as const;
  expect(await failure(client.complete(ref, { name: "a", value: "" }))).toMatchObject({ code: "CAPABILITY_MISSING" });
  expect(server.methods).toEqual(["initialize", "notifications/initialized"]);
});

test("a tool that the server does not have is refused with what was meant (P1.9)", async () => {
  const server = new ScriptedServer({ tools: { search: () => "found" } });
  await using client = await connect(server.transport);
  expect((await failure(client.callTool("serach"))).hint).toBe("listTools() lists the tools of the server.");
  await client.listTools();
  expect((await failure(client.callTool("serach"))).hint).toContain(`Did you mean "search"?`);
});

test("a call without arguments says so with an empty object, which strict servers require (N7)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  await client.callTool("echo");
  await client.getPrompt("test_simple_prompt");
  for (const method of ["tools/call", "prompts/get"]) {
    expect(find(server, method).message.params).toMatchObject({ arguments: {} });
  }
});

test("a list whose cursors go round in a circle is an error, not a loop (P1.4)", async () => {
  const server = new ScriptedServer({ tools: {} }).on("tools/list", () => ({ tools: [], nextCursor: "a" }));
  await using client = await connect(server.transport);
  expect(await failure(client.listTools())).toMatchObject({ code: "PROTOCOL_VIOLATION" });
});

test("every optional field of tools, resources and prompts arrives (P1.5)", async () => {
  const tool = {
    name: "t",
    title: "T",
    icons: [{ src: "data:," }],
    annotations: { x: 1 },
    inputSchema: { type: "object" },
    execution: { taskSupport: "optional" },
    _meta: { ui: {} },
    more: [],
  };
  const lists: Record<string, Record<string, unknown>> = {
    "tools/list": { tools: [tool] },
    "resources/list": { resources: [{ uri: "a:b", name: "r", size: 5, annotations: { priority: 1 }, more: {} }] },
    "resources/templates/list": { resourceTemplates: [{ uriTemplate: "a:{b}", name: "t", more: null }] },
    "prompts/list": { prompts: [{ name: "p", arguments: [{ name: "a", title: "A", more: 1 }] }] },
  };
  const server = new ScriptedServer({ tools: {}, resources: {}, prompts: {} });
  for (const [method, list] of Object.entries(lists)) server.on(method, () => list);
  await using client = await connect(server.transport);
  expect({ tools: await client.listTools() }).toEqual(lists["tools/list"]);
  expect({ resources: await client.listResources() }).toEqual(lists["resources/list"]);
  expect({ resourceTemplates: await client.listResourceTemplates() }).toEqual(lists["resources/templates/list"]);
  expect({ prompts: await client.listPrompts() }).toEqual(lists["prompts/list"]);
});

test("a visit that 2025-11-25 demands with an error is asked for once, then the call is made again (R5)", async () => {
  const elicitations = [{ mode: "url", elicitationId: "e1", url: "https://example.com/a", message: "Log in" }];
  const visitFirst = new ScriptedError(-32042, "visit first", { elicitations });
  const server = new ScriptedServer({ era: "legacy", tools: { x: () => "done" } })
    .failNext("tools/call", visitFirst)
    .failNext("tools/call", visitFirst);
  const asked: unknown[] = [];
  const input = {
    capabilities: { elicitation: { url: {} } },
    handle: (request: unknown) => {
      asked.push(request);
      return { action: "accept" as const };
    },
  };
  await using client = await connect(server.transport, { era: "legacy", input });
  expect(await client.callTool("x")).toMatchObject({ content: [{ text: "done" }] });
  expect(asked).toHaveLength(1);
  expect(asked).toMatchObject([
    { method: "elicitation/create", params: { mode: "url", url: "https://example.com/a" } },
  ]);
  expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(3);
});
