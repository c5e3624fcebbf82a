import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve, type Gateway } from "../../../src/gateway/index.ts";
import { Host } from "../../../src/index.ts";
import { EdgeWorld } from "../../fixtures/gateway/edge-world.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { StandInCore } from "../legacy/legacy-stand-in.ts";
import { eventsOf, LegacyWire, send as post, serveLegacy } from "../legacy/legacy-wire.ts";

const PAGE = "https://pages.example";
let stateFolder: string;
let upstream: HttpFixture;
let gateway: Gateway;
let url: string;

const open = async (): Promise<Gateway> => {
  const host = await Host.open({ servers: { up: { url: upstream.url } }, stateFolder });
  return serve({ host, port: 0, limits: { drainMs: 50 }, allowedOrigins: [PAGE] });
};

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-odd-"));
  upstream = await startHttpFixture({ revision: "2025-11-25" });
  gateway = await open();
  await gateway.ready();
  url = gateway.url.replace(/mcp$/, "servers/up/mcp");
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

describe("messages that are two things at once", () => {
  const both = { jsonrpc: "2.0", id: 1, method: "ping", result: {} };

  test("are refused, and hold no session open", async () => {
    const wire = await LegacyWire.open(url, "2025-03-26");
    for (const body of [both, { ...both, error: { code: 1, message: "x" } }, [both]]) {
      const refused = await post(url, body, wire.headers);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { code: -32600 } });
    }
  });
});

describe("connections", () => {
  test("what is no HTTP ends a connection on which a stream is open, and says nothing into the stream", async () => {
    const wire = await LegacyWire.open(url, "2025-11-25");
    const { socket, heard } = dial(gateway.port);
    const { host } = new URL(url);
    const session = wire.headers["mcp-session-id"];
    socket.write(
      `GET /servers/up/mcp HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nmcp-session-id: ${session}\r\n\r\n`,
    );
    await expect.poll(heard).toContain("id: 0-0");
    socket.write("nonsense\r\n\r\n");
    await once(socket, "close");
    expect(heard()).not.toContain("400");
  });

  test.each(["application/json, text/event-stream", "Application/JSON, TEXT/event-stream", "*/*"])(
    "Accept: %s",
    async (accept) => {
      const { headers, body } = modern("tools/list", {}, { headers: { accept } });
      expect((await send(url, { headers: headers ?? {}, body: body ?? "" })).status).toBe(200);
    },
  );

  test("an older client that takes nothing of its answer is given up", async () => {
    await using world = await serveLegacy(new StandInCore(), { limits: { keepAliveMs: 50 } });
    for (const capabilities of [{}, { elicitation: {} }]) {
      const wire = await world.open("2025-11-25", capabilities);
      const text = "x".repeat(40_000_000);
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text } } };
      const { socket } = dial(Number(new URL(world.origin).port));
      socket.pause();
      const body = JSON.stringify(call);
      const head = {
        ...wire.headers,
        accept: "*/*",
        "content-type": "application/json",
        "content-length": body.length,
      };
      const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
      socket.write(`POST /mcp HTTP/1.1\r\nhost: x\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
      await expect.poll(() => world.unread()).toBeGreaterThan(0);
      await expect.poll(() => world.unread()).toBe(0);
      socket.destroy();
    }
  });
});

describe("sessions", () => {
  test("nobody's is kept: a client that left before initialize was answered has none", async () => {
    const core = new StandInCore();
    let offered = () => {};
    const offer = core.offer.bind(core);
    core.offer = () => new Promise((resolve) => (offered = () => resolve(offer())));
    await using world = await serveLegacy(core);
    const left = new AbortController();
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
    const opening = post(`${world.origin}/mcp`, body, {}, left.signal).catch(() => "left");
    const before = offered;
    await expect.poll(() => offered).not.toBe(before);
    left.abort();
    expect(await opening).toBe("left");
    await expect.poll(() => world.sockets.size).toBe(0);
    offered();
    await expect.poll(() => core.released.length).toBe(1);
    expect(world.legacy.sessions).toBe(0);
  });

  test("a client that was away for long hears of changes again, though not of all that it missed", async () => {
    const core = new StandInCore();
    await using world = await serveLegacy(core);
    const wire = await world.open("2025-11-25");
    await wire.request("resources/subscribe", { uri: "test://a" });
    const left = new AbortController();
    const events = eventsOf(await wire.get({}, left.signal));
    expect((await events.next()).value).toMatchObject({ id: "0-0" });
    left.abort();
    await expect.poll(() => world.streams.size).toBe(0);
    for (let change = 1; change <= 1500; change++) {
      const params = { uri: "test://a", change };
      core.change({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
    }
    const again = eventsOf(await wire.get({ "last-event-id": "0-0" }));
    expect((await again.next()).value).toMatchObject({ data: "" });
    expect((await again.next()).value).toMatchObject({ message: { params: { change: 501 } } });
    const unknown = eventsOf(await wire.get({ "last-event-id": "0-1501" }));
    expect((await unknown.next()).value).toMatchObject({ id: "0-1500", data: "" });
  });

  test("subscriptions of one are bounded", async () => {
    const core = new StandInCore();
    await using world = await serveLegacy(core);
    const wire = await world.open("2025-11-25");
    for (let count = 0; count < 1024; count += 64) {
      const some = Array.from({ length: 64 }, (_, at) => `test://${count + at}`);
      await Promise.all(some.map((uri) => wire.request("resources/subscribe", { uri }).then((res) => res.text())));
    }
    const refused = await wire.answerTo("resources/subscribe", { uri: "test://more" });
    expect(refused.error?.message).toContain("1024 resources");
    expect((await wire.answerTo("resources/subscribe", { uri: "test://5" })).result).toEqual({});
    await wire.answerTo("resources/unsubscribe", { uri: "test://5" });
    expect((await wire.answerTo("resources/subscribe", { uri: "test://more" })).result).toEqual({});
  });

  test("B1: when the gateway closes, calls that did not finish in time are answered with that", async () => {
    const closing = await open();
    await closing.ready();
    const at = closing.url.replace(/mcp$/, "servers/up/mcp");
    const wires = [await LegacyWire.open(at, "2025-11-25"), await LegacyWire.open(at, "2025-06-18", { roots: {} })];
    const answers = wires.map((wire) => wire.call("sleep", { ms: 60_000 }));
    const metrics = () => send(closing.url.replace(/mcp$/, "metrics"), { method: "GET" });
    await expect.poll(async () => (await metrics()).text).toMatch(/^nexus_calls_in_flight 2$/m);
    await closing.close();
    for (const [answer] of await Promise.all(answers)) {
      expect(answer).toMatchObject({ id: 1, error: { message: "The gateway is shutting down" } });
    }
  });
});

