import { ByteBudget, UnreadBytes } from "../../../src/server/core/byte-budget.ts";
import { expect, test } from "vitest";
import { isFull } from "../../fixtures/depth.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { StandInCore } from "./legacy-stand-in.ts";
import { eventsOf, type LegacyWire, send, serveLegacy } from "./legacy-wire.ts";

const ABANDONED = isFull ? 1_000 : 200;

const FORM = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Sure?",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  },
};
const LIST_CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" } as const;

test("initialize agrees on the caller's revision, or on the newest legacy one", async () => {
  await using world = await serveLegacy(new StandInCore());
  for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const { initialized } = await world.open(version);
    expect(initialized.result.protocolVersion).toBe(version);
  }
  for (const version of ["2026-07-28", "1999-01-01", ""]) {
    expect((await world.open(version)).initialized.result.protocolVersion).toBe("2025-11-25");
  }
});

test("initialize tells what the revision has, and extensions that the caller declared too", async () => {
  await using world = await serveLegacy(new StandInCore());
  const extensions = { "example.org/known": {}, "io.modelcontextprotocol/tasks": {} };
  const newest = (await world.open("2025-11-25", { extensions })).initialized.result;
  expect(newest).toEqual({
    protocolVersion: "2025-11-25",
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
      extensions: { "example.org/known": {} },
    },
    serverInfo: { name: "stand-in", version: "1.0.0" },
    instructions: "Be kind.",
  });
  const oldest = (await world.open("2024-11-05")).initialized.result;
  expect(Object.keys(oldest.capabilities)).toEqual(["tools", "resources", "prompts", "logging"]);
});

test("a request reaches the core in the newest form, with what the session knows of its caller", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25", { roots: { listChanged: true }, tasks: {}, elicitation: { url: {} } });
  await wire.request("logging/setLevel", { level: "warning" });
  await wire.call(
    "echo",
    { text: "a" },
    {
      progressToken: 7,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "io.modelcontextprotocol/related-task": { taskId: "t" },
      "example.org/kept": 1,
    },
  );
  await wire.request("tools/call", { name: "echo", task: { ttl: 1 }, requestState: "forged", inputResponses: {} });
  const [first, second] = core.exchanges;
  expect(first?.params).toEqual({ name: "echo", arguments: { text: "a" }, _meta: { "example.org/kept": 1 } });
  expect(first?.caller).toMatchObject({
    era: "legacy",
    version: "2025-11-25",
    capabilities: { roots: {}, elicitation: { url: {} } },
    logLevel: "warning",
    progressToken: 7,
    trace: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  });
  expect(first?.caller.capabilities["tasks"]).toBeUndefined();
  expect(second?.params).toEqual({ name: "echo" });
  expect(second?.caller.owner).toBe(first?.caller.owner);
});

test("each session has an owner of its own, which is not the id that clients send", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wires = [await world.open("2025-11-25"), await world.open("2025-11-25")];
  for (const wire of wires) await wire.call("echo", {});
  const owners = core.exchanges.map(({ caller }) => caller.owner);
  expect(new Set(owners).size).toBe(2);
  for (const wire of wires) expect(owners.join()).not.toContain(wire.headers["mcp-session-id"]);
  // What may stand in a header of every client and proxy.
  expect(wires[0]?.headers["mcp-session-id"]).toMatch(/^[\w.-]{32,1024}$/);
});

test("an answer before which nothing is said is plain JSON, without what only newer callers know", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25");
  const response = await wire.request("tools/call", { name: "echo", arguments: { text: "hi" } });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "hi" }] } });
});

test("ping, unknown methods and methods of the newest revision are answered here", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-06-18");
  expect(await (await wire.request("ping")).json()).toMatchObject({ result: {} });
  for (const method of ["server/discover", "subscriptions/listen", "tasks/get"]) {
    expect(await (await wire.request(method)).json()).toMatchObject({ error: { code: -32601 } });
  }
  expect(core.exchanges).toEqual([]);
  expect(await (await wire.request("no/such")).json()).toMatchObject({ error: { code: -32601 } });
});

