import { describe, expect, test } from "vitest";
import type { Notification } from "../../../src/protocol/json-rpc.ts";
import { failure } from "../../fixtures/failure.ts";
import { CallsWorld, EVERYTHING, keysOf, retryOf, textOf, type Upstream } from "./calls-world.ts";

const ASKABLE = { capabilities: EVERYTHING };
const META = "io.modelcontextprotocol/";
const INVALID = { details: { rpc: { code: -32602, message: "request state not valid" } } };

describe.each<Upstream>(["modern stdio", "modern http"])("a modern caller of a %s server", (upstream) => {
  test("gets answers as they came, with what is the hop's own removed (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const result = await world.tool("unknown_things", {}, {}, { _meta: { "example.org/a": 1, progressToken: "raw" } });
    expect(result).toEqual({
      resultType: "complete",
      content: [{ type: "hologram", depth: 3, annotations: { audience: ["assistant"], glow: true } }],
      somethingNew: { nested: [1, "two", null] },
      _meta: { "example.org/trace": "kept" },
    });
    const [request] = await world.requests("tools/call");
    expect(request?.params?.["_meta"]).toMatchObject({ "example.org/a": 1, [`${META}clientCapabilities`]: {} });
    expect(request?.params?.["_meta"]).not.toHaveProperty("progressToken");
    const read = await world.run("resources/read", { uri: "test://static-text" });
    expect(read).toMatchObject({ resultType: "complete", ttlMs: expect.any(Number), cacheScope: "public" });
  });

  test("declares what the caller declared, continues its trace, and passes nothing else on", async () => {
    await using world = await CallsWorld.open(upstream);
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    await world.tool("echo", { text: "x" }, { capabilities: { elicitation: { form: {} } }, trace, logLevel: "debug" });
    const [request] = await world.requests("tools/call");
    expect(request?.params?.["_meta"]).toMatchObject({
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/) as string,
      "dev.nexus/correlationId": "0af7651916cd43dd8448eb211c80319c",
      [`${META}clientCapabilities`]: { elicitation: { form: {} } },
      [`${META}clientInfo`]: { name: "nexus-mcp" },
      [`${META}logLevel`]: "debug",
    });
  });

  test("is asked by the server itself, whose state comes back to it exactly (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const name = "test_input_required_result_multi_round";
    const answer = { action: "accept", content: { name: "Ada", color: "green" } };
    const first = await world.tool(name, {}, ASKABLE);
    expect(keysOf(first)).toEqual(["step1"]);
    const second = await world.tool(name, {}, ASKABLE, retryOf(first, answer));
    expect(keysOf(second)).toEqual(["step2"]);
    const last = await world.tool(name, {}, ASKABLE, retryOf(second, answer));
    expect(textOf(last)).toBe("Ada likes green.");
    // Nothing is kept here: the same state may be used again, as far as the server lets it.
    expect(world.calls.parked).toBe(0);
    expect(textOf(await world.tool(name, {}, ASKABLE, retryOf(second, answer)))).toBe("Ada likes green.");
    const states = (await world.requests("tools/call")).map(({ params }) => params?.["requestState"]);
    expect(states).not.toContain(first["requestState"]);
    expect(states[0]).toBeUndefined();
  });

  test("sends no state where none came", async () => {
    await using world = await CallsWorld.open(upstream);
    const first = await world.tool("test_input_required_result_elicitation", {}, ASKABLE);
    expect(first).not.toHaveProperty("requestState");
    const answer = { action: "accept", content: { name: "Ada" } };
    const last = await world.tool("test_input_required_result_elicitation", {}, ASKABLE, retryOf(first, answer));
    expect(textOf(last)).toBe("Hello, Ada!");
    expect((await world.requests("tools/call")).at(-1)?.params).not.toHaveProperty("requestState");
  });

  test("is refused with one wording whatever is wrong with its state (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const name = "test_input_required_result_request_state";
    const first = await world.tool(name, {}, ASKABLE);
    const retry = retryOf(first, { action: "accept", content: { ok: true } });
    const state = String(retry["requestState"]);
    const other = { ...ASKABLE, principal: { id: "anybody", tenant: "other" } };
    for (const attempt of [
      () => world.tool(name, {}, ASKABLE, { ...retry, requestState: `${state}x` }),
      () =>
        world.tool(name, {}, ASKABLE, {
          ...retry,
          requestState: `${state.startsWith("x") ? "y" : "x"}${state.slice(1)}`,
        }),
      () => world.tool(name, { other: 1 }, ASKABLE, retry),
      () => world.tool("test_input_required_result_tampered_state", {}, ASKABLE, retry),
      () => world.tool(name, {}, other, retry),
    ]) {
      expect(await failure(attempt())).toMatchObject(INVALID);
    }
    expect(textOf(await world.tool(name, {}, ASKABLE, retry))).toBe("Confirmed: state-ok");
  });

  test("hears progress and log messages in order, under its own token, at its own level (X4)", async () => {
    await using world = await CallsWorld.open(upstream);
    const told: Notification[] = [];
    await world.tool("test_tool_with_progress", {}, { progressToken: 7, told });
    expect(told.map(({ params }) => [params?.["progressToken"], params?.["progress"]])).toEqual([
      [7, 0],
      [7, 50],
      [7, 100],
    ]);
    const logs: Notification[] = [];
    await world.tool("test_tool_with_logging", {}, { logLevel: "info", told: logs });
    expect(logs.map(({ params }) => params?.["data"])).toEqual([
      "Tool execution started",
      "Tool processing data",
      "Tool execution completed",
    ]);
    const none: Notification[] = [];
    await world.tool("test_tool_with_logging", {}, { logLevel: "error", told: none });
    await world.tool("test_tool_with_logging", {}, { told: none });
    expect(none).toEqual([]);
  });

  test("that leaves cancels the call at the server", async () => {
    await using world = await CallsWorld.open(upstream);
    const leaving = new AbortController();
    const sleeping = world.tool("sleep", { ms: 60_000 }, { signal: leaving.signal });
    await expect.poll(() => world.requests("tools/call")).toHaveLength(1);
    leaving.abort();
    expect(await failure(sleeping)).toMatchObject({ code: "CANCELLED" });
    await expect.poll(async () => textOf(await world.tool("recorded_cancellations"))).not.toBe("[]");
    expect(world.calls.inFlight).toBe(0);
  });

  test("is told what it would have to declare, and where nothing is", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await failure(world.tool("test_missing_capability"))).toMatchObject({
      details: { rpc: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } },
    });
    expect(await failure(world.run("resources/read", { uri: "test://nowhere" }))).toMatchObject({
      details: { rpc: { code: -32602 } },
    });
    expect(await failure(world.run("no/such", {}))).toMatchObject({ details: { rpc: { code: -32601 } } });
  });

  test("without roots of its own lends the server those of its entry", async () => {
    await using world = await CallsWorld.open(upstream, { entry: { roots: ["/srv/data"] } });
    expect(textOf(await world.tool("ask_roots"))).toContain("file:///srv/data");
    const name = "test_input_required_result_multiple_inputs";
    const caller = { capabilities: { elicitation: {}, sampling: {} } };
    const first = await world.tool(name, {}, caller);
    expect(keysOf(first)).toEqual(["user_name", "greeting"]);
    const inputResponses = {
      user_name: { action: "accept", content: { name: "Ada" } },
      greeting: { role: "assistant", model: "m", content: { type: "text", text: "Hi" } },
    };
    const last = await world.tool(name, {}, caller, { inputResponses, requestState: first["requestState"] });
    expect(textOf(last)).toMatch(/^Hi Ada .*srv\/data/);
  });
});

