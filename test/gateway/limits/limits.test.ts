import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditRecord } from "../../../src/gateway/index.ts";
import { MemorySets } from "../../../src/gateway/sets/set-source.ts";
import type { RequestLimits } from "../../../src/store/keep/request-limits.ts";
import { RequestAllowance } from "../../../src/team/request-allowance.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { SILENT } from "../../../src/text/logger.ts";
import { StoreWorld } from "../../fixtures/store-world.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { AccessWorld, type AccessWorldOptions } from "../access/access-world.ts";
import { eventsOf, send as post } from "../legacy/legacy-wire.ts";

const LOOK = { name: "box__look", arguments: {} };

let stores: StoreWorld;
beforeAll(async () => {
  stores = await StoreWorld.open("sqlite");
});
afterAll(() => stores[Symbol.asyncDispose]());

class LimitWorld implements AsyncDisposable {
  readonly world: AccessWorld;
  readonly server: ScriptedServer;
  /** By the id of the principal. */
  readonly limits: Map<string, RequestLimits>;

  static async open(limits: Record<string, RequestLimits>, options: AccessWorldOptions = {}): Promise<LimitWorld> {
    const byUser = new Map(Object.entries(limits));
    const server = new ScriptedServer({ tools: { look: () => "seen" } });
    const store = await stores.openStore();
    const allowance = await RequestAllowance.open({ store, limitsOf: ({ id }) => byUser.get(id), logger: SILENT });
    return new LimitWorld(await AccessWorld.open({ box: server }, { allowance, ...options }), server, byUser);
  }

  private constructor(world: AccessWorld, server: ScriptedServer, limits: Map<string, RequestLimits>) {
    this.world = world;
    this.server = server;
    this.limits = limits;
  }

  post(user: string, method: string, params: Record<string, unknown> = {}, url = this.world.url()) {
    return send(url, modern(method, params, { headers: { "x-user": user } }));
  }

  async statuses(user: string, count: number): Promise<number[]> {
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    const request = { ...modern("tools/call", LOOK, { headers: { "x-user": user } }), agent };
    const answers = await Promise.all(Array.from({ length: count }, () => send(this.world.url(), request)));
    agent.destroy();
    return answers.map(({ status }) => status).toSorted((a, b) => a - b);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]();
  }
}

const perHour = (max: number): RequestLimits => ({ rate: { max, windowMs: 3_600_000 } });
const REFUSED = {
  code: "RATE_LIMITED",
  limit: { name: "rate", max: 0, windowMs: 3_600_000 },
  retryAfterMs: expect.any(Number),
  correlationId: expect.any(String),
};
const refused = (max: number) => ({ ...REFUSED, limit: { ...REFUSED.limit, max } });

test("a limit of 100 lets exactly 100 of 1,000 concurrent requests through, and other callers are not limited by it", async () => {
  await using it = await LimitWorld.open({ ada: perHour(100) });
  const statuses = await it.statuses("ada", 1_000);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(900);
  expect(it.server.methods.filter((method) => method === "tools/call")).toHaveLength(100);
  expect(await it.statuses("bob", 3)).toEqual([200, 200, 200]);
}, 60_000);

test("a refused request gets HTTP 429 with Retry-After, and an error that names the limit and when to come again", async () => {
  await using it = await LimitWorld.open({ ada: perHour(1) });
  await it.post("ada", "tools/call", LOOK);
  const { status, headers, json } = await it.post("ada", "tools/call", LOOK);
  expect(status).toBe(429);
  expect(json).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: {
      code: -32603,
      message: expect.stringMatching(/^The limit of this key is reached: 1 request per hour\. Retry after \d+ min$/),
      data: refused(1),
    },
  });
  const { retryAfterMs } = (json.error?.data ?? {}) as { retryAfterMs: number };
  expect(retryAfterMs).toBeGreaterThan(3_500_000);
  expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
  expect(headers["retry-after"]).toBe(String(Math.ceil(retryAfterMs / 1000)));
});