test("progress and logs come in order before the answer, logs only from the level that was set", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-06-18");
  expect(await wire.call("report", {}, { progressToken: "p" })).toMatchObject([
    { params: { progressToken: "p", progress: 1 } },
    { params: { progressToken: "p", progress: 2 } },
    { result: {} },
  ]);
  await wire.request("logging/setLevel", { level: "warning" });
  expect(await wire.call("report")).toMatchObject([{ params: { data: "loud" } }, { result: {} }]);
  expect(await (await wire.request("logging/setLevel", { level: "loud" })).json()).toMatchObject({
    error: { code: -32602 },
  });
});

test("a question is asked on the stream of the call, and its answer posted back (2025-11-25)", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25", { elicitation: {} });
  const response = await wire.request("tools/call", { name: "ask", arguments: { questions: [FORM] } });
  const events = eventsOf(response);
  expect((await events.next()).value).toMatchObject({ id: "1-0", retry: "1000", data: "" });
  const { message } = (await events.next()).value as { message: WireMessage };
  expect(message).toMatchObject({ method: "elicitation/create", params: { mode: "form", message: "Sure?" } });
  const answer = await wire.post({ id: message.id, result: { action: "accept", content: { ok: true } } });
  expect(answer.status).toBe(202);
  expect((await events.next()).value).toMatchObject({
    id: "1-2",
    message: { id: 1, result: { content: [{ text: '[{"action":"accept","content":{"ok":true}}]' }] } },
  });
  expect((await events.next()).done).toBe(true);
});

test("a question that its client answers with an error, or never, fails with what is known", async () => {
  await using world = await serveLegacy(new StandInCore(), { answerMs: 300 });
  const wire = await world.open("2025-06-18", { elicitation: {} });
  const refused = await wire.request("tools/call", { name: "ask", arguments: { questions: [FORM] } });
  const events = eventsOf(refused);
  const { message } = (await events.next()).value as { message: WireMessage };
  await wire.post({ id: message.id, error: { code: -1, message: "No" } });
  expect(textOf((await events.next()).value?.message)).toBe(
    '[{"failed":"INPUT_FAILED","rpc":{"code":-1,"message":"No"}}]',
  );

  const [question, withdrawal, answer] = await wire.call("ask", { questions: [FORM] });
  expect(withdrawal).toMatchObject({ method: "notifications/cancelled", params: { requestId: question?.id } });
  expect(textOf(answer)).toBe('[{"failed":"TIMEOUT"}]');
});

test("an answer that nobody waits for is taken and dropped, and refused without a session", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25");
  expect((await wire.post({ id: 99, result: {} })).status).toBe(202);
  expect((await send(`${world.origin}/mcp`, { jsonrpc: "2.0", id: 99, result: {} })).status).toBe(400);
});

test("a cancelled request stops at the core, withdraws its question and gets no answer", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25", { elicitation: {} });
  const response = await wire.post({
    id: "a",
    method: "tools/call",
    params: { name: "ask", arguments: { questions: [FORM] } },
  });
  const events = eventsOf(response);
  await events.next();
  const { message } = (await events.next()).value as { message: WireMessage };
  await wire.post({ method: "notifications/cancelled", params: { requestId: "a" } });
  const rest: (WireMessage | undefined)[] = [];
  for await (const event of events) rest.push(event.message);
  expect(core.exchanges[0]?.signal.aborted).toBe(true);
  expect(rest).toMatchObject([{ method: "notifications/cancelled", params: { requestId: message.id } }]);

  const quiet = wire.post({ id: "b", method: "tools/call", params: { name: "wait" } });
  await expect.poll(() => core.exchanges.length).toBe(2);
  await wire.post({ method: "notifications/cancelled", params: { requestId: "b" } });
  expect((await quiet).status).toBe(202);
});

test("what changes is told on the session's own stream, also what came before it was opened", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25");
  await expect.poll(() => core.listenings.size).toBe(1);
  core.change(LIST_CHANGED);
  core.change(LIST_CHANGED);
  const events = eventsOf(await wire.get());
  expect((await events.next()).value).toMatchObject({ id: "0-0", data: "" });
  expect((await events.next()).value).toMatchObject({ id: "0-1", message: LIST_CHANGED });
  core.change(LIST_CHANGED);
  expect((await events.next()).value).toMatchObject({ id: "0-2", message: LIST_CHANGED });
  expect(world.streams.size).toBe(1);

  const second = eventsOf(await wire.get());
  expect((await events.next()).done).toBe(true);
  expect((await second.next()).value).toMatchObject({ id: "0-2", data: "" });
  expect(world.streams.size).toBe(1);
});

