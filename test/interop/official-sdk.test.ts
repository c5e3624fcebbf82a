import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Client, type ServerEntry } from "../../src/index.ts";
import { isFull } from "../fixtures/depth.ts";
import { agreeable, answering, refusing, type Asked } from "./answers.ts";
import { fixture, startServer, type ServerProcess } from "./server-process.ts";

const SDK1 = fixture("sdk1-server.mjs");
const SDK2 = fixture("sdk2-server.mjs");
const MODERN = { era: "modern", protocolVersion: "2026-07-28" };
const LEGACY = { era: "legacy", protocolVersion: "2025-11-25" };

const servers = [
  { title: "SDK 2, modern only, stdio", program: [SDK2, "--stdio", "--era", "modern"], speaks: MODERN },
  { title: "SDK 2, modern only, HTTP", program: [SDK2, "--http", "--era", "modern"], speaks: MODERN },
  { title: "SDK 2, both eras, stdio", program: [SDK2, "--stdio", "--era", "both"], speaks: MODERN },
  { title: "SDK 2, both eras, HTTP", program: [SDK2, "--http", "--era", "both"], speaks: MODERN },
  { title: "SDK 2, legacy only, stdio", program: [SDK2, "--stdio", "--era", "legacy"], speaks: LEGACY },
  { title: "SDK 2, legacy only, HTTP", program: [SDK2, "--http", "--era", "legacy"], speaks: LEGACY },
  { title: "SDK 1, stdio", program: [SDK1, "--stdio"], speaks: LEGACY },
  { title: "SDK 1, HTTP", program: [SDK1, "--http"], speaks: LEGACY },
];

/** In a quick run those of one era alone are tried over HTTP only. */
const tried = servers.filter(({ program }) => isFull || program[0] === SDK1 || !isOfOneEraOnStdio(program));

function isOfOneEraOnStdio(program: readonly string[]): boolean {
  return program.includes("--stdio") && !program.includes("both");
}

