import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { META, TASKS_EXTENSION } from "../../../src/protocol/meta.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { FaultWorld, recorded, textIn, type ModernCaller } from "../faults/faults-world.ts";
import { eventsOf, LegacyWire, send as post } from "../legacy/legacy-wire.ts";

const ELICITATION = { elicitation: { form: {} } };
const TASKS = { extensions: { [TASKS_EXTENSION]: {} } };
const JSON_TYPE = { "content-type": "application/json" };

let world: FaultWorld;
let origin: string;
let alice: ModernCaller;
let mallory: ModernCaller;

/** Two people who must not get at each other's things, in front of a server of each era. */
beforeAll(async () => {
  world = await FaultWorld.open(
    (folder) => ({
      old: recorded(folder, "old", "2025-11-25"),
      now: recorded(folder, "now", "2026-07-28"),
    }),
    {
      authenticate: (headers) => ({ tenant: "default", id: String(headers["x-user"] ?? "alice") }),
      limits: { bodyBytes: 100_000 },
    },
  );
  origin = new URL(world.gateway.url).origin;
  alice = world.caller("old", { "x-user": "alice" });
  mallory = world.caller("old", { "x-user": "mallory" });
});

afterAll(async () => {
  alice[Symbol.dispose]();
  mallory[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

/** The same text with one of its characters changed. */
function* tamperings(text: string): Generator<string> {
  for (const at of [0, Math.floor(text.length / 3), Math.floor(text.length / 2), text.length - 1]) {
    yield text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
  }
  yield text.slice(1);
  yield text.slice(0, -1);
  yield `${text}A`;
  yield "";
}

describe("web pages and other names", () => {
  const paths = [
    "/mcp",
    "/servers/old/mcp",
    "/sse",
    "/messages?sessionId=x",
    "/metrics",
    "/servers/old/tools",
    "/healthz",
  ];

  test.each(paths)("%s is closed to other hosts and origins", async (path) => {
    const port = new URL(origin).port;
    for (const headers of [
      { host: "evil.example" },
      { host: `evil.example:${port}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { host: `localhost@evil.example:${port}` },
      { origin: "https://evil.example" },
      { origin: `http://evil.example:${port}` },
      { origin: "null" },
      { origin: `http://127.0.0.1.evil.example:${port}` },
    ]) {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const answer = await send(`${origin}${path}`, { method, headers: { ...JSON_TYPE, ...headers } });
        expect([answer.status, headers]).toEqual([403, headers]);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      }
    }
  });
});

describe("headers that say something else than the body", () => {
  const sleep = { name: "add_numbers", arguments: { a: 1, b: 1 } };

  test.each([
    ["another version", { "mcp-protocol-version": "2025-11-25" }],
    ["another method", { "mcp-method": "tools/list" }],
    ["no method", { "mcp-method": undefined }],
    ["another name", { "mcp-name": "test_simple_text" }],
    ["no name", { "mcp-name": undefined }],
    ["two names", { "mcp-name": "add_numbers, test_simple_text" }],
    ["the same name in another case", { "mcp-name": "ADD_NUMBERS" }],
  ])("%s: refused before any server hears of it", async (_what, headers) => {
    const before = await world.calls("old");
    const answer = await send(world.url("old"), modern("tools/call", sleep, { headers }));
    expect([answer.status, answer.json.error?.code]).toEqual([400, -32020]);
    expect(await world.calls("old")).toBe(before);
  });
});

describe("what callers carry", () => {
  const INVALID = { code: -32602, message: "request state not valid" };
  const ask = (caller: ModernCaller, more: object = {}, args: object = {}) =>
    caller.tool("ask_twice", { ...args }, { capabilities: ELICITATION, more: { ...more } });
  const responses = (message: WireMessage) =>
    Object.fromEntries(Object.keys(message.result.inputRequests as object).map((key) => [key, { action: "decline" }]));

  test("a request state is good for its owner, its call and this gateway alone, unchanged", async () => {
    const { message } = await ask(alice);
    const requestState = message.result.requestState as string;
    const inputResponses = responses(message);
    const calls = await world.calls("old");
    const attempts: Promise<{ message: WireMessage }>[] = [
      ask(mallory, { requestState, inputResponses }),
      ask(alice, { requestState, inputResponses }, { other: "arguments" }),
      alice.tool("ask_roots", {}, { capabilities: ELICITATION, more: { requestState, inputResponses } }),
      ...[...tamperings(requestState)].map((state) => ask(alice, { requestState: state, inputResponses })),
    ];
    using other = world.caller("now", { "x-user": "alice" });
    attempts.push(ask(other, { requestState, inputResponses }));
    for (const { message: refused } of await Promise.all(attempts)) expect(refused.error).toMatchObject(INVALID);
    expect(await world.calls("old")).toBe(calls);
    const { message: done } = await ask(alice, { requestState, inputResponses });
    expect(done.result).toMatchObject({ resultType: "complete" });
  });

  test("a task id is good for its owner alone, and says nothing to others", async () => {
    using owner = world.caller("now", { "x-user": "alice" });
    using thief = world.caller("now", { "x-user": "mallory" });
    const { message } = await owner.tool("slow_compute", { seconds: 30 }, { capabilities: TASKS });
    const taskId = message.result.taskId as string;
    expect(taskId).toEqual(expect.any(String));
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = { taskId, inputResponses: {} };
      const { message: refused } = await thief.request(method, params, { capabilities: TASKS });
      expect(refused.error).toMatchObject({ code: -32602, message: "Unknown task" });
      for (const forged of tamperings(taskId)) {
        const { message: unknown } = await owner.request(
          method,
          { ...params, taskId: forged },
          { capabilities: TASKS },
        );
        expect(unknown.error).toBeDefined();
      }
    }
    const { message: still } = await owner.request("tasks/get", { taskId }, { capabilities: TASKS });
    expect(still.result.status).toBe("working");
    await owner.request("tasks/cancel", { taskId }, { capabilities: TASKS });
  });

  test("a cursor is good for its owner, its list and its endpoint alone", async () => {
    await using paged = await FaultWorld.open(
      () => ({ up: stdioFixture(["--revision", "2025-11-25", "--page-size", "5"]) }),
      { authenticate: (headers) => ({ tenant: "default", id: String(headers["x-user"] ?? "alice") }) },
    );
    using owner = paged.caller("up");
    using thief = paged.caller("up", { "x-user": "mallory" });
    const { message } = await owner.request("tools/list");
    const cursor = message.result.nextCursor as string;
    expect(cursor).toEqual(expect.any(String));
    const refused = await Promise.all([
      thief.request("tools/list", { cursor }),
      owner.request("prompts/list", { cursor }),
      ...[...tamperings(cursor)].map((forged) => owner.request("tools/list", { cursor: forged })),
    ]);
    for (const { message: said } of refused) expect(said.error?.code).toBe(-32602);
    expect((await owner.request("tools/list", { cursor })).message.result.tools).toBeDefined();
  });
});

describe("sessions", () => {
  const open = (user: string, version = "2025-11-25", capabilities: object = {}, path = "old") =>
    openAs(world.url(path), user, version, capabilities);

  test("an id that the client chose is none: there is no fixation", async () => {
    const chosen = { "mcp-session-id": "chosen-by-mallory" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const response = await post(world.url("old"), { jsonrpc: "2.0", id: 1, method: "initialize", params }, chosen);
    const given = response.headers.get("mcp-session-id");
    expect(given).toMatch(/^[\w.-]{32,1024}$/);
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    expect((await post(world.url("old"), ping, chosen)).status).toBe(404);
  });

  test("somebody else's is answered like one that never was, by every method", async () => {
    const session = await open("alice");
    const stolen = { ...session.headers, "x-user": "mallory" };
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const unknown = await post(world.url("old"), ping, { ...stolen, "mcp-session-id": "never-was" });
    const foreign = await post(world.url("old"), ping, stolen);
    expect([foreign.status, await foreign.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(foreign.status).toBe(404);
    const accept = { accept: "text/event-stream" };
    expect((await fetch(world.url("old"), { headers: { ...stolen, ...accept } })).status).toBe(404);
    expect((await fetch(world.url("old"), { method: "DELETE", headers: stolen })).status).toBe(404);
    // Nor is it one at another endpoint.
    expect((await post(world.url("now"), ping, session.headers)).status).toBe(404);
    expect((await post(world.gateway.url, ping, session.headers)).status).toBe(404);
    expect((await session.request("ping")).status).toBe(200);
  });

  test("the stream of another one cannot be resumed, nor its HTTP+SSE post box used", async () => {
    const [mine, theirs] = await Promise.all([open("mallory"), open("alice")]);
    const stream = eventsOf(await theirs.get());
    await stream.next();
    expect((await mine.get({ "last-event-id": "1-0" })).status).toBe(400);
    // Every session has one of this number, which is its own: that of the other one goes on.
    const own = await mine.get({ "last-event-id": "0-0" });
    expect(own.status).toBe(200);
    const next = stream.next().then(() => "told");
    expect(await Promise.race([next, theirs.request("ping").then(() => "nothing told")])).toBe("nothing told");
    await own.body?.cancel();
    const sse = await fetch(`${origin}/sse`, { headers: { accept: "text/event-stream", "x-user": "alice" } });
    const first = await eventsOf(sse).next();
    const box = `${origin}${(first.value as { data: string }).data}`;
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(box, ping, { "x-user": "mallory" })).status).toBe(404);
  });

  test("a question is answered by the session that was asked alone", async () => {
    const [asked, thief] = await Promise.all([
      open("alice", "2025-11-25", ELICITATION),
      open("alice", "2025-11-25", ELICITATION),
    ]);
    const response = await asked.request("tools/call", { name: "test_elicitation", arguments: { message: "Who?" } });
    const reply = (who: string) => ({ action: "accept", content: { username: who, email: "a@example.com" } });
    for await (const { message } of eventsOf(response)) {
      if (message?.method === "elicitation/create") {
        for (const id of [message.id, 1, "1", 2]) await thief.post({ id, result: reply("thief") });
        await asked.post({ id: message.id, result: reply("owner") });
      } else if (message?.result) {
        expect(message.result.content[0].text).toContain(`"owner"`);
        break;
      }
    }
  });

  test.each([
    ["a batch before 2025-03-26", "2024-11-05"],
    ["a batch after it", "2025-06-18"],
    ["a batch long after it", "2025-11-25"],
  ])("%s is refused", async (_what, version) => {
    const session = await open("alice", version);
    const response = await session.post([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
    expect([response.status, (await response.json()) as WireMessage]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  test.each([
    ["empty", []],
    ["nested", [[{ jsonrpc: "2.0", id: 1, method: "ping" }]]],
    ["of things that are no messages", [1, null, "x"]],
    ["that initializes", [{ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }]],
  ])("a batch of 2025-03-26 is refused when it is %s", async (_what, batch) => {
    const session = await open("alice", "2025-03-26");
    expect((await session.post(batch)).status).toBe(400);
    expect((await session.request("ping")).status).toBe(200);
  });
});

describe("ids and tokens that meet", () => {
  test("answers and progress go to whoever asked, however alike their ids are", async () => {
    const sessions = await Promise.all(
      Array.from({ length: 6 }, (_, index) => openAs(world.url("old"), index % 2 ? "alice" : "mallory")),
    );
    const run = async (session: LegacyWire, index: number) => {
      const params = { name: "add_numbers", arguments: { a: index, b: 1000 } };
      const response = await session.post({ id: "same", method: "tools/call", params });
      const { id, result } = await lastOf(response);
      const told = await session.call("test_tool_with_progress", {}, { progressToken: "same" });
      return { id, sum: result.structuredContent.sum as number, told: told.map(({ params: p }) => p?.["progress"]) };
    };
    const results = await Promise.all(sessions.map(run));
    expect(results).toEqual(
      sessions.map((_, index) => ({ id: "same", sum: 1000 + index, told: [0, 50, 100, undefined] })),
    );
    // Modern callers of one owner share a connection upstream; their ids are all the same, too.
    const callers = Array.from({ length: 16 }, () => world.caller("old", { "x-user": "alice" }));
    const sums = await Promise.all(callers.map((caller, index) => caller.tool("add_numbers", { a: index, b: 1000 })));
    expect(sums.map(({ message }) => message.result.structuredContent.sum as number)).toEqual(
      callers.map((_, index) => 1000 + index),
    );
    for (const caller of callers) caller[Symbol.dispose]();
  });

  test.each([`"__proto__"`, `"constructor"`, "-1", "1.5", `""`, "9007199254740993"])(
    "a request with the id %s is answered with it, or refused",
    async (id) => {
      const { headers, body } = modern("tools/call", { name: "add_numbers", arguments: { a: 1, b: 1 } });
      const text = (body ?? "").replace(`"id":7`, `"id":${id}`);
      const answer = await send(world.url("old"), { ...(headers ? { headers } : {}), body: text });
      expect(answer.status).toBeLessThan(500);
      if (answer.json.result) expect(JSON.stringify(answer.json.id)).toBe(JSON.stringify(JSON.parse(id)));
      const session = await openAs(world.url("old"), "alice");
      const params = { name: "add_numbers", arguments: { a: 1, b: 1 } };
      const response = await session.post({ id: JSON.parse(id) as string, method: "tools/call", params });
      expect(response.status).toBeLessThan(500);
    },
  );
});

describe("bodies", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  test.each([
    ["deep JSON", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${nested(5000)}}}`, 400],
    ["deep JSON that is not closed", `{"x":${"[".repeat(50_000)}`, 400],
    ["a body that is too large", JSON.stringify({ x: "x".repeat(200_000) }), 413],
    ["no JSON", "{", 400],
    ["nothing", "", 400],
    ["a number", "1", 400],
    ["null", "null", 400],
    ["text that is no UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString("latin1"), 400],
  ])("%s is refused, and the gateway lives", async (_what, body, status) => {
    const answer = await send(world.gateway.url, { headers: JSON_TYPE, body });
    expect(answer.status).toBe(status);
    expect((await alice.tool("add_numbers", { a: 1, b: 1 })).message.result).toBeDefined();
  });

  test("a body without a length ends at the limit, whatever more would come", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.on("error", () => {});
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${new URL(origin).host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    for (let count = 0; count < 10; count++) socket.write(chunk);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  test("a request that could be read as two is refused", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.end(
      `POST /mcp HTTP/1.1\r\nhost: ${new URL(origin).host}\r\ncontent-type: application/json\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.toString()).not.toContain("nexus_calls");
  });

  test("members named like those of every object stay what they are", async () => {
    const { headers, body } = modern("tools/call", { name: "add_numbers", arguments: { a: 1, b: 1 } });
    const text = (body ?? "").replace(`"params":{`, `"params":{"__proto__":{"polluted":true},"constructor":{"x":1},`);
    const answer = await send(world.url("old"), { ...(headers ? { headers } : {}), body: text });
    expect(answer.status).toBe(200);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const meta = JSON.parse(`{"__proto__":{"polluted":true}}`) as object;
    const told = await alice.tool("add_numbers", { a: 1, b: 1 }, { meta: { ...meta, [META.logLevel]: "__proto__" } });
    expect(textIn(told)).toBeDefined();
  });
});

async function openAs(
  url: string,
  user: string,
  version = "2025-11-25",
  capabilities: object = {},
): Promise<LegacyWire> {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: "wire", version: "1" } };
  const response = await post(url, { jsonrpc: "2.0", id: "i", method: "initialize", params }, { "x-user": user });
  const id = response.headers.get("mcp-session-id") ?? "";
  const wire = new LegacyWire(url, { "mcp-session-id": id, "x-user": user }, (await response.json()) as WireMessage);
  await wire.post({ method: "notifications/initialized" });
  return wire;
}

/** The answer, whether it came at once or, on a busy machine, on a stream. */
async function lastOf(response: Response): Promise<WireMessage> {
  if (response.headers.get("content-type") === "application/json") return (await response.json()) as WireMessage;
  let last: WireMessage = {};
  for await (const { message } of eventsOf(response)) last = message ?? last;
  return last;
}