test("resources/subscribe is answered when it is accepted, and refused when it is not", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-06-18");
  expect(await (await wire.request("resources/subscribe", { uri: "test://a" })).json()).toMatchObject({ result: {} });
  expect(await (await wire.request("resources/subscribe", { uri: "missing:b" })).json()).toMatchObject({
    error: { code: -32602 },
  });
  expect(await (await wire.request("resources/subscribe")).json()).toMatchObject({ error: { code: -32602 } });
  expect([...core.listenings].map(({ interests }) => interests)).toEqual([
    { lists: ["tools", "prompts", "resources"], resources: ["test://a", "missing:b"] },
  ]);
  const events = eventsOf(await wire.get());
  core.change({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "test://a" } });
  expect((await events.next()).value).toMatchObject({ message: { params: { uri: "test://a" } } });
  await wire.request("resources/unsubscribe", { uri: "test://a" });
  expect([...core.listenings].map(({ interests }) => interests.resources)).toEqual([[]]);
});

test("a client that loses its stream comes back for the rest of it, and for no other's", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25");
  const { events, leave } = await startWaiting(wire, world.origin);
  expect((await events.next()).value).toMatchObject({ id: "1-0" });
  expect((await events.next()).value).toMatchObject({ id: "1-1", message: { params: { progress: 1 } } });
  leave();
  await events.next().catch(() => {});
  core.letGo();

  const foreign = await world.open("2025-11-25");
  expect((await foreign.get({ "last-event-id": "1-1" })).status).toBe(400);
  for (const id of ["1-2000", "2-0", "nonsense", ""])
    expect((await wire.get({ "last-event-id": id })).status).toBe(400);
  const rest = await allOf(await wire.get({ "last-event-id": "1-1" }));
  expect(rest.map(({ message }) => message)).toMatchObject([
    undefined,
    { id: 1, result: { content: [{ text: "waited" }] } },
  ]);
  const whole = await allOf(await wire.get({ "last-event-id": "1-0" }));
  expect(whole.map(({ id }) => id)).toEqual(["1-0", "1-1", "1-2"]);
});

test("a call that takes its time gets a stream, so that its answer can be fetched later", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 5 });
  const wire = await world.open("2025-11-25");
  const response = await wire.request("tools/call", { name: "wait" });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = eventsOf(response);
  expect((await events.next()).value).toMatchObject({ id: "1-0", data: "" });
  core.letGo();
  expect((await events.next()).value).toMatchObject({ message: { result: {} } });
});

test("an answer that there is no room for is an error on its stream, where the client could not come back for it", async () => {
  const core = new StandInCore();
  const answer = core.handle.bind(core);
  const long = { content: [{ type: "text", text: "x".repeat(1_000_000) }] };
  core.handle = async (exchange) => ({ ...(await answer(exchange)), ...long });
  const unread = new UnreadBytes(new ByteBudget({ totalBytes: 500_000, share: 1 }));
  await using world = await serveLegacy(core, { patienceMs: 1, unread });
  const wire = await world.open("2025-06-18");
  const response = await wire.request("tools/call", { name: "wait" });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  core.letGo();
  expect((await allOf(response)).map(({ message }) => message)).toMatchObject([{ id: 1, error: { code: -32603 } }]);
});

test("what is kept for a client that comes back is bounded, and a gap is told", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-06-18");
  const params = { name: "flood", arguments: { events: 1500, bytes: 1 }, _meta: { progressToken: 1 } };
  expect(await allOf(await wire.request("tools/call", params))).toHaveLength(1501);
  expect((await wire.get({ "last-event-id": "1-100" })).status).toBe(400);
  expect(await allOf(await wire.get({ "last-event-id": "1-1400" }))).toHaveLength(101);
  // A few streams that have ended, and no more.
  for (let call = 0; call < 9; call++) await wire.call("report", {}, { progressToken: 1 });
  expect((await wire.get({ "last-event-id": "1-1400" })).status).toBe(405);
  expect(await allOf(await wire.get({ "last-event-id": "10-0" }))).toHaveLength(3);
});

