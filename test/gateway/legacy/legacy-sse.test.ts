import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { StandInCore } from "./legacy-stand-in.ts";
import { eventsOf, LegacyWire, send, serveLegacy, type WireEvent } from "./legacy-wire.ts";

const FORM = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};

test("HTTP+SSE: everything comes on the one stream, and the session ends with it", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const gone = new AbortController();
  const stream = await fetch(`${world.origin}/sse`, { signal: gone.signal });
  const events = eventsOf(stream);
  const endpoint = (await events.next()).value as { event: string; data: string };
  expect(endpoint).toMatchObject({
    event: "endpoint",
    data: expect.stringMatching(/^\/messages\?sessionId=[\w-]{32}$/),
  });
  const url = `${world.origin}${endpoint.data}`;
  const tell = async (message: object) => expect((await send(url, { jsonrpc: "2.0", ...message })).status).toBe(202);
  const next = async () => ((await events.next()).value as { message: WireMessage }).message;

  await tell({ id: 0, method: "tools/list" });
  expect(await next()).toMatchObject({ id: 0, error: { code: -32600 } });
  await tell({ id: 1, method: "initialize", params: { protocolVersion: "2024-11-05", capabilities: { roots: {} } } });
  expect(await next()).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05" } });
  await tell({ id: 2, method: "initialize", params: {} });
  expect(await next()).toMatchObject({ id: 2, error: { code: -32600 } });
  await tell({ method: "notifications/initialized" });
  await expect.poll(() => core.listenings.size).toBe(1);
  core.change({ jsonrpc: "2.0", method: "notifications/prompts/list_changed" });
  expect(await next()).toMatchObject({ method: "notifications/prompts/list_changed" });

  const params = { name: "ask", arguments: { questions: [{ method: "roots/list" }] } };
  await tell({ id: 3, method: "tools/call", params });
  const question = await next();
  expect(question).toMatchObject({ method: "roots/list" });
  await tell({ id: question.id, result: { roots: [] } });
  expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: '[{"roots":[]}]' }] } });
  expect((await send(url, [{ jsonrpc: "2.0", id: 9, method: "ping" }])).status).toBe(400);

  await tell({ id: 4, method: "tools/call", params: { name: "wait" } });
  await expect.poll(() => core.exchanges.length).toBe(2);
  expect([world.legacy.sessions, world.streams.size]).toEqual([1, 1]);
  gone.abort();
  await expect.poll(() => core.released).toEqual([core.exchanges[1]?.caller.owner]);
  expect(core.exchanges[1]?.signal.aborted).toBe(true);
  expect([world.legacy.sessions, world.streams.size, core.listenings.size]).toEqual([0, 0, 0]);
  expect((await send(url, { jsonrpc: "2.0", id: 5, method: "ping" })).status).toBe(404);
  expect((await send(`${world.origin}/messages`, { jsonrpc: "2.0", id: 5, method: "ping" })).status).toBe(400);
});

test("somebody else cannot post into a session of HTTP+SSE", async () => {
  await using world = await serveLegacy(new StandInCore());
  const stream = await fetch(`${world.origin}/sse`);
  const { data } = (await eventsOf(stream).next()).value as { data: string };
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await send(world.origin + data, ping, { "x-somebody": "else" })).status).toBe(404);
});

/** One stream of HTTP+SSE, and what its client posts. */
async function openSse(origin: string, headers: Record<string, string> = {}) {
  const events = eventsOf(await fetch(`${origin}/sse`, { headers }));
  const endpoint = (await events.next()).value as WireEvent;
  const next = async () => (await events.next()).value as WireEvent;
  return {
    endpoint,
    next,
    tell: (message: object) => send(origin + endpoint.data, { jsonrpc: "2.0", ...message }, headers),
    /** The event with the answer, whatever is told before. */
    async answerTo(id: number): Promise<WireEvent> {
      for (;;) {
        const event = await next();
        if (event.message?.id === id) return event;
      }
    },
  };
}

const initialize = (protocolVersion: string, capabilities: object) => ({
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "wire", version: "1" } },
});
const ECHO = { method: "tools/call", params: { name: "echo", arguments: { text: "back" } } };

test("HTTP+SSE: a client that comes back without initialize, with the last event's id, goes on as agreed", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const first = await openSse(world.origin);
  expect(first.endpoint.id).toBeUndefined();
  await first.tell({ id: 1, ...initialize("2025-06-18", { elicitation: {} }) });
  const { id } = await first.answerTo(1);
  expect(id).toMatch(/^[\w.-]{32,1024}$/);
  await first.tell({ id: 2, ...ECHO });
  expect((await first.answerTo(2)).id).toBeUndefined();

  const again = await openSse(world.origin, { "last-event-id": id ?? "" });
  expect(again.endpoint.id).toMatch(/^[\w.-]{32,1024}$/);
  const told = [await again.next(), await again.next(), await again.next()].map(({ message }) => message?.method);
  expect(told).toEqual(["tools", "prompts", "resources"].map((list) => `notifications/${list}/list_changed`));
  await again.tell({ id: 3, ...ECHO });
  expect((await again.answerTo(3)).message).toMatchObject({ result: { content: [{ text: "back" }] } });
  expect(core.exchanges.at(-1)?.caller).toMatchObject({ version: "2025-06-18", capabilities: { elicitation: {} } });
  core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  expect((await again.next()).message).toMatchObject({ method: "notifications/tools/list_changed" });

  // Every further time, and for nobody else.
  const third = await openSse(world.origin, { "last-event-id": again.endpoint.id ?? "" });
  await third.tell({ id: 4, ...ECHO });
  expect((await third.answerTo(4)).message).toMatchObject({ result: {} });
  for (const headers of [{ "last-event-id": id ?? "", "x-somebody": "else" }, { "last-event-id": `${id}A` }]) {
    const stranger = await openSse(world.origin, headers);
    await stranger.tell({ id: 5, ...ECHO });
    expect((await stranger.answerTo(5)).message).toMatchObject({ error: { code: -32600 } });
  }
  // The id of one transport is no session of the other.
  const wire = new LegacyWire(`${world.origin}/mcp`, { "mcp-session-id": id ?? "" }, {});
  expect((await wire.request("ping")).status).toBe(404);
});

