import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { openCore } from "../lists/core-world.ts";
import { StandInCore } from "./legacy-stand-in.ts";
import { eventsOf, LegacyWire, send, serveLegacy, type WireEvent } from "./legacy-wire.ts";

test("a client that can be asked gets a stream for each answer, without ids where nothing is kept", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25", { sampling: {} });
  const response = await wire.request("tools/call", { name: "echo", arguments: { text: "hi" } });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const [answer, ...others] = await allOf(response);
  expect(answer).toMatchObject({ event: "message", message: { id: 1, result: { content: [{ text: "hi" }] } } });
  expect([answer?.id, others]).toEqual([undefined, []]);
  const older = await world.open("2025-06-18", { roots: {} });
  const [pong] = await allOf(await older.request("ping"));
  expect(pong).toMatchObject({ message: { id: 1, result: {} } });
  expect(pong?.id).toBeUndefined();
  const plain = await older.request("ping", {}, { accept: "application/json" });
  expect(await plain.json()).toMatchObject({ result: {} });
});

test("a long answer that broke off can be fetched again", async () => {
  await using world = await serveLegacy(new StandInCore());
  const wire = await world.open("2025-11-25", { elicitation: {} });
  const text = "x".repeat(1_000_000);
  const left = new AbortController();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text } } };
  const response = await send(`${world.origin}/mcp`, call, wire.headers, left.signal);
  expect((await eventsOf(response).next()).value).toMatchObject({ id: "1-0" });
  left.abort();
  const again = await allOf(await wire.get({ "last-event-id": "1-0" }));
  expect(again.at(-1)?.message?.result.content[0].text).toHaveLength(1_000_000);
});

test("a stream lasts as long as it may: its client is told when to come back, and finds the rest", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 5, limits: { streamMs: 40 } });
  const wire = await world.open("2025-11-25");
  const first = await allOf(await wire.request("tools/call", { name: "wait" }));
  expect(first).toMatchObject([{ id: "1-0", retry: "1000", data: "" }, { retry: "1000" }]);
  const second = await allOf(await wire.get({ "last-event-id": "1-0" }));
  expect(second).toMatchObject([{ id: "1-0", data: "" }, { retry: "1000" }]);
  expect(core.exchanges[0]?.signal.aborted).toBe(false);
  core.letGo();
  expect(await allOf(await wire.get({ "last-event-id": "1-0" }))).toMatchObject([
    { id: "1-0" },
    { id: "1-1", message: { id: 1, result: { content: [{ text: "waited" }] } } },
  ]);
  expect(await allOf(await wire.get())).toMatchObject([{ id: "0-0", data: "" }, { retry: "1000" }]);
});

test("a client of an older revision, which would not come back, keeps its stream", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 5, limits: { streamMs: 20, keepAliveMs: 60 } });
  const wire = await world.open("2025-06-18");
  const events = eventsOf(await wire.request("tools/call", { name: "wait" }));
  // The sign of life comes three times as late as the end of a stream would.
  expect((await events.next()).value).toEqual({});
  core.letGo();
  expect((await events.next()).value).toMatchObject({ message: { result: {} } });
});

test("a server that lets go of a call's stream is polled, and so is the gateway by a client that knows how", async () => {
  await using upstream = await startHttpFixture({ revision: "2025-11-25" });
  await using core = await openCore({ servers: { up: { url: upstream.url } } });
  await using world = await serveLegacy(core.core);
  const wire = await LegacyWire.open(`${world.origin}/mcp?server=up`, "2025-11-25");
  const closed = await allOf(await wire.request("tools/call", { name: "test_reconnection" }));
  expect(closed).toMatchObject([{ id: "1-0", data: "" }, { retry: expect.stringMatching(/^\d+$/) }]);
  expect((await allOf(await wire.get({ "last-event-id": "1-0" }))).at(-1)).toMatchObject({
    message: { id: 1, result: { content: [{ text: "Reconnection test completed." }] } },
  });
  // Others are not let go.
  const older = await LegacyWire.open(`${world.origin}/mcp?server=up`, "2025-06-18");
  const whole = (await (await older.request("tools/call", { name: "test_reconnection" })).json()) as WireMessage;
  expect(whole.result.content).toMatchObject([{ text: "Reconnection test completed." }]);
});

test("a stream that is over answers 405 to whoever comes back for more, and the session's own stream never does", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 1 });
  for (const version of ["2025-06-18", "2025-11-25"]) {
    const wire = await world.open(version);
    const params = { name: "wait", arguments: { tell: true }, _meta: { progressToken: 1 } };
    const cancelled = eventsOf(await wire.post({ id: "a", method: "tools/call", params }));
    let last: WireEvent | undefined;
    while (!last?.message) last = (await cancelled.next()).value as WireEvent;
    await wire.post({ method: "notifications/cancelled", params: { requestId: "a" } });
    expect((await cancelled.next()).done).toBe(true);
    const refused = await wire.get({ "last-event-id": last.id ?? "" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
    expect(((await refused.json()) as WireMessage).error?.message).toContain("has ended");

    // The answer itself can be fetched as often as it is lost.
    const finished = eventsOf(await wire.post({ id: "b", method: "tools/call", params }));
    while (!last?.message || last.id?.startsWith("1-")) last = (await finished.next()).value as WireEvent;
    core.letGo();
    const answered = (await finished.next()).value as WireEvent;
    expect(answered.message).toMatchObject({ id: "b", result: {} });
    expect((await allOf(await wire.get({ "last-event-id": last.id ?? "" }))).at(-1)?.message).toEqual(answered.message);
    expect((await wire.get({ "last-event-id": answered.id ?? "" })).status).toBe(405);
    await (await wire.get({ "last-event-id": "0-0" })).body?.cancel();
    expect((await wire.get({ "last-event-id": "0-0" })).status).toBe(200);
  }
});

test("the SDK's client stops asking for a call that it gave up, and still hears of changes", async () => {
  const core = new StandInCore();
  await using world = await serveLegacy(core, { patienceMs: 1 });
  const polls: number[] = [];
  const recording: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    if (new Headers(init?.headers).has("last-event-id")) polls.push(response.status);
    return response;
  };
  const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
  const errors: Error[] = [];
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.origin}/mcp`), { fetch: recording }));
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  const given = new AbortController();
  const call = client.callTool({ name: "wait", arguments: { tell: true } }, undefined, {
    signal: given.signal,
    onprogress: () => given.abort(),
  });
  await expect(call).rejects.toThrow();
  await expect.poll(() => polls).toEqual([405]);
  // An error is an answer, too, which this client does not count as one.
  await expect(client.callTool({ name: "no such tool" })).rejects.toThrow("No tool");
  core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await changed;
  await client.close();
  expect([polls, errors]).toEqual([[405], []]);
});

async function allOf(response: Response): Promise<WireEvent[]> {
  const events: WireEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}
