import { describe, expect, test } from "vitest";
import { connect, type InputProvider } from "../index.ts";
import { failure } from "../../test/fixtures/failure.ts";
import { ScriptedError, ScriptedServer, type ServerScript } from "./index.ts";

const script: ServerScript = {
  instructions: "Be brief.",
  tools: {
    echo: ({ text }) => String(text),
    add: {
      description: "Adds",
      outputSchema: { type: "object" },
      run: ({ a, b }) => ({ content: [], structuredContent: { sum: Number(a) + Number(b) } }),
    },
    grumble: () => {
      throw new Error("not today");
    },
    refuse: () => {
      throw new ScriptedError(-32050, "no", { why: "because" });
    },
    greet: async (_args, { ask }) => {
      const first = await ask("elicitation/create", { message: "Name?" });
      const second = await ask("elicitation/create", { message: "Mood?" });
      return `${JSON.stringify(first["content"])} ${JSON.stringify(second["content"])}`;
    },
    count: (_args, { progress }) => {
      progress({ progress: 1, total: 2 });
      return "counted";
    },
  },
  resources: { "memo://a": "first", "memo://b": (uri) => `this is ${uri}` },
  prompts: { hello: ({ name }) => `Say hello to ${String(name)}`, plain: "Say something" },
};

describe.each(["modern", "legacy", "both"] as const)("a scripted server, %s", (era) => {
  test("is found to be what it says", async () => {
    const server = new ScriptedServer({ ...script, era });
    await using client = await connect(server.transport);
    expect(client.era).toBe(era === "legacy" ? "legacy" : "modern");
    expect(client.instructions).toBe("Be brief.");
    expect(client.serverInfo).toEqual({ name: "scripted", version: "1.0.0" });
  });

  test("offers what the script has", async () => {
    const server = new ScriptedServer({ ...script, era });
    await using client = await connect(server.transport);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(Object.keys(script.tools ?? {}));
    expect((await client.listTools())[1]).toEqual({
      name: "add",
      description: "Adds",
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
    });
    expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ type: "text", text: "hi" }] });
    expect(await client.callTool("add", { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } });
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(["memo://a", "memo://b"]);
    expect(await client.readResource("memo://b")).toMatchObject({ contents: [{ text: "this is memo://b" }] });
    expect(await client.getPrompt("hello", { name: "Ada" })).toMatchObject({
      messages: [{ role: "user", content: { text: "Say hello to Ada" } }],
    });
  });

  test("fails as servers fail", async () => {
    const server = new ScriptedServer({ ...script, era });
    await using client = await connect(server.transport);
    expect(await client.callTool("grumble")).toMatchObject({ isError: true, content: [{ text: "not today" }] });
    expect(await failure(client.callTool("refuse"))).toMatchObject({
      code: "SERVER_ERROR",
      details: { rpc: { code: -32050, message: "no", data: { why: "because" } } },
    });
    const notFound = await failure(client.readResource("memo://none"));
    expect(notFound.details.rpc?.code).toBe(era === "legacy" ? -32002 : -32602);
    expect((await failure(client.request("no/such/method"))).details.rpc?.code).toBe(-32601);
  });

  test("asks in the way of its era, round after round", async () => {
    const server = new ScriptedServer({ ...script, era });
    const input: InputProvider = {
      capabilities: { elicitation: { form: {} } },
      handle: ({ params }) => ({ action: "accept", content: { to: params?.["message"] } }),
    };
    await using client = await connect(server.transport, { input });
    const { content } = await client.callTool("greet");
    expect(content[0]?.text).toBe(`{"to":"Name?"} {"to":"Mood?"}`);
  });

  test("reports progress, hears that it is cancelled, and tells what it heard", async () => {
    const server = new ScriptedServer({ ...script, era });
    await using client = await connect(server.transport);
    const steps: number[] = [];
    await client.callTool("count", {}, { onProgress: ({ progress }) => steps.push(progress) });
    expect(steps).toEqual([1]);

    const cancelled = new Promise<void>((resolve) => {
      server.once("tools/call", (_params, { signal }) => {
        signal.addEventListener("abort", () => resolve());
      });
    });
    const abort = new AbortController();
    const call = failure(client.callTool("echo", {}, { signal: abort.signal }));
    await server.receive("tools/call", 2);
    abort.abort();
    expect((await call).code).toBe("CANCELLED");
    await cancelled;
    expect(server.methods.at(-1)).toBe("notifications/cancelled");
  });

  test("fails, holds and disconnects when it is told to", async () => {
    const server = new ScriptedServer({ ...script, era });
    await using client = await connect(server.transport);
    server.failNext("tools/call", new ScriptedError(-32000, "busy"));
    expect((await failure(client.callTool("echo"))).details.rpc?.message).toBe("busy");

    const release = server.holdNext("tools/call");
    const order: string[] = [];
    const held = client.callTool("echo", { text: "held" }).then(() => order.push("held"));
    await client.callTool("echo", { text: "free" }).then(() => order.push("free"));
    release();
    await held;
    expect(order).toEqual(["free", "held"]);

    server.disconnectNext("tools/call");
    await failure(client.callTool("echo"));
    await client.closed;
    await using again = await connect(server.transport);
    expect(await again.callTool("echo", { text: "back" })).toMatchObject({ content: [{ text: "back" }] });
  });

  test("sends what a handler returns as it is, right or wrong, and leaves the rest to the server", async () => {
    const wrong = { tools: "none", nextCursor: 7, resultType: "complete" };
    const server = new ScriptedServer({ ...script, era })
      .on("tools/list", () => wrong)
      .on("tools/call", ({ name }, { pass }) => (name === "echo" ? pass() : { content: "wrong" }));
    await using client = await connect(server.transport);
    expect(await client.request("tools/list")).toEqual(wrong);
    expect(await client.request("tools/call", { name: "add" })).toMatchObject({ content: "wrong" });
    expect(await client.callTool("echo", { text: "right" })).toMatchObject({ content: [{ text: "right" }] });
  });

  test("declares what the script declares", async () => {
    const capabilities = { tasks: { list: {} }, extensions: { "acme/own": {} } };
    const server = new ScriptedServer({ era, capabilities, tools: {} });
    await using client = await connect(server.transport);
    expect(client.serverCapabilities).toEqual({ ...capabilities, tools: { listChanged: true } });
  });

  test("says what it likes", async () => {
    const server = new ScriptedServer({ ...script, era });
    const heard: string[] = [];
    await using client = await connect(server.transport, { onNotification: ({ method }) => heard.push(method) });
    server.notify("notifications/message", { level: "info", data: "x" });
    server.send({ jsonrpc: "2.0", method: "notifications/own" });
    await client.ping();
    expect(heard).toEqual(["notifications/message", "notifications/own"]);
  });
});