test("a client that does not read is disconnected, and finds the answer when it comes back", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { limits: { bufferedBytes: 10_000 } });
  const wire = await world.open("2025-06-18");
  const params = { name: "flood", arguments: { events: 200, bytes: 100_000 }, _meta: { progressToken: 1 } };
  const response = await wire.request("tools/call", params);
  await expect(allOf(response)).rejects.toThrow();
  const [answer] = await allOf(await wire.get({ "last-event-id": "1-200" }));
  expect(answer?.message).toMatchObject({ result: { content: [{ text: "flooded" }] } });
});

test("an answer that cannot be written fails its own call alone", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-06-18");
  expect(await wire.call("deep")).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  expect(await wire.call("echo", { text: "still here" })).toMatchObject([{ result: {} }]);
});

test("before 2025-11-25 a stream starts without an event that has no data", async () => {
  await using world = await serveLegacy(new StandInCore());
  for (const version of ["2024-11-05", "2025-03-26", "2025-06-18"]) {
    const wire = await world.open(version);
    const response = await wire.request("tools/call", { name: "report", _meta: { progressToken: 1 } });
    const events = await allOf(response);
    expect(events.map(({ id, data }) => [id, data !== ""])).toEqual([
      ["1-1", true],
      ["1-2", true],
      ["1-3", true],
    ]);
  }
});

test("open streams show that they are alive", async () => {
  await using world = await serveLegacy(new StandInCore(), { limits: { keepAliveMs: 5 } });
  const wire = await world.open("2025-06-18");
  const response = await wire.get();
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(": still here\n\n");
  await reader?.cancel();
});

test("batches are for sessions of 2025-03-26, and answered as one array", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "a" } } },
    { jsonrpc: "2.0", method: "notifications/progress", params: {} },
    { jsonrpc: "2.0", id: 2, method: "no/such" },
  ];
  const wire = await world.open("2025-03-26");
  const answers = (await (await wire.post(batch)).json()) as WireMessage[];
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2]));
  expect((await wire.post([{ jsonrpc: "2.0", method: "notifications/initialized" }])).status).toBe(202);
  expect((await wire.post([{ jsonrpc: "2.0", id: 9, result: {} }])).status).toBe(202);
  expect((await wire.post([])).status).toBe(400);
  expect((await wire.post([{ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }])).status).toBe(400);

  const streamed = await wire.post([
    { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "report", _meta: { progressToken: 1 } } },
    { jsonrpc: "2.0", id: 4, method: "ping" },
  ]);
  const events = await allOf(streamed);
  expect(events).toHaveLength(3);
  expect(events[2]?.message).toMatchObject([{ id: 4 }, { id: 3 }]);

  for (const version of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
    const refused = await (await world.open(version)).post(batch);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: -32600 } });
  }
});

test("sessions are refused as the specification says: missing 400, unknown and foreign 404, wrong version 400", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25");
  const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
  const missing = await send(`${world.origin}/mcp`, ping);
  expect(missing.status).toBe(400);
  expect(await missing.json()).toMatchObject({ id: 5, error: { code: -32600 } });
  expect((await send(`${world.origin}/mcp`, ping, { "mcp-session-id": "guess" })).status).toBe(404);
  expect((await wire.post(ping, { "x-somebody": "else" })).status).toBe(404);
  expect((await send(`${world.origin}/mcp?server=one`, ping, wire.headers)).status).toBe(404);
  expect((await wire.post(ping, { "mcp-protocol-version": "2026-07-28" })).status).toBe(400);
  expect((await wire.post(ping, { "mcp-protocol-version": "nonsense" })).status).toBe(400);
  expect((await wire.post(ping, { "mcp-protocol-version": "2025-11-25" })).status).toBe(200);
  expect((await fetch(`${world.origin}/mcp`, { headers: { accept: "text/event-stream" } })).status).toBe(405);
  expect((await fetch(`${world.origin}/mcp`, { method: "DELETE" })).status).toBe(405);
  expect((await wire.get({ "x-somebody": "else" })).status).toBe(404);
  expect((await wire.get({ accept: "application/json" })).status).toBe(406);
  expect((await wire.post({ id: {}, method: "ping" })).status).toBe(400);
});