test("what cannot be written fails its own modern call alone", async () => {
  await using world = await EdgeWorld.open();
  let value: unknown = 1;
  for (let depth = 0; depth < 50_000; depth++) value = [value];
  world.core.handle = async ({ caller }) => {
    caller.notify({ jsonrpc: "2.0", method: "notifications/message", params: { value } });
    return { resultType: "complete", content: [], structuredContent: { value } };
  };
  const { status, json } = await send(world.url, modern("tools/call", { name: "echo" }));
  expect(status).toBe(200);
  expect(json).toMatchObject({ id: 7, error: { code: -32603, message: expect.stringContaining("too deeply") } });
});

describe("pages of other origins", () => {
  const preflight = { "access-control-request-method": "POST", "access-control-request-headers": "mcp-method, x-y" };

  test("that were allowed by name may ask first, call, and read the answer", async () => {
    const asked = await send(url, { method: "OPTIONS", headers: { origin: PAGE, ...preflight } });
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      "access-control-allow-origin": PAGE,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "mcp-method, x-y",
      vary: "Origin",
    });
    const { headers, body } = modern("tools/list", {}, { headers: { origin: PAGE } });
    const answer = await send(url, { headers: headers ?? {}, body: body ?? "" });
    expect(answer.headers["access-control-allow-origin"]).toBe(PAGE);
    expect(answer.headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
  });

  test.each([
    [
      "http://localhost:5173",
      403,
      `Pages of "http://localhost:5173" may not call this gateway. Allow them with --allow-origin`,
    ],
    [undefined, 405, "Method not allowed"],
  ])("%s is told nothing that lets a page read, and why", async (origin, expected, why) => {
    const headers = { ...preflight, ...(origin === undefined ? {} : { origin }) };
    const { status, headers: told, json } = await send(url, { method: "OPTIONS", headers });
    expect([status, json.error?.message]).toEqual([expected, expect.stringContaining(why)]);
    expect(told["access-control-allow-origin"]).toBeUndefined();
  });
});

function dial(port: number): { socket: Socket; heard: () => string } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { socket, heard: () => text };
}