test("HTTP+SSE: a client that comes back with its revision alone has a session, and may still initialize", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const back = await openSse(world.origin, { "mcp-protocol-version": "2025-03-26" });
  await back.tell({ id: 1, ...ECHO });
  expect((await back.answerTo(1)).message).toMatchObject({ result: { content: [{ text: "back" }] } });
  expect(core.exchanges[0]?.caller).toMatchObject({ version: "2025-03-26", capabilities: {} });

  const fresh = await openSse(world.origin, { "mcp-protocol-version": "2025-11-25" });
  await fresh.tell({ id: 1, ...initialize("2025-06-18", { sampling: {} }) });
  // Nothing is told before it is answered.
  expect((await fresh.next()).message).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
  await fresh.tell({ id: 2, ...ECHO });
  expect((await fresh.next()).message).toMatchObject({ id: 2, result: {} });
  expect(core.exchanges[1]?.caller).toMatchObject({ version: "2025-06-18", capabilities: { sampling: {} } });

  const modern = await openSse(world.origin, { "mcp-protocol-version": "2026-07-28" });
  const refused = await modern.tell({ id: 1, ...ECHO });
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: -32600 } }]);
});

test("HTTP+SSE: the SDK's client, whose EventSource comes back by itself, goes on after a broken connection", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const client = new Client({ name: "sdk", version: "1" });
  await client.connect(new SSEClientTransport(new URL(`${world.origin}/sse`)));
  await expect.poll(() => core.listenings.size).toBe(1);
  for (const socket of world.sockets) socket.destroy();
  await expect.poll(() => world.legacy.sessions).toBe(0);
  await expect.poll(() => world.legacy.sessions).toBe(1);
  const call = () => client.callTool({ name: "echo", arguments: { text: "back" } }).catch(() => undefined);
  await expect.poll(call).toMatchObject({ content: [{ text: "back" }] });
  await client.close();
});

test("closing ends the sessions of both kinds", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const stream = eventsOf(await fetch(`${world.origin}/sse`));
  await stream.next();
  const wire = await world.open("2025-06-18");
  const own = eventsOf(await wire.get());
  expect(world.legacy.sessions).toBe(2);
  await world.legacy.close();
  expect([world.legacy.sessions, world.streams.size]).toEqual([0, 0]);
  expect((await stream.next()).done).toBe(true);
  expect((await own.next()).done).toBe(true);
  expect(core.released).toHaveLength(2);
});

test("the SDK's client comes back for a call, and for a question, whose stream was closed (2025-11-25)", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 5, limits: { streamMs: 30 } });
  const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { a: "b" } }));
  const transport = new StreamableHTTPClientTransport(new URL(`${world.origin}/mcp`));
  await client.connect(transport);
  const waiting = client.callTool({ name: "wait", arguments: {} });
  await expect.poll(() => core.exchanges.length).toBe(1);
  const call = core.exchanges[0];
  await expect.poll(() => world.resumed).toContain("1-0");
  expect(await call?.caller.ask?.(FORM, call.signal as AbortSignal)).toEqual({ action: "accept", content: { a: "b" } });
  core.letGo();
  expect((await waiting).content).toEqual([{ type: "text", text: "waited" }]);
  await client.close();
});

const TRANSPORTS: Record<string, (origin: string) => Transport> = {
  "Streamable HTTP": (origin) => new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)),
  "HTTP+SSE": (origin) => new SSEClientTransport(new URL(`${origin}/sse`)),
};

test.each(Object.keys(TRANSPORTS))("the SDK's client is served over %s: calls, questions, changes", async (kind) => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { a: "b" } }));
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  const transport = TRANSPORTS[kind]?.(world.origin);
  if (!transport) throw new Error(kind);
  await client.connect(transport);
  // The SDK forgets who wants progress with the answer, before it has dealt with what came just before it.
  const onprogress = () => core.letGo();
  const waited = await client.callTool({ name: "wait", arguments: { tell: true } }, undefined, { onprogress });
  expect(waited.content).toEqual([{ type: "text", text: "waited" }]);
  const asked = await client.callTool({ name: "ask", arguments: { questions: [FORM] } });
  expect(asked.content).toEqual([{ type: "text", text: '[{"action":"accept","content":{"a":"b"}}]' }]);
  core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await changed;
  await client.ping();
  await client.close();
});