test("DELETE ends a session with its streams and its calls", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25");
  const own = eventsOf(await wire.get());
  const waiting = wire.request("tools/call", { name: "wait" });
  await expect.poll(() => core.exchanges.length).toBe(1);
  expect((await wire.delete()).status).toBe(204);
  expect((await waiting).status).toBe(202);
  await own.next();
  expect((await own.next()).done).toBe(true);
  expect(core.exchanges[0]?.signal.aborted).toBe(true);
  await expect.poll(() => core.released).toEqual([core.exchanges[0]?.caller.owner]);
  expect(core.listenings.size).toBe(0);
  expect((await wire.request("ping")).status).toBe(404);
  expect((await wire.delete()).status).toBe(404);
});

test("when there is no room, the session that nobody has used for longest goes; none goes that is in use", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { limits: { sessions: 2 } });
  const first = await world.open("2025-11-25");
  const second = await world.open("2025-11-25");
  const own = await first.get();
  const third = await world.open("2025-11-25");
  expect(world.legacy.sessions).toBe(2);
  await expect.poll(() => core.released).toHaveLength(1);
  expect((await first.request("ping")).status).toBe(200);
  const busy = third.request("tools/call", { name: "wait" });
  await expect.poll(() => core.exchanges.length).toBe(1);
  const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
  const refused = await send(`${world.origin}/mcp`, body);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("30");
  // The one that made room can be taken up again, and then needs room as well.
  expect((await second.request("ping")).status).toBe(503);
  core.letGo();
  await busy;
  expect((await second.request("ping")).status).toBe(200);
  expect(world.legacy.sessions).toBe(2);
  await own.body?.cancel();
});

test(`${ABANDONED} sessions that were opened and abandoned leave nothing behind`, async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { limits: { sessions: 2000, sessionIdleMs: 300 } });
  for (let opened = 0; opened < ABANDONED; opened += 50) {
    await Promise.all(Array.from({ length: 50 }, () => world.open("2025-11-25")));
  }
  await expect.poll(() => world.legacy.sessions).toBe(0);
  // One that ended before its client had said all is opened once more.
  await expect.poll(() => new Set(core.released).size).toBeGreaterThanOrEqual(ABANDONED);
  expect(core.listenings.size).toBe(0);
});

test("a session in use does not end for idleness", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { limits: { sessionIdleMs: 700 } });
  const wire = await world.open("2025-11-25");
  const waiting = wire.request("tools/call", { name: "wait" });
  await world.open("2025-11-25");
  expect(world.legacy.sessions).toBe(2);
  await expect.poll(() => world.legacy.sessions).toBe(1);
  core.letGo();
  expect((await waiting).status).toBe(200);
});

test("a client that takes plain JSON alone is told nothing else, and not asked", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25", { elicitation: {} });
  const params = { name: "ask", arguments: { questions: [FORM] } };
  const response = await wire.request("tools/call", params, { accept: "application/json" });
  expect(textOf((await response.json()) as WireMessage)).toBe('[{"failed":"INPUT_FAILED"}]');
  expect(core.exchanges[0]?.caller.capabilities).toEqual({});
});

test("a client that takes plain JSON alone can still be sent to pages, with the answer itself", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core);
  const wire = await world.open("2025-11-25", { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
  await wire.request("tools/call", { name: "echo", arguments: {} }, { accept: "application/json" });
  const { ask, capabilities } = core.exchanges[0]?.caller ?? {};
  expect({ ask, capabilities }).toEqual({ ask: undefined, capabilities: { elicitation: { url: {} } } });
});

async function startWaiting(wire: LegacyWire, origin: string) {
  const gone = new AbortController();
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "wait", arguments: { tell: true }, _meta: { progressToken: 1 } },
  };
  const response = await send(`${origin}/mcp`, body, wire.headers, gone.signal);
  return { events: eventsOf(response), leave: () => gone.abort() };
}

async function allOf(response: Response) {
  const events = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

function textOf(message: WireMessage | undefined): string {
  return message?.result?.content[0].text as string;
}