describe.each(tried)("a server of $title", ({ program, speaks }) => {
  let running: ServerProcess | undefined;
  let client: Client;
  let asked: Asked[];

  beforeAll(async () => {
    const http = program.includes("--http");
    running = http ? await startServer(...program) : undefined;
    const entry: ServerEntry = running ? { url: running.url } : { command: process.execPath, args: program };
    const answers = agreeable();
    asked = answers.asked;
    client = await connect(entry, { input: answers.input });
  });

  afterAll(async () => {
    await client?.close();
    await running?.[Symbol.asyncDispose]();
  });

  test("is asked in its own era, without being told which (N6, G1, B1)", () => {
    expect({ era: client.era, protocolVersion: client.protocolVersion }).toEqual(speaks);
    expect(client.serverInfo).toMatchObject({ name: program[0] === SDK1 ? "sdk1" : "sdk2" });
    expect(client.serverCapabilities).toMatchObject({ tools: {}, resources: {}, prompts: {}, completions: {} });
  });

  test("has its tools listed with every field it sent (N7, P1.1–1.6)", async () => {
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "ask", "slow", "structured"]));
    expect(tools.find(({ name }) => name === "structured")).toMatchObject({
      title: "Weather",
      annotations: { readOnlyHint: true },
      inputSchema: { type: "object", required: ["city"] },
      outputSchema: { type: "object", properties: { celsius: { type: "number" } } },
    });
  });

  test("answers a call with every kind of content (N7)", async () => {
    const { content } = await client.callTool("media", {});
    expect(content).toMatchObject([
      { type: "image", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "test://text", name: "text" },
      { type: "resource", resource: { uri: "test://text", text: "embedded" } },
    ]);
  });

  test("gives structured content beside the text (P1.1–1.6)", async () => {
    const result = await client.callTool("structured", { city: "Graz" });
    expect(result).toMatchObject({ structuredContent: { city: "Graz", celsius: 21.5 } });
  });

  test("may fail in a tool, which is a result and no exception", async () => {
    expect(await client.callTool("fail", {})).toMatchObject({ isError: true, content: [{ text: "It did not work" }] });
  });

  test("has each of many calls at once answered with its own result (N5, R8)", async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `call ${index}`);
    const results = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
    expect(results.map(({ content }) => content[0])).toMatchObject(texts.map((text) => ({ text })));
  });

  test("has its resources listed and read, text and blob (N7, R1)", async () => {
    const resources = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["test://text", "test://blob"]);
    expect(await client.readResource("test://text")).toMatchObject({ contents: [{ text: "Grüße" }] });
    const { contents } = await client.readResource("test://blob");
    expect(contents).toMatchObject([{ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) }]);
  });

  test("has its templates listed, completed and read (R1)", async () => {
    const templates = await client.listResourceTemplates();
    expect(templates).toMatchObject([{ uriTemplate: "test://items/{id}" }]);
    const reference = { type: "ref/resource" as const, uri: "test://items/{id}" };
    const completed = await client.complete(reference, { name: "id", value: "ap" });
    expect(completed).toMatchObject({ completion: { values: ["apple", "apricot"] } });
    expect(await client.readResource("test://items/pear")).toMatchObject({ contents: [{ text: '{"id":"pear"}' }] });
  });

  test("says that a resource does not exist, with its own error (P1.9)", async () => {
    await expect(client.readResource("test://nowhere")).rejects.toMatchObject({
      code: "SERVER_ERROR",
      details: { rpc: { code: speaks.era === "modern" ? -32602 : expect.any(Number) } },
    });
  });

  test("has its prompts listed, completed and filled in (N7, R2)", async () => {
    const prompts = await client.listPrompts();
    expect(prompts).toMatchObject([
      { name: "greet", arguments: [{ name: "name", required: true }, { name: "style" }] },
    ]);
    const completed = await client.complete({ type: "ref/prompt", name: "greet" }, { name: "style", value: "fr" });
    expect(completed).toMatchObject({ completion: { values: ["friendly"] } });
    expect(await client.getPrompt("greet", { name: "Ada", style: "funny" })).toMatchObject({
      messages: [{ role: "user", content: { text: "Greet Ada in a funny way" } }],
    });
  });

  test("asks the user with a form and is told (R5)", async () => {
    expect(await textOf(client.callTool("ask", {}))).toBe("accept Ada");
    expect(asked.at(-1)).toMatchObject({
      method: "elicitation/create",
      params: { message: "What is your name?", requestedSchema: { required: ["name"] } },
    });
  });

  test.each(["decline", "cancel"] as const)("hears %s from the handler of one call (R5)", async (action) => {
    expect(await textOf(client.callTool("ask", {}, { input: refusing(action) }))).toBe(action);
  });

  // A legacy pipe does not say whose question it is: there, the newest call is asked, and all are the same user's.
  const names = speaks.era === "legacy" && program.includes("--stdio") ? ["Ada"] : ["Ada", "Grace", "Hedy"];
  test(`has ${names.length} asking calls at once answered, each by its own handler (N5, R5)`, async () => {
    const calls = names.map((name) => textOf(client.callTool("ask", {}, { input: answering(name) })));
    expect(await Promise.all(calls)).toEqual(names.map((name) => `accept ${name}`));
  });

  test("sends the user to a URL (R5)", async () => {
    expect(await textOf(client.callTool("ask_url", {}))).toBe("accept");
    expect(asked.at(-1)).toMatchObject({ params: { mode: "url", url: "https://example.com/sign-in" } });
  });

  test("asks the user's model (N8, R3)", async () => {
    expect(await textOf(client.callTool("sample", {}))).toBe("parrot: hello");
    expect(asked.at(-1)).toMatchObject({ method: "sampling/createMessage", params: { maxTokens: 10 } });
  });

  test("asks for the roots (R4)", async () => {
    expect(await textOf(client.callTool("roots", {}))).toBe("file:///projects/one");
  });

  test("reports progress in order, before the result (R6)", async () => {
    const reported: number[] = [];
    const call = client.callTool("progress", { steps: 4 }, { onProgress: ({ progress }) => reported.push(progress) });
    expect(await textOf(call)).toBe("4 steps");
    expect(reported).toEqual([1, 2, 3, 4]);
  });

  test("stops working when the call is cancelled (N5, R6, G6)", async () => {
    const key = crypto.randomUUID();
    const stop = new AbortController();
    const call = client.callTool("slow", { key }, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await textOf(client.callTool("was_cancelled", { key }))).toBe("true");
  });

  test("stops working when the call takes too long (N5)", async () => {
    const key = crypto.randomUUID();
    const call = client.callTool("slow", { key }, { timeoutMs: 200 });
    await expect(call).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(await textOf(client.callTool("was_cancelled", { key }))).toBe("true");
  });

  test("logs at the level that was set (R6)", async () => {
    await client.setLogLevel("info");
    const message = crypto.randomUUID();
    const logged = new Promise((resolve) => {
      client.onNotification(({ method, params }) => {
        if (method === "notifications/message" && params?.["data"] === message) resolve(params["level"]);
      });
    });
    expect(await textOf(client.callTool("log", { message }))).toBe("logged");
    expect(await logged).toBe("info");
  });

  test("answers a ping, or what its era has instead (R6)", async () => {
    await client.ping();
  });
});

async function textOf(call: Promise<{ content: unknown[] }>): Promise<unknown> {
  const [first] = (await call).content as { text?: string }[];
  return first?.text;
}