test("a legacy server asks outside any call", async () => {
  const server = new ScriptedServer({ era: "legacy" });
  await using client = await connect(server.transport, { roots: [{ uri: "file:///a" }] });
  expect(await server.request("roots/list")).toEqual({ roots: [{ uri: "file:///a" }] });
  await expect(server.request("sampling/createMessage", {})).rejects.toBeInstanceOf(ScriptedError);
  expect(client.era).toBe("legacy");
});

test("a handler of initialize agrees for the server behind it", async () => {
  const server = new ScriptedServer({ ...script, era: "legacy" }).on("initialize", () => ({
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "older", version: "0" },
    extra: true,
  }));
  await using client = await connect(server.transport);
  expect(client).toMatchObject({ protocolVersion: "2024-11-05", serverInfo: { name: "older" } });
  expect(client.serverCapabilities).toEqual({ tools: {} });
  expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
});

test("a modern server tells each subscription what it wants to hear, stamped with its id", async () => {
  const server = new ScriptedServer({ era: "modern", resources: { "memo://a": "x" } });
  const heard: unknown[] = [];
  await using client = await connect(server.transport, {
    onNotification: ({ method, params }) => heard.push({ method, params }),
  });
  const abort = new AbortController();
  const params = { notifications: { resourceSubscriptions: ["memo://a"] } };
  const listening = failure(client.request("subscriptions/listen", params, { signal: abort.signal }));
  await expect.poll(() => heard).toHaveLength(1);
  server.notify("notifications/resources/updated", { uri: "memo://a" });
  await expect.poll(() => heard).toHaveLength(2);
  const { id } = (await server.receive("subscriptions/listen")) as { id: number };
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  expect(heard).toEqual([
    { method: "notifications/subscriptions/acknowledged", params: { ...params, _meta } },
    { method: "notifications/resources/updated", params: { uri: "memo://a", _meta } },
  ]);
  abort.abort();
  expect((await listening).code).toBe("CANCELLED");
});
