import { describe, expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { connect, MemoryTransport, type Client } from "../../index.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { rpcError } from "../core/rpc-error.ts";
import { oneOf } from "./completion.ts";
import { McpServer, type McpServerOptions } from "./mcp-server.ts";

const newServer = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: "own", version: "1.0.0", ...options });

const clientOf = (server: McpServer, logger?: Logger): Promise<Client> =>
  connect(new MemoryTransport((end) => serveMemory(server, end, { logger })));

describe.each<[string, Revision]>([
  ["modern", "2026-07-28"],
  ["legacy", "2025-11-25"],
])("a server of one's own and a %s client", (era, revision) => {
  const revisions = [revision];

  test("says what it is, and has the capabilities that follow from what is declared", async () => {
    const server = newServer({ title: "Own", instructions: "Be brief.", revisions });
    server.tool({ name: "a" }, () => "a");
    await using client = await clientOf(server);
    expect(client).toMatchObject({ era, instructions: "Be brief.", serverInfo: { name: "own", title: "Own" } });
    expect(client.serverCapabilities).toEqual({ tools: { listChanged: true }, logging: {} });
    server.prompt("p", { arguments: [{ name: "day" }], complete: { day: oneOf("monday") } }, () => "p");
    server.template({ uriTemplate: "a://{b}", name: "ab" }, () => "b");
    await using later = await clientOf(server);
    expect(Object.keys(later.serverCapabilities ?? {})).toEqual(
      expect.arrayContaining(["tools", "resources", "prompts", "completions", "logging"]),
    );
  });

  test("text is a result, contents and a message", async () => {
    const server = newServer({ revisions });
    server.tool({ name: "say", inputSchema: { type: "object" } }, ({ text }) => String(text));
    server.resource({ uri: "a://b", name: "b", mimeType: "text/markdown" }, (uri) => `# ${uri}`);
    server.prompt({ name: "ask", arguments: [{ name: "what", required: true }] }, ({ what }) => `Ask ${what}`);
    await using client = await clientOf(server);
    expect(await client.callTool("say", { text: "hi" })).toMatchObject({ content: [{ type: "text", text: "hi" }] });
    expect(await client.readResource("a://b")).toMatchObject({
      contents: [{ uri: "a://b", mimeType: "text/markdown", text: "# a://b" }],
    });
    expect(await client.getPrompt("ask", { what: "me" })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Ask me" } }],
    });
    expect((await failure(client.getPrompt("ask"))).details.rpc).toMatchObject({
      code: -32602,
      message: "Missing argument: what",
    });
  });

  test("what a tool throws is a result, and an rpcError fails the request", async () => {
    const server = newServer({ revisions });
    server.tool({ name: "throw" }, () => {
      throw new Error("not today");
    });
    server.tool({ name: "refuse" }, () => {
      throw rpcError(-32050, "no", { why: "because" });
    });
    await using client = await clientOf(server);
    expect(await client.callTool("throw")).toMatchObject({ isError: true, content: [{ text: "not today" }] });
    expect((await failure(client.callTool("refuse"))).details.rpc).toEqual({
      code: -32050,
      message: "no",
      data: { why: "because" },
    });
    expect((await failure(client.callTool("nothing"))).details.rpc?.code).toBe(-32602);
    expect((await failure(client.readResource("a://nothing"))).details.rpc?.code).toBe(
      era === "legacy" ? -32002 : -32602,
    );
    expect((await failure(client.request("no/such/method"))).details.rpc?.code).toBe(-32601);
  });

  test("why a resource, a prompt or a completion failed is in the log of the server, and not told its clients", async () => {
    const server = newServer({ revisions });
    const fail = () => {
      throw new Error("disk /dev/sda1 is full");
    };
    server.resource({ uri: "a://broken", name: "broken" }, fail);
    server.prompt({ name: "broken", arguments: [{ name: "day" }] }, fail, { complete: { day: fail } });
    const logged: string[] = [];
    await using client = await clientOf(server, { ...SILENT, error: (message) => logged.push(message) });
    for (const [method, failing] of [
      ["resources/read", () => client.readResource("a://broken")],
      ["prompts/get", () => client.getPrompt("broken")],
      [
        "completion/complete",
        () => client.complete({ type: "ref/prompt", name: "broken" }, { name: "day", value: "" }),
      ],
    ] as const) {
      const { rpc } = (await failure(failing())).details;
      expect(rpc).toMatchObject({
        code: -32603,
        message: `The server failed to answer ${method}. Retry later, or ask the operator of the server: its log has the reason.`,
      });
      expect(JSON.stringify(rpc)).not.toContain("sda1");
      expect(logged.pop()).toBe(`${method} failed: disk /dev/sda1 is full`);
    }
    expect(logged).toEqual([]);
  });

  test("a handler can throw anything: its own request fails, and the server goes on", async () => {
    const server = newServer({ revisions });
    const throwSelf = () => {
      const error = new Error("never read");
      Object.defineProperty(error, "message", {
        get: () => {
          throw error;
        },
      });
      throw error;
    };
    server.tool({ name: "self" }, throwSelf);
    server.resource({ uri: "a://self", name: "self" }, throwSelf);
    server.tool({ name: "bare" }, () => {
      throw Object.create(null);
    });
    await using client = await clientOf(server);
    for (const name of ["self", "bare"]) {
      expect(await client.callTool(name)).toMatchObject({ isError: true, content: [{ text: "unknown error" }] });
    }
    expect((await failure(client.readResource("a://self"))).details.rpc?.code).toBe(-32603);
  });

  test.each<[name: string, returned: unknown]>([
    ["nothing", undefined],
    ["nothing", null],
    ["a number", 5],
    ["an object without", { text: "hi" }],
  ])("the log and the client are told that a handler returned %s in place of a result, %j", async (what, returned) => {
    const server = newServer({ revisions });
    server.tool({ name: "odd" }, () => returned as never);
    server.prompt({ name: "odd" }, () => returned as never);
    server.resource({ uri: "a://odd", name: "odd" }, () => returned as never);
    const logged: string[] = [];
    const told: string[] = [];
    await using client = await clientOf(server, { ...SILENT, error: (message) => logged.push(message) });
    for (const failing of [client.callTool("odd"), client.getPrompt("odd"), client.readResource("a://odd")]) {
      const { rpc } = (await failure(failing)).details;
      expect(rpc).toMatchObject({ code: -32603, message: expect.stringMatching(/ returned .*: return a string or /) });
      told.push(rpc?.message ?? "");
    }
    const named = (member: string) => (what.startsWith("an object") ? `${what} "${member}"` : what);
    expect(logged.sort()).toEqual([
      `prompts/get failed: The prompt "odd" returned ${named("messages")}: return a string or { messages }`,
      `resources/read failed: The resource "a://odd" returned ${named("contents")}: return a string or { contents }`,
      `tools/call failed: The tool "odd" returned ${named("content")}: return a string or { content }`,
    ]);
    expect(told.sort()).toEqual(logged.map((line) => line.replace(/^.*? failed: /, "")).sort());
  });

  test("an argument that is required is missing, whatever every object inherits", async () => {
    const server = newServer({ revisions });
    server.prompt({ name: "ask", arguments: [{ name: "constructor", required: true }] }, () => "asked");
    await using client = await clientOf(server);
    const { rpc } = (await failure(client.getPrompt("ask"))).details;
    expect(rpc).toMatchObject({ code: -32602, message: "Missing argument: constructor" });
  });

  test("a tool can return content alone, structured content alone, and be declared again", async () => {
    const server = newServer({ revisions });
    server.tool({ name: "first" }, () => ({ content: [] }));
    server.tool({ name: "second" }, () => ({ structuredContent: { a: 1 } }));
    await using client = await clientOf(server);
    expect(await client.callTool("first")).toMatchObject({ content: [] });
    expect(await client.callTool("second")).toMatchObject({ structuredContent: { a: 1 } });
    server.tool({ name: "first" }, () => "replaced");
    expect(await client.callTool("first")).toMatchObject({ content: [{ text: "replaced" }] });
  });

  test("a client that sends objects in place of names and arguments is told so, and nothing is logged", async () => {
    const server = newServer({ revisions });
    server.prompt({ name: "ask", arguments: [{ name: "what", required: true }] }, ({ what }) => `Ask ${what}`);
    const logged: string[] = [];
    await using client = await clientOf(server, { ...SILENT, error: (message) => logged.push(message) });
    const name = { toString: 1 };
    const completion = { ref: { type: "ref/prompt", name }, argument: { name: "what", value: "" } };
    expect((await failure(client.request("completion/complete", completion))).details.rpc?.code).toBe(-32602);
    expect((await failure(client.request("prompts/get", { name }))).details.rpc?.code).toBe(-32602);
    expect(await client.request("prompts/get", { name: "ask", arguments: { what: name } })).toMatchObject({
      messages: [{ content: { text: `Ask {"toString":1}` } }],
    });
    expect(logged).toEqual([]);
  });

  test("lists come in pages, and a cursor of somebody else is refused", async () => {
    const server = newServer({ revisions, pageSize: 2 });
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) server.tool({ name }, () => name);
    await using client = await clientOf(server);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(names);
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "a" }, { name: "b" }], nextCursor: "" });
    for (const cursor of ["7", "x", 1]) {
      expect((await failure(client.request("tools/list", { cursor }))).details.rpc?.code).toBe(-32602);
    }
  });

  test("completes arguments of prompts and templates, at most a hundred at a time", async () => {
    const server = newServer({ revisions });
    const many = Array.from({ length: 150 }, (_, index) => `item ${index}`);
    server.prompt({ name: "pick", arguments: [{ name: "item" }] }, () => "", { complete: { item: oneOf(...many) } });
    server.template({ uriTemplate: "a://{day}", name: "day" }, (_uri, { day }) => day, {
      complete: { day: oneOf("monday", "tuesday") },
    });
    await using client = await clientOf(server);
    const { completion } = await client.complete({ type: "ref/prompt", name: "pick" }, { name: "item", value: "IT" });
    expect([completion.values.length, completion.total, completion.hasMore]).toEqual([100, 150, true]);
    const days = await client.complete({ type: "ref/resource", uri: "a://{day}" }, { name: "day", value: "m" });
    expect(days.completion.values).toEqual(["monday"]);
    const unknown = client.complete({ type: "ref/prompt", name: "none" }, { name: "a", value: "" });
    expect((await failure(unknown)).details.rpc?.code).toBe(-32602);
    expect(await client.readResource("a://b%20c")).toMatchObject({ contents: [{ text: "b c" }] });
    expect(await client.readResource("a://100%")).toMatchObject({ contents: [{ text: "100%" }] });
  });

  test("reports progress and logs what the client wants to hear", async () => {
    const server = newServer({ revisions });
    server.tool({ name: "work" }, (_args, { progress, log }) => {
      progress({ progress: 1, total: 2 });
      log("debug", "details");
      log("warning", "trouble", "worker");
      return "done";
    });
    await using client = await clientOf(server);
    const logs: unknown[] = [];
    const steps: number[] = [];
    await client.setLogLevel("info");
    await client.callTool(
      "work",
      {},
      {
        onProgress: ({ progress }) => steps.push(progress),
        onNotification: ({ method, params }) => method === "notifications/message" && logs.push(params),
      },
    );
    expect(steps).toEqual([1]);
    expect(logs).toMatchObject([{ level: "warning", data: "trouble", logger: "worker" }]);
  });
});

test("a question that a legacy client answers with an error fails the tool, and not the request", async () => {
  const server = newServer({ revisions: ["2025-11-25"] });
  server.tool({ name: "ask" }, async (_args, { ask }) => {
    await ask({ model: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } });
    return "asked";
  });
  const input = { capabilities: { sampling: {} }, handle: () => Promise.reject(new Error("no model here")) };
  await using client = await connect(new MemoryTransport((end) => serveMemory(server, end)), { input });
  const text = expect.stringContaining("sampling/createMessage") as string;
  expect(await client.callTool("ask")).toMatchObject({ isError: true, content: [{ text }] });
});
