import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { EdgeWorld } from "../../fixtures/gateway/edge-world.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";

let world: EdgeWorld;

beforeAll(async () => {
  world = await EdgeWorld.open({ limits: { keepAliveMs: 100 } });
  // The first one takes longer, and would become a stream on a busy machine.
  await send(world.url, modern("tools/call", { name: "test_simple_text" }));
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const progressing = modern("tools/call", { name: "test_tool_with_progress" }, { meta: { progressToken: "p" } });

describe("a request of 2026-07-28", () => {
  test("is answered with JSON that says who answered", async () => {
    const { status, headers, json } = await send(world.url, modern("tools/call", { name: "test_simple_text" }));
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    expect(json).toMatchObject({ jsonrpc: "2.0", id: 7, result: { resultType: "complete" } });
    expect(json.result.content[0].type).toBe("text");
    expect(json.result._meta[META.serverInfo]).toMatchObject({ name: expect.any(String) });
  });

  test("reaches what is behind without the keys of this hop, with everything else", async () => {
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=b" };
    const meta = {
      ...trace,
      [META.logLevel]: "info",
      [META.clientCapabilities]: { elicitation: {} },
      "example.org/x": 1,
    };
    await send(world.url, modern("tools/call", { name: "test_simple_text", arguments: { a: 1 } }, { meta }));
    const exchange = world.core.exchanges.at(-1);
    expect(exchange?.params).toEqual({ name: "test_simple_text", arguments: { a: 1 }, _meta: { "example.org/x": 1 } });
    expect(exchange?.caller).toMatchObject({
      era: "modern",
      version: "2026-07-28",
      capabilities: { elicitation: {} },
      logLevel: "info",
      trace,
    });
  });

  test("server/discover tells versions, capabilities and freshness", async () => {
    const { json } = await send(world.url, modern("server/discover"));
    expect(json.result).toMatchObject({ supportedVersions: ["2026-07-28"], ttlMs: 5, cacheScope: "public" });
    expect(json.result.capabilities.tools).toBeDefined();
  });

  test("G7: becomes a stream when something goes before the answer, in order", async () => {
    const { status, headers, events } = await send(world.url, progressing);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    expect(events.map(({ method, params }) => [method, params?.["progress"]])).toEqual([
      ["notifications/progress", 0],
      ["notifications/progress", 50],
      ["notifications/progress", 100],
      [undefined, undefined],
    ]);
    expect(events[0]?.params).toMatchObject({ progressToken: "p" });
    expect(events.at(-1)).toMatchObject({ id: 7, result: { resultType: "complete" } });
  });

  test("that takes long becomes a stream with signs of life, and ends with its answer", async () => {
    const { headers, text, events } = await send(
      world.url,
      modern("tools/call", { name: "sleep", arguments: { ms: 350 } }),
    );
    expect(headers["content-type"]).toBe("text/event-stream");
    expect(text).toMatch(/^: \n\n/);
    expect(events).toMatchObject([{ id: 7, result: { content: [{ text: "Slept 350 ms." }] } }]);
  });

  test("is cancelled upstream when its caller leaves", async () => {
    const before = world.upstream.observations.cancelled.length;
    const { sleeps } = world.upstream.observations;
    const stream = new OpenStream(world.url, modern("tools/call", { name: "sleep", arguments: { ms: 60_000 } }));
    await expect.poll(() => world.upstream.observations.sleeps).toBe(sleeps + 1);
    stream.leave();
    await expect.poll(() => world.upstream.observations.cancelled.length).toBe(before + 1);
    expect(world.gate.running).toBe(0);
    expect(world.records.at(-1)).toMatchObject({ method: "tools/call", target: "sleep", outcome: "cancelled" });
  });

  test("a notification is taken without an answer, whatever its headers", async () => {
    const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28" };
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/whatever" });
    expect(await send(world.url, { headers, body })).toMatchObject({ status: 202, text: "" });
  });
});

describe("what does not fit is refused with the code of the specification", () => {
  const capabilities = META.clientCapabilities;
  test.each([
    ["no version header", modern("tools/list", {}, { headers: { "mcp-protocol-version": undefined } }), 400, -32020],
    [
      "another version header",
      modern("tools/list", {}, { headers: { "mcp-protocol-version": "2025-11-25" } }),
      400,
      -32020,
    ],
    ["another version in the body", modern("tools/list", {}, { meta: { [META.protocolVersion]: "v9" } }), 400, -32020],
    ["another method header", modern("tools/list", {}, { headers: { "mcp-method": "prompts/list" } }), 400, -32020],
    ["no method header", modern("tools/list", {}, { headers: { "mcp-method": undefined } }), 400, -32020],
    ["another name header", modern("tools/call", { name: "a" }, { headers: { "mcp-name": "b" } }), 400, -32020],
    ["no name header", modern("resources/read", { uri: "a:b" }, { headers: { "mcp-name": undefined } }), 400, -32020],
    ["no capabilities", modern("tools/list", {}, { meta: { [capabilities]: undefined } }), 400, -32602],
    ["no version in the body", modern("tools/list", {}, { meta: { [META.protocolVersion]: undefined } }), 400, -32602],
    ["an unknown method", modern("no/such"), 404, -32601],
    ["initialize", modern("initialize"), 404, -32601],
    ["ping", modern("ping"), 404, -32601],
    ["a missing capability", modern("tools/call", { name: "test_missing_capability" }), 400, -32021],
    ["tasks without the extension", modern("subscriptions/listen", { notifications: { taskIds: ["t"] } }), 400, -32021],
    ["an unknown tool", modern("tools/call", { name: "nope" }), 200, -32602],
    ["no interests", modern("subscriptions/listen"), 200, -32602],
  ])("%s", async (_what, request, status, code) => {
    const answer = await send(world.url, request);
    expect(answer.json).toMatchObject({ jsonrpc: "2.0", id: 7, error: { code } });
    expect(answer.status).toBe(status);
  });

  test.each(["2025-11-25", "v999.0.0"])(
    "version %s in header and body, with those that are served",
    async (version) => {
      const request = modern(
        "tools/list",
        {},
        {
          meta: { [META.protocolVersion]: version },
          headers: { "mcp-protocol-version": version },
        },
      );
      const { status, json } = await send(world.url, request);
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ code: -32022, data: { supported: ["2026-07-28"], requested: version } });
    },
  );

  test("Mcp-Param-* that are missing, different or for nothing; those that fit pass", async () => {
    const call = (args: object, headers: Record<string, string>) =>
      send(world.url, modern("tools/call", { name: "test_param_headers", arguments: args }, { headers }));
    expect(await call({ region: "eu" }, {})).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
    expect(await call({ region: "eu" }, { "mcp-param-region": "us" })).toMatchObject({ status: 400 });
    expect(await call({}, { "mcp-param-region": "eu" })).toMatchObject({ status: 400 });
    const encoded = `=?base64?${Buffer.from("Zürich").toString("base64")}?=`;
    const headers = { "mcp-param-city": encoded, "mcp-param-priority": "3.0", "mcp-param-dry-run": "false" };
    const args = { place: { city: "Zürich" }, priority: 3, dryRun: false, region: null };
    expect(await call(args, headers)).toMatchObject({ status: 200, json: { result: { resultType: "complete" } } });
  });
});

describe("subscriptions/listen", () => {
  const change = (name: string, args: object = {}) => send(world.url, modern("tools/call", { name, arguments: args }));

  test("acknowledges first, tells what was asked for with the id of the request, and nothing else", async () => {
    const wanted = { toolsListChanged: true, resourceSubscriptions: ["test://watched-resource"] };
    const stream = new OpenStream(world.url, modern("subscriptions/listen", { notifications: wanted }));
    await expect.poll(() => stream.events.length).toBe(1);
    const stamp = { [META.subscriptionId]: 7 };
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(stream.events[0]).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: wanted, _meta: stamp },
    });
    await change("test_trigger_prompt_change");
    await change("test_trigger_tool_change");
    await change("update_resource", { uri: "test://watched-resource" });
    await expect.poll(() => stream.events.length).toBe(3);
    expect(stream.events.slice(1)).toMatchObject([
      { method: "notifications/tools/list_changed", params: { _meta: stamp } },
      { method: "notifications/resources/updated", params: { uri: "test://watched-resource", _meta: stamp } },
    ]);
    await expect.poll(() => stream.raw).toContain("\n: \n\n");
    expect(world.streams.size).toBe(1);
    stream.leave();
    await expect.poll(() => world.streams.size).toBe(0);
  });
});
