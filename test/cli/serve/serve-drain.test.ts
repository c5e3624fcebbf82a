import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { META } from "../../../src/protocol/meta.ts";
import { modern, OpenStream, send, type Answer } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { eventsOf, LegacyWire, send as post } from "../../gateway/legacy/legacy-wire.ts";
import { keysOf } from "../../gateway/calls/calls-world.ts";

const ASKABLE = { elicitation: {} };
const ANSWER = { action: "accept", content: { username: "Ada", email: "ada@example.com" } };
const ANSWERED = `User response: ${JSON.stringify(ANSWER)}`;
const ASK = { name: "old__test_elicitation", arguments: { message: "Who?" } };
const SLEEP = { name: "old__sleep", arguments: { ms: 60_000 } };

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.configure({ old: stdioFixture(["--revision", "2025-11-25"]) });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

async function codeOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? ((await once(child, "close")) as [unknown])[0];
}

/** The messages of a stream, one at a time. */
function reading(response: Response) {
  const events = eventsOf(response);
  return async (): Promise<WireMessage & { eventId: string | undefined }> => {
    for (;;) {
      const { value, done } = await events.next();
      if (done === true) throw new Error("The stream has ended");
      if (value.message) return { ...value.message, eventId: value.id };
    }
  };
}

/** A session of HTTP+SSE: what it says, and how to answer. */
async function openSse(origin: string, signal: AbortSignal) {
  const stream = await fetch(`${origin}/sse`, { signal });
  const events = eventsOf(stream);
  const { data = "" } = (await events.next()).value ?? {};
  const next = async () => ((await events.next()).value as { message: WireMessage }).message;
  const tell = (message: object) => post(`${origin}${data}`, { jsonrpc: "2.0", ...message });
  await tell({ id: 0, method: "initialize", params: { protocolVersion: "2024-11-05", capabilities: { roots: {} } } });
  await next();
  return { next, tell };
}