describe.each<Upstream>(["legacy stdio", "legacy http", "legacy sse"])("a plain call to a %s server", (upstream) => {
  test("is answered in the form of the newest specification (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await world.tool("echo", { text: "x" }, {}, { task: {} })).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "x" }],
    });
    expect((await world.requests("tools/call"))[0]?.params).toEqual({
      name: "echo",
      arguments: { text: "x" },
      _meta: {
        "dev.nexus/correlationId": expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) as string,
      },
    });
    const read = await world.run("resources/read", { uri: "test://static-text" });
    expect(read).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
    expect(await failure(world.run("resources/read", { uri: "test://nowhere" }))).toMatchObject({
      details: { rpc: { code: -32602, data: { uri: "test://nowhere" } } },
    });
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    const complete = await world.run("completion/complete", { ref, argument: { name: "arg1", value: "te" } });
    expect(complete).toMatchObject({ resultType: "complete", completion: { values: ["tea", "test", "testing"] } });
  });

  test("is told the level of logs that it wants, and only when that goes down", async () => {
    await using world = await CallsWorld.open(upstream);
    const told: Notification[] = [];
    await world.tool("test_logging_tool", {}, { told });
    expect(await world.requests("logging/setLevel")).toEqual([]);
    for (const logLevel of ["error", "info", "warning", "info"] as const) {
      await world.tool("test_logging_tool", {}, { logLevel, told });
    }
    expect((await world.requests("logging/setLevel")).map(({ params }) => params?.["level"])).toEqual([
      "error",
      "info",
    ]);
    expect(told.map(({ params }) => params?.["level"])).toEqual(["info", "info"]);
  });
});

describe("connections to legacy servers", () => {
  test("belong to one owner and what it declares (B1)", async () => {
    await using world = await CallsWorld.open("legacy stdio");
    const callers = [
      {},
      {},
      ASKABLE,
      { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: EVERYTHING.elicitation } },
      { owner: "else" },
      { principal: { id: "else", tenant: "default" } },
    ];
    for (const caller of callers) await world.tool("echo", { text: "x" }, caller);
    const declared = (await world.requests("initialize")).map(({ params }) => params?.["capabilities"]);
    // The first is the host's own.
    expect(declared).toEqual([{}, {}, EVERYTHING, {}, {}]);
  });

  test("are given back, and refuse what is asked outside any call", async () => {
    await using world = await CallsWorld.open("legacy stdio");
    await world.tool("ask_outside", {}, ASKABLE);
    await expect.poll(async () => textOf(await world.tool("outside_answers", {}, ASKABLE))).toContain("-32601");
    expect(world.calls.parked).toBe(0);
  });

  test("that break fail their calls with the cause, and the next call succeeds (B3)", async () => {
    await using world = await CallsWorld.open("legacy stdio");
    for (let n = 0; n < 3; n++) {
      expect(await failure(world.tool("crash", { code: 3 }))).toMatchObject({ code: "SERVER_EXITED" });
      expect(textOf(await world.tool("echo", { text: "back" }))).toBe("back");
    }
  });
});