describe("what counts", () => {
  test.each([
    ["tools/list", {}],
    ["resources/list", {}],
    ["acme/unknown", {}],
    ["logging/setLevel", { level: "info" }],
    ["tools/call", { name: "box__none", arguments: {} }],
  ])("%s of a modern client counts", async (method, params) => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    expect((await it.post("ada", method, params)).status).not.toBe(429);
    expect((await it.post("ada", method, params)).status).toBe(429);
  });

  test("a subscription of a modern client counts", async () => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    await it.post("ada", "tools/list");
    const { status, json } = await it.post("ada", "subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    expect([status, json.error?.data]).toEqual([429, refused(1)]);
  });

  test("server/discover, initialize, ping, notifications and answers do not count", async () => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    expect((await it.post("ada", "server/discover")).status).toBe(200);
    const session = await it.world.session({ user: "ada" });
    expect((await session.request("ping")).status).toBe(200);
    expect((await session.post({ method: "notifications/cancelled", params: { requestId: 99 } })).status).toBe(202);
    expect((await session.post({ id: 44, result: {} })).status).toBe(202);
    expect((await session.request("tools/list")).status).toBe(200);
    expect((await session.request("ping")).status).toBe(200);
    expect((await session.request("tools/list")).status).toBe(429);
  });

  test.each([
    ["tools/call", LOOK],
    ["tools/list", {}],
    ["logging/setLevel", { level: "info" }],
    ["resources/subscribe", { uri: "box+memo://1" }],
    ["resources/unsubscribe", { uri: "box+memo://1" }],
    ["acme/unknown", {}],
    ["server/none", {}],
  ])("%s of an older client counts, and is refused with 429", async (method, params) => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    const session = await it.world.session({ user: "ada" });
    expect((await session.request(method, params)).status).toBe(200);
    const answer = await session.request(method, params);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([429, "application/json"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3_500);
    const { id, error } = (await answer.json()) as WireMessage;
    expect([id, error?.data]).toEqual([2, refused(1)]);
  });

  test("an older client that can be asked, and so gets streams, is refused with 429 also", async () => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {} },
      clientInfo: { name: "w", version: "1" },
    };
    const headers = { "x-user": "ada" };
    const opened = await post(it.world.url(), { jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
    const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(it.world.url(), list, session)).status).toBe(200);
    const answer = await post(it.world.url(), list, session);
    expect([answer.status, await answer.json()]).toMatchObject([429, { id: 2, error: { data: refused(1) } }]);
  });

  test("each request of a batch counts: those within the limit are answered, the others refused", async () => {
    await using it = await LimitWorld.open({ ada: perHour(2) });
    const session = await it.world.session({ user: "ada" }, "2025-03-26");
    const batch = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: LOOK }));
    const ping = { jsonrpc: "2.0", id: 4, method: "ping" };
    const mixed = await session.post([...batch, ping]);
    expect(mixed.status).toBe(200);
    const answers = (await mixed.json()) as WireMessage[];
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect([1, 2, 4].map((id) => byId.get(id)?.result)).toEqual([expect.anything(), expect.anything(), {}]);
    expect(byId.get(3)?.error?.data).toEqual(refused(2));
    const all = await session.post(batch);
    expect([all.status, Number(all.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(((await all.json()) as WireMessage[]).map(({ error }) => error?.data)).toEqual(
      [1, 2, 3].map(() => refused(2)),
    );
  });

  test("a client of HTTP+SSE is refused with 429, and on its stream", async () => {
    await using it = await LimitWorld.open({ ada: perHour(1) });
    const headers = { "x-user": "ada" };
    const stream = await fetch(new URL("/sse", it.world.url()), { headers });
    const events = eventsOf(stream);
    const { value: first } = await events.next();
    const messages = new URL(String(first?.data), it.world.url()).href;
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "wire", version: "1" } };
    await post(messages, { jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
    await events.next();
    const ask = (id: number) => post(messages, { jsonrpc: "2.0", id, method: "tools/call", params: LOOK }, headers);
    expect((await ask(2)).status).toBe(202);
    expect((await events.next()).value?.message).toMatchObject({ id: 2, result: {} });
    const second = await ask(3);
    expect([second.status, Number(second.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const error = { data: refused(1) };
    expect(await second.json()).toMatchObject({ id: 3, error });
    expect((await events.next()).value?.message).toMatchObject({ id: 3, error });
    await events.return(undefined);
  });

  test("requests count together at every address: all servers, one server, a set", async () => {
    const sets = new MemorySets({ desk: { allow: ["box"] } });
    await using it = await LimitWorld.open({ ada: perHour(3) }, { sets });
    const urls = [it.world.url(), it.world.url("box"), it.world.setUrl("desk")];
    for (const url of urls) expect((await it.post("ada", "tools/list", {}, url)).status).toBe(200);
    for (const url of urls) expect((await it.post("ada", "tools/list", {}, url)).status).toBe(429);
  });
});

test("the list of tools at its own address counts also, and is refused with 429 and Retry-After", async () => {
  await using it = await LimitWorld.open({ ada: perHour(2) });
  const read = async () => fetch(it.world.url("box").replace(/mcp$/, "tools"), { headers: { "x-user": "ada" } });
  expect((await read()).status).toBe(200);
  expect((await it.post("ada", "tools/list")).status).toBe(200);
  const answer = await read();
  expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  expect(await answer.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
  expect((await it.post("ada", "tools/list")).status).toBe(429);
});

test("requests to addresses that a caller may not use count also, are in the audit, and are refused with 429", async () => {
  const records: AuditRecord[] = [];
  await using it = await LimitWorld.open({ ada: perHour(2) }, { audit: (record) => void records.push(record) });
  const none = it.world.url("none");
  const tools = () => fetch(none.replace(/mcp$/, "tools"), { headers: { "x-user": "ada" } });
  expect([(await it.post("ada", "tools/list", {}, none)).status, (await tools()).status]).toEqual([404, 404]);
  const { status, headers, json } = await it.post("ada", "tools/list", {}, none);
  expect([status, Number(headers["retry-after"]) > 3_500, json.error?.data]).toEqual([429, true, refused(2)]);
  expect((await tools()).status).toBe(429);
  expect(records.map(({ method, target, errorCode }) => [method, target, errorCode])).toEqual(
    ["NAME_UNKNOWN", "RATE_LIMITED"].flatMap((code) => [
      ["POST /servers/none/mcp", "none", code],
      ["GET /servers/none/tools", "none", code],
    ]),
  );
});

test("refused requests are in the audit, the log and the metrics, with the id that their callers get", async () => {
  const records: AuditRecord[] = [];
  const lines: unknown[] = [];
  const logger = { ...SILENT, info: (_message: string, data?: object) => void lines.push(data) };
  const audit = (record: AuditRecord) => void records.push(record);
  await using it = await LimitWorld.open({ ada: perHour(1) }, { audit, logger });
  const answers = [];
  for (let count = 0; count < 3; count++) answers.push(await it.post("ada", "tools/call", LOOK));
  const told = answers.map(({ json }) => (json.error?.data as { correlationId: string } | undefined)?.correlationId);
  expect(records.map(({ outcome, server, target, correlationId }) => [outcome, server, target, correlationId])).toEqual(
    [
      ["ok", "box", "box__look", expect.any(String)],
      ["refused", "box", "box__look", told[1]],
      ["refused", "box", "box__look", told[2]],
    ],
  );
  const line = { keyId: "ada", tenant: "default", target: "box__look", outcome: "refused", code: "RATE_LIMITED" };
  expect(lines).toMatchObject([told[1], told[2]].map((correlationId) => ({ ...line, correlationId })));
  const { text } = await it.world.get("/metrics", "ada");
  expect(text).toContain(`nexus_calls_total{server="box",method="tools/call",outcome="refused"} 2`);
});

test("a limit that is changed counts what was used before; one that is removed does not limit any more", async () => {
  await using it = await LimitWorld.open({ ada: perHour(2) });
  expect(await it.statuses("ada", 3)).toEqual([200, 200, 429]);
  it.limits.set("ada", perHour(3));
  expect(await it.statuses("ada", 2)).toEqual([200, 429]);
  it.limits.delete("ada");
  expect(await it.statuses("ada", 2)).toEqual([200, 200]);
});

test("of two limits each holds, and the one that is exceeded is named", async () => {
  await using it = await LimitWorld.open({ ada: { ...perHour(5), perDay: 2 } });
  expect(await it.statuses("ada", 3)).toEqual([200, 200, 429]);
  const { json } = await it.post("ada", "tools/list");
  expect(json.error?.data).toMatchObject({ limit: { name: "per-day", max: 2, windowMs: 86_400_000 } });
  // What the day refused does not count for the hour.
  it.limits.set("ada", perHour(5));
  expect(await it.statuses("ada", 4)).toEqual([200, 200, 200, 429]);
});

test("a call too many at the same time is refused at once; when one has ended, the next goes on", async () => {
  await using it = await LimitWorld.open({ ada: { concurrent: 1 } });
  const release = it.server.holdNext("tools/call");
  const running = it.post("ada", "tools/call", LOOK);
  await it.server.receive("tools/call");
  const { status, headers, json } = await it.post("ada", "tools/call", LOOK);
  expect([status, headers["retry-after"]]).toEqual([429, "1"]);
  expect(json.error).toMatchObject({
    message: "The limit of this key for running calls is reached (1). Retry after 1 s",
    data: { code: "RATE_LIMITED", limit: { name: "concurrent", max: 1, windowMs: 0 }, retryAfterMs: 1000 },
  });
  const session = await it.world.session({ user: "ada" });
  expect((await session.request("tools/call", LOOK)).status).toBe(429);
  expect(await it.statuses("bob", 2)).toEqual([200, 200]);
  release();
  expect((await running).status).toBe(200);
  expect((await it.post("ada", "tools/call", LOOK)).status).toBe(200);
});

test("a request that is too large for its caller is refused with 413 before it is read, and does not count", async () => {
  await using it = await LimitWorld.open({ ada: { maxBytes: 1_000, ...perHour(1) } });
  const large = { ...LOOK, arguments: { text: "x".repeat(1_000) } };
  const { status, json } = await it.post("ada", "tools/call", large);
  expect([status, json.error]).toEqual([
    413,
    {
      code: -32600,
      message: "The request body exceeds the limit of 1000 bytes for this caller",
      data: { code: "MESSAGE_TOO_LARGE", limit: { name: "max-request", max: 1_000 } },
    },
  ]);
  expect((await it.post("bob", "tools/call", large)).status).toBe(200);
  expect((await it.post("ada", "tools/call", LOOK)).status).toBe(200);
});

test("while one caller floods with 64 connections, few of its calls are finished during a call of another", async () => {
  await using it = await LimitWorld.open({});
  const [busy, calm] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
  const call = (user: string, agent: Agent) =>
    send(it.world.url(), { ...modern("tools/call", LOOK, { headers: { "x-user": user } }), agent });
  let finished = 0;
  let isOver = false;
  const flood = Array.from({ length: 64 }, async () => {
    while (!isOver) {
      await call("mallory", busy);
      finished++;
    }
  });
  // From the first call of the other one on, both take turns.
  await expect.poll(() => finished).toBeGreaterThan(64);
  await call("alice", calm);
  const meanwhile: number[] = [];
  for (let count = 0; count < 100; count++) {
    const before = finished;
    await call("alice", calm);
    meanwhile.push(finished - before);
  }
  isOver = true;
  await Promise.all(flood);
  for (const agent of [busy, calm]) agent.destroy();
  // All 64 of them where calls are served in the order of arrival.
  expect(meanwhile.toSorted((a, b) => a - b)[95]).toBeLessThanOrEqual(16);
}, 60_000);
