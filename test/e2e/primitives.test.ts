import { describe, expect, test } from "vitest";
import type { Progress } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { reach, WAYS } from "../fixtures/reach.ts";
import { withOwnClock } from "../fixtures/own-clock.ts";

describe.each(WAYS)("over $transport, $revision", (way) => {
  const modern = way.revision === "2026-07-28";

  test("the revision is found and reported (N6, G1)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    expect(client.protocolVersion).toBe(way.revision);
    expect(client.era).toBe(modern ? "modern" : "legacy");
    expect(client.verdict).toMatchObject({ how: "probed", remember: client.era });
    expect(client.serverInfo).toMatchObject({ name: "everything" });
    expect(client.serverCapabilities).toMatchObject({ tools: {}, resources: {}, prompts: {} });
    expect(client.instructions).toContain("A server for tests");
  });

  test("lists come whole, page by page, empty cursors included (P1.4, N7)", async () => {
    await using reached = await reach(way, {}, { pageSize: 3 });
    const { client } = reached;
    const tools = await client.listTools();
    expect(tools.length).toBeGreaterThan(20);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(client.known.tools).toBe(tools);
    const uris = (await client.listResources()).map(({ uri }) => uri);
    expect(uris).toEqual(
      expect.arrayContaining(["test://static-text", "test://static-binary", "test://watched-resource"]),
    );
    expect(await client.listResourceTemplates()).toContainEqual(
      expect.objectContaining({ uriTemplate: "test://template/{id}/data" }),
    );
    expect((await client.listPrompts()).map(({ name }) => name)).toContain("test_prompt_with_arguments");
  });

  test("tools answer with every kind of content, and failures are values (N7, P1.6)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const kinds = async (name: string) => (await client.callTool(name)).content.map(({ type }) => type);
    expect(await kinds("test_simple_text")).toEqual(["text"]);
    expect(await kinds("test_image_content")).toEqual(["image"]);
    expect(await kinds("test_audio_content")).toEqual([way.revision >= "2025-03-26" ? "audio" : "text"]);
    expect(await kinds("test_multiple_content_types")).toEqual(["text", "image", "resource"]);
    expect(await client.callTool("test_error_handling")).toMatchObject({ isError: true });
    const hasStructure = way.revision >= "2025-06-18";
    expect(await client.callTool("add_numbers", { a: 5, b: 3 })).toMatchObject(
      hasStructure ? { structuredContent: { sum: 8 } } : { content: [{ text: `{"sum":8}` }] },
    );
  });

  test("members and content kinds that nobody knows arrive untouched (P1.5)", async () => {
    await using reached = await reach(way);
    expect(await reached.client.callTool("unknown_things")).toMatchObject({
      content: [{ type: "hologram", depth: 3, annotations: { audience: ["assistant"], glow: true } }],
      somethingNew: { nested: [1, "two", null] },
    });
  });

  test("resources are read as text and as blobs, through templates too (N7)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    expect((await client.readResource("test://static-text")).contents[0]).toMatchObject({
      text: expect.any(String) as string,
    });
    expect((await client.readResource("test://static-binary")).contents[0]).toMatchObject({
      blob: expect.any(String) as string,
    });
    const { contents } = await client.readResource("test://template/123/data");
    expect(JSON.parse(contents[0]?.text ?? "")).toEqual({ id: "123", templateTest: true, data: "Data for ID: 123" });
    const error = await failure(client.readResource("test://nothing-here"));
    expect(error).toMatchObject({ code: "SERVER_ERROR", details: { rpc: { code: modern ? -32602 : -32002 } } });
  });

  test("prompts are filled in and completed (N7)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const { messages } = await client.getPrompt("test_prompt_with_arguments", { arg1: "hello", arg2: "world" });
    expect(messages[0]?.content.text).toBe("Prompt with arguments: arg1='hello', arg2='world'");
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" } as const;
    const { completion } = await client.complete(ref, { name: "arg1", value: "" });
    expect(Array.isArray(completion.values)).toBe(true);
  });

  test("progress is reported to the caller and only there (R6)", async () => {
    await using reached = await reach(way);
    const reports: Progress[] = [];
    await reached.client.callTool("test_tool_with_progress", {}, { onProgress: (progress) => reports.push(progress) });
    expect(reports.map(({ progress, total }) => [progress, total])).toEqual([
      [0, 100],
      [50, 100],
      [100, 100],
    ]);
  });

  test("progress extends the time of a call up to its total (N5, R6)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    await withOwnClock(async (pass) => {
      // Three reports, each after most of the time that is left: 300 ms in all.
      const options = { onProgress: () => pass(100), timeoutMs: 120 };
      expect(await client.callTool("test_tool_with_progress", {}, options)).toMatchObject({
        content: [{ text: "Done." }],
      });
      const error = await failure(client.callTool("test_tool_with_progress", {}, { ...options, totalTimeoutMs: 80 }));
      expect(error.code).toBe("TIMEOUT");
    });
  });

  test("an aborted call is cancelled at the server (G6, R6)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const abort = new AbortController();
    const sleeps = [1, 2, 3].map(() => failure(client.callTool("sleep", { ms: 60_000 }, { signal: abort.signal })));
    await client.callTool("echo", { text: "they are under way" });
    abort.abort(new Error("enough"));
    for (const error of await Promise.all(sleeps))
      expect(error).toMatchObject({ code: "CANCELLED", cause: { message: "enough" } });
    await expect
      .poll(
        async () => JSON.parse((await client.callTool("recorded_cancellations")).content[0]?.text ?? "") as unknown[],
      )
      .toHaveLength(3);
  });

  test("log messages come at the level that was set, and pings are answered (R6)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const logs: unknown[] = [];
    client.onNotification(({ method, params }) => method === "notifications/message" && logs.push(params?.["data"]));
    await client.setLogLevel("error");
    await client.callTool("test_logging_tool");
    expect(logs).toEqual([]);
    await client.setLogLevel("debug");
    await client.callTool("test_logging_tool");
    expect(logs).toEqual(["test_logging_tool was called"]);
    await client.ping();
  });

  test("unknown tools and methods are the server's own errors, with its code", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    expect(await failure(client.callTool("no_such_tool"))).toMatchObject({
      code: "SERVER_ERROR",
      details: { rpc: { code: -32602 } },
    });
    expect(await failure(client.request("no/such/method"))).toMatchObject({
      code: "SERVER_ERROR",
      details: { rpc: { code: -32601 } },
    });
  });
});

test("an unknown result type is an error that carries the raw result", async () => {
  await using reached = await reach({ transport: "http", revision: "2026-07-28" });
  const error = await failure(reached.client.callTool("unknown_things", { resultType: "hologram" }));
  expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION", details: { raw: { resultType: "hologram" } } });
});

test("list changes drop what was known (N6)", async () => {
  await using reached = await reach({ transport: "stdio", revision: "2025-11-25" });
  const { client } = reached;
  const before = (await client.listTools()).length;
  const changed = new Promise<void>((resolve) => {
    client.onNotification(({ method }) => method === "notifications/tools/list_changed" && resolve());
  });
  await client.callTool("test_trigger_tool_change");
  await changed;
  expect(client.known.tools).toBeUndefined();
  expect(await client.listTools()).toHaveLength(before + 1);
});
