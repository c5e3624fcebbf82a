import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Client } from "../../src/index.ts";
import { agreeable, type Asked } from "./answers.ts";
import { fixture, packageBin, startServer, type ServerProcess } from "./server-process.ts";

const PROGRAM = packageBin("@modelcontextprotocol/server-everything");

describe.each(["stdio", "streamableHttp", "sse"])("the public server-everything over %s (R10)", (transport) => {
  let running: ServerProcess | undefined;
  let client: Client;
  let asked: Asked[];
  let rootsLogged: Promise<unknown>;

  beforeAll(async () => {
    const answers = agreeable();
    asked = answers.asked;
    if (transport === "stdio") {
      client = await connect({ command: process.execPath, args: [PROGRAM, transport] }, { input: answers.input });
    } else {
      running = await startServer("--import", fixture("any-port.mjs"), PROGRAM, transport);
      // Over SSE the transport is found, too: nothing says what the URL is.
      const url = transport === "sse" ? running.url.replace(/mcp$/, "sse") : running.url;
      client = await connect({ url }, { input: answers.input });
    }
    rootsLogged = new Promise((resolve) => {
      client.onNotification(({ method, params }) => {
        if (method === "notifications/message" && String(params?.["data"]).startsWith("Roots updated")) resolve(params);
      });
    });
  });

  afterAll(async () => {
    await client?.close();
    await running?.[Symbol.asyncDispose]();
  });

  test("is legacy, and says what it can (N6)", () => {
    expect(client).toMatchObject({ era: "legacy", protocolVersion: "2025-11-25" });
    expect(client.serverInfo).toMatchObject({ name: "mcp-servers/everything" });
    expect(client.serverCapabilities).toMatchObject({
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      logging: {},
    });
  });

  test("asks for the roots outside any call, is answered, and logs it (R4, R6)", async () => {
    await client.setLogLevel("debug");
    expect(await rootsLogged).toMatchObject({ level: "info", data: expect.stringContaining("1 root(s)") });
    expect(asked.find(({ method }) => method === "roots/list")).toMatchObject({ duringCall: false });
  });

  test("offers the tools that need an able client, because ours declared what it can (P1.1–1.6)", async () => {
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "trigger-sampling-request",
        "trigger-elicitation-request",
        "trigger-url-elicitation",
        "get-roots-list",
      ]),
    );
  });

  test("echoes, adds, and sends an image and structured content (N7)", async () => {
    expect(await client.callTool("echo", { message: "hi" })).toMatchObject({ content: [{ text: "Echo: hi" }] });
    expect(await client.callTool("get-sum", { a: 2, b: 3 })).toMatchObject({
      content: [{ text: expect.stringContaining("5") }],
    });
    const { content } = await client.callTool("get-tiny-image", {});
    expect(content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
    expect(await client.callTool("get-structured-content", { location: "Chicago" })).toMatchObject({
      structuredContent: { temperature: 36 },
    });
  });

  test("has its resources and templates listed and read (N7, R1)", async () => {
    const resources = await client.listResources();
    expect(resources.length).toBeGreaterThan(0);
    const templates = await client.listResourceTemplates();
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain("demo://resource/dynamic/text/{resourceId}");
    const { contents } = await client.readResource("demo://resource/dynamic/text/1");
    expect(contents).toMatchObject([{ text: expect.stringContaining("Resource 1") }]);
    expect(await client.readResource("demo://resource/dynamic/blob/2")).toMatchObject({
      contents: [{ blob: expect.any(String) }],
    });
  });

  test("fills in a prompt and completes its argument (N7, R2)", async () => {
    const prompts = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(["args-prompt", "completable-prompt"]));
    expect(await client.getPrompt("args-prompt", { city: "Graz" })).toMatchObject({
      messages: [{ content: { text: "What's weather in Graz?" } }],
    });
    const reference = { type: "ref/prompt" as const, name: "completable-prompt" };
    expect(await client.complete(reference, { name: "department", value: "S" })).toMatchObject({
      completion: { values: ["Sales", "Support"] },
    });
  });

  test("asks the user's model during a call (N8, R3)", async () => {
    const { content } = await client.callTool("trigger-sampling-request", { prompt: "Sing", maxTokens: 20 });
    expect(content).toMatchObject([{ text: expect.stringContaining("parrot") }]);
    expect(asked.at(-1)).toMatchObject({
      method: "sampling/createMessage",
      params: { maxTokens: 20 },
      duringCall: true,
    });
  });

  test("asks the user with a form during a call (R5)", async () => {
    const { content } = await client.callTool("trigger-elicitation-request", {});
    expect(JSON.stringify(content)).toContain("Ada");
    expect(asked.at(-1)).toMatchObject({ method: "elicitation/create", duringCall: true });
  });

  test("sends the user to a URL during a call (R5)", async () => {
    const url = "https://example.com/consent";
    await client.callTool("trigger-url-elicitation", { url, message: "Please consent" });
    expect(asked.at(-1)).toMatchObject({
      method: "elicitation/create",
      params: { mode: "url", url },
      duringCall: true,
    });
  });

  test("knows the roots it was given (R4)", async () => {
    await rootsLogged;
    const { content } = await client.callTool("get-roots-list", {});
    expect(content).toMatchObject([{ text: expect.stringContaining("file:///projects/one") }]);
  });

  test("reports progress (R6)", async () => {
    const reported: number[] = [];
    await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.05, steps: 5 },
      { onProgress: ({ progress }) => reported.push(progress) },
    );
    expect(reported).toEqual([1, 2, 3, 4, 5]);
  });

  test("answers a ping (R6)", async () => {
    await client.ping();
  });

  // These take as long as the server likes: a few seconds each, so they run side by side.
  test.concurrent("has a task waited for, with the question it asks meanwhile (N1, R5)", async () => {
    const states: string[] = [];
    const result = await client.callTool(
      "simulate-research-query",
      { topic: "python", ambiguous: true },
      { task: { onStatus: ({ status }) => states.push(status) } },
    );
    expect(result.content[0]?.text).toContain("# Research Report: python");
    expect(states[0]).toBe("working");
    expect(asked).toContainEqual(
      expect.objectContaining({
        method: "elicitation/create",
        params: expect.objectContaining({ message: expect.stringContaining("python") as string }) as unknown,
      }),
    );
  });

  test.concurrent("tells of updates to a resource that was subscribed to (R1)", async () => {
    const uri = "demo://resource/dynamic/text/7";
    let told: (changed: string) => void = () => {};
    const updated = new Promise<string>((resolve) => (told = resolve));
    await using subscription = await client.subscribe({ resources: [uri], lists: ["resources"] }, (change) => {
      if (change.kind === "resource-updated") told(change.uri);
    });
    expect(subscription.accepted.resources).toEqual([uri]);
    await client.callTool("toggle-subscriber-updates");
    expect(await updated).toBe(uri);
    await client.callTool("toggle-subscriber-updates");
  });

  test.concurrent("tells of a list that changed (R1)", async () => {
    let told: () => void = () => {};
    const changed = new Promise<void>((resolve) => (told = resolve));
    await using _subscription = await client.subscribe(
      { lists: ["resources"] },
      (change) => change.kind === "list-changed" && told(),
    );
    await client.callTool("gzip-file-as-resource", {
      name: "hello.gz",
      data: "data:text/plain,hello",
      outputType: "resource",
    });
    await changed;
    expect(await client.listResources()).toContainEqual(expect.objectContaining({ name: "hello.gz" }));
  });

  test.concurrent("logs while it works (R6)", async () => {
    const logged = new Promise((resolve) => {
      client.onNotification(
        ({ method, params }) =>
          method === "notifications/message" && String(params?.["data"]).includes("message") && resolve(params),
      );
    });
    await client.setLogLevel("debug");
    await client.callTool("toggle-simulated-logging");
    expect(await logged).toMatchObject({ level: expect.any(String) as string });
    await client.callTool("toggle-simulated-logging");
  });
});