describe("R8: SIGTERM of nexus serve", () => {
  test("takes what belongs to running calls over every HTTP transport until they end, and turns new calls away with 503", async () => {
    const { child, output } = world.start(["serve", "--port", "0"]);
    await expect.poll(() => output.stdout).toContain("Ctrl-C");
    const url = /http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "";
    const origin = new URL(url).origin;
    const gone = new AbortController();

    const session = await LegacyWire.open(url, "2025-11-25", ASKABLE);
    const asked = reading(await session.post({ id: 1, method: "tools/call", params: ASK }));
    const question = await asked();
    expect(question).toMatchObject({ method: "elicitation/create" });
    const lost = new AbortController();
    const broken = await post(
      url,
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: ASK },
      session.headers,
      lost.signal,
    );
    const second = await reading(broken)();
    lost.abort();
    const cancelled = await LegacyWire.open(url, "2025-06-18");
    const cancelledCall = cancelled.post({ id: 3, method: "tools/call", params: SLEEP });
    const ended = await LegacyWire.open(url, "2025-03-26");
    const endedCall = ended.post({ id: 4, method: "tools/call", params: SLEEP });
    const sse = await openSse(origin, gone.signal);
    await sse.tell({ id: 5, method: "tools/call", params: { name: "old__ask_roots" } });
    const sseQuestion = await sse.next();
    expect(sseQuestion).toMatchObject({ method: "roots/list" });
    const capabilities = { meta: { [META.clientCapabilities]: ASKABLE } };
    const parked = (await send(url, modern("tools/call", ASK, capabilities))).json.result;
    expect(parked).toMatchObject({ resultType: "input_required" });
    const left = new OpenStream(url, modern("tools/call", SLEEP));
    const inFlight = async () => (await send(`${origin}/metrics`, { method: "GET" })).text;
    await expect.poll(inFlight).toMatch(/^nexus_calls_in_flight 6$/m);

    child.kill("SIGTERM");
    await expect.poll(() => output.stderr).toContain("Stopping: waiting for running calls.");
    const get = (path: string) => send(`${origin}${path}`, { method: "GET", headers: { accept: "text/event-stream" } });
    const initialize = { protocolVersion: "2025-11-25", capabilities: {} };
    const [alive, ready, newCall, newSession, newSse, operation, inSession] = await Promise.all([
      get("/healthz"),
      get("/readyz"),
      send(url, modern("tools/list")),
      post(url, { jsonrpc: "2.0", id: 8, method: "initialize", params: initialize }),
      get("/sse"),
      get("/api/v1/servers"),
      session.post({ id: 9, method: "tools/list" }),
    ]);
    expect(alive).toMatchObject({ status: 200, json: { status: "ok" } });
    expect(ready).toMatchObject({ status: 503, json: { status: "draining" } });
    const busy = { code: -32603, message: "The gateway is shutting down" };
    const away: Partial<Answer> = { status: 503, headers: { "retry-after": "1", connection: "close" } };
    expect(newCall).toMatchObject({ ...away, json: { id: 7, error: { ...busy, data: { code: "BUSY" } } } });
    expect(newSse).toMatchObject({ ...away, json: { error: busy } });
    expect(operation).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    for (const [refused, id] of [
      [newSession, 8],
      [inSession, 9],
    ] as const) {
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toMatchObject({ id, error: busy });
    }

    const retry = {
      ...ASK,
      requestState: parked["requestState"],
      inputResponses: Object.fromEntries(keysOf(parked).map((key) => [key, ANSWER])),
    };
    const [, , back] = await Promise.all([
      session.post({ id: question.id, result: ANSWER }),
      session.post({ id: second.id, result: ANSWER }),
      session.get({ "last-event-id": second.eventId ?? "" }),
      sse.tell({ id: sseQuestion.id, result: { roots: [{ uri: "file:///a" }] } }),
      cancelled.post({ method: "notifications/cancelled", params: { requestId: 3 } }),
      ended.delete().then(({ status }) => expect(status).toBe(204)),
    ]);
    expect(await asked()).toMatchObject({ id: 1, result: { content: [{ text: ANSWERED }] } });
    expect(await reading(back)()).toMatchObject({ id: 2, result: { content: [{ text: ANSWERED }] } });
    expect(await sse.next()).toMatchObject({ id: 5, result: { content: [{ text: `[{"uri":"file:///a"}]` }] } });
    await Promise.all([cancelledCall.then((answer) => answer.text()), endedCall.then((answer) => answer.text())]);
    expect(child.exitCode).toBe(null);
    const last = await send(url, modern("tools/call", retry, capabilities));
    expect(last.json.result).toMatchObject({ resultType: "complete", content: [{ text: ANSWERED }] });
    left.leave();
    expect(await codeOf(child)).toBe(0);
    gone.abort();
  });

  test.each(["2026-07-28", "2025-11-25"])(
    "with --stdio lets a client of %s answer and cancel its running calls, refuses others, and ends",
    async (revision) => {
      const { child } = world.start(["serve", "--stdio"]);
      const heard: WireMessage[] = [];
      createInterface({ input: child.stdout ?? process.stdin }).on("line", (line) =>
        heard.push(JSON.parse(line) as WireMessage),
      );
      const isModern = revision === "2026-07-28";
      const _meta = { [META.protocolVersion]: revision, [META.clientCapabilities]: ASKABLE };
      const say = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      const ask = (id: number, method: string, params: object = {}) =>
        say({ id, method, params: isModern ? { ...params, _meta } : params });
      const answerTo = async (id: number): Promise<WireMessage> => {
        const find = () => heard.find((message) => message.id === id && message.method === undefined);
        await expect.poll(find).toBeDefined();
        return find() ?? {};
      };
      if (!isModern) {
        ask(1, "initialize", {
          protocolVersion: revision,
          capabilities: ASKABLE,
          clientInfo: { name: "t", version: "1" },
        });
        await answerTo(1);
      }
      ask(2, "tools/call", ASK);
      const asked = () => heard.find(({ id, method }) => (isModern ? id === 2 : method === "elicitation/create"));
      await expect.poll(asked).toBeDefined();
      ask(3, "tools/call", { name: "old__test_tool_with_progress" });
      ask(4, "tools/call", SLEEP);
      await answerTo(3);

      child.kill("SIGTERM");
      // The signal and the pipe are not ordered: until it has arrived, this is answered.
      let id = 10;
      const isRefused = async () => {
        ask(++id, "tools/list");
        return (await answerTo(id)).error?.message;
      };
      await expect.poll(isRefused).toBe("The gateway is shutting down");
      const question = asked();
      const { result } = question ?? {};
      if (isModern) {
        const inputResponses = Object.fromEntries(keysOf(result).map((key) => [key, ANSWER]));
        ask(5, "tools/call", { ...ASK, requestState: result.requestState, inputResponses });
      } else say({ id: question?.id, result: ANSWER });
      expect(await answerTo(isModern ? 5 : 2)).toMatchObject({ result: { content: [{ text: ANSWERED }] } });
      expect(child.exitCode).toBe(null);
      say({ method: "notifications/cancelled", params: { requestId: 4 } });
      expect(await codeOf(child)).toBe(0);
    },
  );

  test("with --stdio, after the end of the input, does not wait for running calls", async () => {
    const { child, output } = world.start(["serve", "--stdio"]);
    const _meta = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: {}, progressToken: 1 };
    const params = { name: "old__test_tool_with_progress", _meta };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    const sleep = { name: "old__sleep", arguments: { ms: 4000 }, _meta };
    child.stdin?.end(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: sleep })}\n`);
    await expect.poll(() => output.stdout).toContain(`"id":1`);
    child.kill("SIGTERM");
    expect(await codeOf(child)).toBe(0);
    expect(output.stdout).not.toContain(`"id":2`);
  });
});
