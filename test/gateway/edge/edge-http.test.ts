import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { connect as openSocket } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NexusError } from "../../../src/errors/nexus-error.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import { EdgeWorld } from "../../fixtures/gateway/edge-world.ts";
import { modern, OpenStream, send, type Sent } from "../../fixtures/gateway/wire.ts";

const JSON_TYPE = { "content-type": "application/json" };

let world: EdgeWorld;

beforeAll(async () => {
  world = await EdgeWorld.open({
    limits: { bodyBytes: 20_000, bodyMs: 300, headerBytes: 8192, calls: 2, queue: 1, queueMs: 600_000, streams: 1 },
    allowedHosts: ["gateway.example"],
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const post = (body: unknown, headers: Record<string, string> = {}): Sent => ({
  headers: { ...JSON_TYPE, ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

describe("paths", () => {
  test.each([
    ["GET", "/healthz", 200, { status: "ok" }],
    ["GET", "/readyz", 200, { status: "ready" }],
    ["GET", "/nope", 404, { error: { code: -32600 } }],
    ["GET", "/mcp//", 404, {}],
    ["GET", "/mcp/", 405, {}],
    ["GET", "/servers/everything/mcp/", 405, {}],
    ["POST", "/servers/nope/mcp", 404, { error: { message: `This gateway has no server "nope"` } }],
    ["GET", "/servers/nope/tools", 404, {}],
    ["POST", "/metrics", 405, {}],
    ["PUT", "/mcp", 405, {}],
    ["GET", "/mcp", 405, {}],
    ["DELETE", "/mcp", 405, {}],
    ["OPTIONS", "/mcp", 405, {}],
  ])("%s %s is %i", async (method, path, status, body) => {
    const answer = await send(`${world.origin}${path}`, { method, headers: JSON_TYPE });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject(body);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("/ is a page for browsers, without scripts, with the servers that the reader may see, and JSON for programs", async () => {
    const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const page = await send(`${world.origin}/`, { method: "GET", headers: html });
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/,
    );
    expect(page.text).not.toMatch(/<script|<a |https:\/\//);
    expect(page.text).toContain(`<code>${world.origin}/servers/everything/mcp</code>`);
    expect(page.text).toContain(`nexus mcp install claude-code --url ${world.url}`);
    const style = /<style>(.*)<\/style>/.exec(page.text)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(page.headers["content-security-policy"]).toContain(`'sha256-${hash}'`);

    for (const headers of [JSON_TYPE, { accept: "*/*" }]) {
      const answer = await send(`${world.origin}/`, { method: "GET", headers });
      expect(answer).toMatchObject({ status: 404, json: { error: { code: -32600 } } });
    }
    expect((await send(`${world.origin}/`, { method: "POST", headers: html })).status).toBe(404);
  });

  test("/ shows no server to a reader without credentials", async () => {
    await using locked = await EdgeWorld.open({
      authenticate: () => {
        throw new NexusError("AUTH_REQUIRED", "Who are you?");
      },
    });
    const page = await send(`${locked.origin}/`, { method: "GET", headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Credentials are required to see its servers");
    expect(page.text).not.toContain("everything");
    expect((await send(`${locked.origin}/`, { method: "GET", headers: JSON_TYPE })).status).toBe(401);
  });

  test("/servers/<id>/mcp is one server, /servers/<id>/tools its tools as plain JSON", async () => {
    const { json } = await send(
      `${world.origin}/servers/everything/mcp`,
      modern("tools/call", { name: "test_simple_text" }),
    );
    expect(json.result).toBeDefined();
    expect(world.core.exchanges.at(-1)?.endpoint).toEqual({ kind: "one", server: "everything" });
    const manifest = await send(`${world.origin}/servers/everything/tools`, { method: "GET" });
    const { server, tools } = JSON.parse(manifest.text) as { server: string; tools: { name: string }[] };
    expect(server).toBe("everything");
    expect(tools.map(({ name }) => name)).toContain("test_simple_text");
  });

  test("is not ready before its servers are", async () => {
    let isReady = false;
    await using starting = await EdgeWorld.open({ isReady: () => isReady });
    expect((await send(`${starting.origin}/readyz`, { method: "GET" })).status).toBe(503);
    isReady = true;
    expect((await send(`${starting.origin}/readyz`, { method: "GET" })).status).toBe(200);
  });

  test("/metrics counts calls by server, method and outcome", async () => {
    await send(`${world.origin}/servers/everything/mcp`, modern("tools/call", { name: "test_error_handling" }));
    await send(world.url, modern("made/up"));
    await send(world.url, modern("tools/call", { name: "everything__whatever" }));
    const { text, headers } = await send(`${world.origin}/metrics`, { method: "GET" });
    expect(headers["content-type"]).toContain("text/plain");
    expect(text).toMatch(/^nexus_calls_total\{server="everything",method="tools\/call",outcome="tool_error"\} 1$/m);
    expect(text).toMatch(/^nexus_calls_total\{server="everything",method="tools\/call",outcome="error"\} 1$/m);
    expect(text).toMatch(/^nexus_calls_total\{server="",method="other",outcome="error"\} 1$/m);
    expect(text).toMatch(
      /^nexus_call_duration_seconds_bucket\{server="everything",method="tools\/call",le="\+Inf"\} \d+$/m,
    );
    expect(text).toMatch(/^nexus_server_state\{server="everything",state="ready"\} 1$/m);
    expect(text).toMatch(/^nexus_received_bytes_total [1-9]\d+$/m);
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
    }
  });
});

describe("B1: which era a POST belongs to", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  const session = { "mcp-session-id": "s" };
  const modernHeader = { "mcp-protocol-version": "2026-07-28" };

  test.each([
    ["initialize", initialize, {}],
    ["initialize with the header of a modern version", initialize, modernHeader],
    ["a request of a session", ping, session],
    ["a request of a session with the header of a modern version", ping, { ...session, ...modernHeader }],
    ["a request without anything", ping, {}],
    ["a request with the header of an older version", ping, { "mcp-protocol-version": "2025-06-18" }],
    ["a batch of a session", [ping], session],
    ["a response of a session", { jsonrpc: "2.0", id: 1, result: {} }, session],
  ])("%s is an older client's", async (_what, body, headers) => {
    world.legacy.length = 0;
    await send(world.url, post(body, headers));
    expect(world.legacy).toEqual([["post", body]]);
  });

  test("a claim in the body outranks session and initialize", async () => {
    world.legacy.length = 0;
    const request = modern("tools/list", {}, { headers: session });
    expect((await send(world.url, request)).json.result.tools).toBeDefined();
    expect(world.legacy).toEqual([]);
  });

  test.each([
    ["a batch without a session", [ping], {}, -32600],
    ["a response without a session", { jsonrpc: "2.0", id: 1, result: {} }, {}, -32600],
    ["no JSON", "{", {}, -32700],
    ["nothing", "", {}, -32700],
    ["no message", { hello: "world" }, {}, -32600],
    ["another JSON-RPC", { ...ping, jsonrpc: "1.0" }, {}, -32600],
    ["an id that is none", { ...ping, id: null }, {}, -32600],
    ["params that are none", { ...ping, params: [1] }, {}, -32600],
    ["a modern header without _meta", ping, modernHeader, -32602],
  ])("%s is nobody's", async (_what, body, headers, code) => {
    const answer = await send(world.url, post(body, headers));
    expect(answer).toMatchObject({ status: 400, json: { jsonrpc: "2.0", error: { code } } });
  });

  test("streams and the end of sessions, and HTTP+SSE", async () => {
    world.legacy.length = 0;
    await send(world.url, { method: "GET", headers: session });
    await send(world.url, { method: "DELETE", headers: session });
    await send(`${world.origin}/sse`, { method: "GET" });
    await send(`${world.origin}/messages?session=1`, post(ping));
    expect(world.legacy.map(([operation]) => operation)).toEqual(["get", "delete", "openSse", "postSse ?session=1"]);
  });
});

describe("who may come in", () => {
  test.each([
    [{ host: "evil.example" }, 403],
    [{ host: "gateway.example" }, 200],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost:5173" }, 200],
  ])("%j gets %i", async (headers, status) => {
    const answer = await send(world.url, modern("server/discover", {}, { headers }));
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.json).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
  });

  test("whoever is not known learns nothing but that", async () => {
    await using closed = await EdgeWorld.open({
      authenticate: ({ authorization }) => {
        if (authorization === "Bearer right") return ANYBODY;
        throw new NexusError(authorization ? "FORBIDDEN" : "AUTH_REQUIRED", "A key is needed");
      },
    });
    const nobody = await send(`${closed.origin}/servers/nope/mcp`, modern("tools/list"));
    expect(nobody).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    const headers = { authorization: "Bearer wrong" };
    expect((await send(closed.url, modern("tools/list", {}, { headers }))).status).toBe(403);
    expect(
      (await send(closed.url, modern("tools/list", {}, { headers: { authorization: "Bearer right" } }))).status,
    ).toBe(200);
    expect((await send(`${closed.origin}/healthz`, { method: "GET" })).status).toBe(200);
  });
});

describe("limits say what they are", () => {
  const nested = (depth: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  test.each([
    ["a body that is too large", post("x".repeat(20_001)), 413],
    ["another type", { headers: { "content-type": "text/plain" }, body: "{}" }, 415],
    ["a compressed body", { headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: "{}" }, 415],
    ["a caller that takes JSON alone", post({}, { accept: "application/json" }), 406],
    ["a caller that takes streams alone", post({}, { accept: "text/event-stream" }), 406],
    ["JSON that is too deep", post(nested(127)), 400],
    ["JSON that is deep enough to break what recurses", post(nested(9000)), 400],
    ["headers that are too large", post({}, { "x-large": "x".repeat(9000) }), 431],
  ])("%s", async (_what, request, status) => {
    const answer = await send(world.url, request);
    expect(answer.status).toBe(status);
    expect(answer.json.error?.message).toBeTruthy();
  });

  test("a body in pieces that grows too large is refused, and the connection closed", async () => {
    const socket = openSocket(Number(new URL(world.url).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => {});
    const head = ["POST /mcp HTTP/1.1", `Host: ${new URL(world.url).host}`, "Content-Type: application/json"];
    socket.write(`${[...head, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
    for (let piece = 0; piece < 30; piece++) socket.write(`3e8\r\n${"x".repeat(1000)}\r\n`);
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a body that never ends is answered with 408", async () => {
    const socket = openSocket(Number(new URL(world.url).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const head = ["POST /mcp HTTP/1.1", `Host: ${new URL(world.url).host}`, "Content-Type: application/json"];
    socket.write(`${[...head, "Content-Length: 100"].join("\r\n")}\r\n\r\n{`);
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("calls beyond the limit wait, those beyond the queue are turned away with 503", async () => {
    const sleep = modern("tools/call", { name: "sleep", arguments: { ms: 60_000 } });
    const running = [new OpenStream(world.url, sleep), new OpenStream(world.url, sleep)];
    await expect.poll(() => world.gate.running).toBe(2);
    const waiting = send(world.url, modern("tools/list"));
    await expect.poll(() => world.gate.queued).toBe(1);
    const away = await send(world.url, modern("tools/list"));
    expect(away).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(away.json.error).toMatchObject({ code: -32603, data: { code: "BUSY", mayHaveReached: false } });
    running[0]?.leave();
    expect((await waiting).json.result.tools).toBeDefined();
    running[1]?.leave();
    await expect.poll(() => world.gate.running).toBe(0);
  });

  test("a call that waits longer than the queue allows is turned away with 503", async () => {
    await using short = await EdgeWorld.open({ limits: { calls: 1, queue: 1, queueMs: 20 } });
    const running = new OpenStream(short.url, modern("tools/call", { name: "sleep", arguments: { ms: 60_000 } }));
    await expect.poll(() => short.gate.running).toBe(1);
    const away = await send(short.url, modern("tools/list"));
    expect(away).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(away.json.error).toMatchObject({ message: expect.stringContaining("waited too long") as string });
    running.leave();
    await expect.poll(() => short.gate.running).toBe(0);
  });

  test("streams beyond the limit are turned away with 503", async () => {
    const listen = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const stream = new OpenStream(world.url, listen);
    await expect.poll(() => stream.events.length).toBe(1);
    expect((await send(world.url, listen)).status).toBe(503);
    stream.leave();
    await expect.poll(() => world.streams.size).toBe(0);
    const again = new OpenStream(world.url, listen);
    await expect.poll(() => again.events.length).toBe(1);
    again.leave();
    await expect.poll(() => world.streams.size).toBe(0);
  });
});

test("a caller that does not read is given up before it fills the memory", async () => {
  await using small = await EdgeWorld.open({ limits: { bufferedBytes: 100_000 } });
  const stream = new OpenStream(small.url, modern("tools/call", { name: "sleep", arguments: { ms: 60_000 } }), {
    reads: false,
  });
  await expect.poll(() => small.core.exchanges.length).toBe(1);
  const [exchange] = small.core.exchanges;
  const text = "x".repeat(100_000);
  let said = 0;
  while (!exchange?.signal.aborted && said < 10_000) {
    exchange?.caller.notify({ jsonrpc: "2.0", method: "notifications/message", params: { text } });
    said++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(exchange?.signal.aborted).toBe(true);
  await expect.poll(() => small.gate.running).toBe(0);
  stream.leave();
});

describe("closing", () => {
  test("ends subscriptions with their answer, lets calls finish, takes no others", async () => {
    await using closing = await EdgeWorld.open();
    const stream = new OpenStream(
      closing.url,
      modern("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    );
    await expect.poll(() => stream.events.length).toBe(1);
    const call = send(closing.url, modern("tools/call", { name: "sleep", arguments: { ms: 300 } }));
    await expect.poll(() => closing.gate.running).toBe(1);
    const idle = closing.gate.close();
    closing.edge.drain();
    expect(await send(closing.url, modern("tools/list"))).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", connection: "close" },
    });
    expect((await call).json.result.content[0].text).toBe("Slept 300 ms.");
    await idle;
    await expect.poll(() => stream.ended).toBe(true);
    expect(stream.events.at(-1)).toMatchObject({ id: 7, result: { resultType: "complete" } });
    await closing.edge.close();
  });

  test("calls off what does not finish, and says so", async () => {
    await using closing = await EdgeWorld.open();
    const call = send(closing.url, modern("tools/call", { name: "sleep", arguments: { ms: 60_000 } }));
    await expect.poll(() => closing.upstream.observations.sleeps).toBe(1);
    await closing.edge.close();
    expect((await call).json.error).toMatchObject({ code: -32603, data: { code: "CANCELLED" } });
    await expect.poll(() => closing.upstream.observations.cancelled.length).toBe(1);
  });
});

test("a connection that is not used is kept longer than clients and proxies keep it, so that no request meets its end", async () => {
  const agent = new Agent({ keepAlive: true });
  const answer = await send(`${world.origin}/healthz`, { method: "GET", agent });
  agent.destroy();
  const [, seconds] = /timeout=(\d+)/.exec(String(answer.headers["keep-alive"])) ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});
