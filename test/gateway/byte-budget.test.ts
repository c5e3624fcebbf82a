import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { ByteBudget } from "../../src/server/core/byte-budget.ts";
import { serveStdio } from "../../src/server/stdio/serve-stdio.ts";
import type { HostEntry } from "../../src/index.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { BareEndpoint } from "../fixtures/gateway/bare-endpoint.ts";
import { StandInCore } from "./legacy/legacy-stand-in.ts";
import { modern, OpenStream, send } from "../fixtures/gateway/wire.ts";
import { flooding, wordy } from "./faults/faults-servers.ts";
import { FaultWorld, metricAt, WeighedGateway, type WorldOptions } from "./faults/faults-world.ts";
import { LegacyWire } from "./legacy/legacy-wire.ts";

const MIB = 1024 * 1024;
const TOTAL = 16 * MIB;
const PATIENT = { timeout: 120_000 };
const PIECE = "x".repeat(MIB);

/** A request whose body has begun, and will not end before it is told to. */
class UnfinishedPost {
  readonly socket: Socket;
  #heard = "";

  constructor(url: string, user = "alice") {
    const { host, hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => (this.#heard += chunk.toString()));
    const type = "content-type: application/json\r\naccept: application/json, text/event-stream";
    this.socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${host}\r\nx-user: ${user}\r\n${type}\r\ncontent-length: ${2 * MIB}\r\n\r\n{"x":"${PIECE}`,
    );
  }

  get status(): number | undefined {
    const [, status] = /^HTTP\/1.1 (\d+)/.exec(this.#heard) ?? [];
    return status === undefined ? undefined : Number(status);
  }

  get text(): string {
    return this.#heard;
  }

  async leave(): Promise<void> {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }
}

function openWorld(
  limits: WorldOptions["limits"],
  servers: Record<string, HostEntry> = { up: wordy(1) },
): Promise<FaultWorld> {
  const authenticate: WorldOptions["authenticate"] = (headers) => ({ tenant: "t", id: String(headers["x-user"]) });
  return FaultWorld.open(() => servers, { authenticate, limits });
}

describe("Request bodies", () => {
  test("that are unfinished take so many bytes together, and no more: the rest gets 503", async () => {
    await using gateway = await WeighedGateway.open({ up: wordy(1) }, { totalBytes: TOTAL, bodyMs: 60_000 });
    const held = () => metricAt(gateway.url, "nexus_buffered_bytes");
    const posts = Array.from({ length: 60 }, () => new UnfinishedPost(gateway.url));
    await expect.poll(() => posts.filter(({ status }) => status === 503).length).toBeGreaterThan(40);
    expect(await held()).toBeLessThanOrEqual(TOTAL);
    const refused = posts.find(({ status }) => status === 503);
    expect(refused?.text).toMatch(/retry-after: 1/i);
    expect(refused?.text).toContain("limits.totalBytes");
    await Promise.all(posts.map((post) => post.leave()));
    await expect.poll(held).toBe(0);
    expect((await send(gateway.url, modern("tools/list"))).status).toBe(200);
  });

  test("of one caller that fills the memory are refused when another caller sends one", async () => {
    await using world = await openWorld({ totalBytes: 8 * MIB, bodyMs: 60_000 });
    const held = () => world.metric("nexus_buffered_bytes", { "x-user": "alice" });
    const theirs = Array.from({ length: 5 }, () => new UnfinishedPost(world.gateway.url, "mallory"));
    await expect.poll(held).toBeGreaterThan(5 * MIB);
    // One caller gets three quarters, even if it is alone.
    const beyond = new UnfinishedPost(world.gateway.url, "mallory");
    await expect.poll(() => beyond.status).toBe(503);
    const others = ["bob", "carol"].map((user) => new UnfinishedPost(world.gateway.url, user));
    await expect.poll(held).toBeGreaterThan(7 * MIB);
    const hers = new UnfinishedPost(world.gateway.url, "alice");
    await expect.poll(() => theirs.filter(({ status }) => status === 503).length).toBe(1);
    expect(hers.status).toBeUndefined();
    await hers.leave();
    const params = { name: "up__long", arguments: { text: "x".repeat(MIB) } };
    const call = modern("tools/call", params, { headers: { "x-user": "alice" } });
    expect((await send(world.gateway.url, call)).status).toBe(200);
    await Promise.all([...theirs, beyond, ...others].map((post) => post.leave()));
    await expect.poll(held).toBe(0);
  });

  test("count until their call is over, and once, however it ends", async () => {
    await using world = await openWorld({ totalBytes: TOTAL });
    const held = () => world.metric("nexus_buffered_bytes", { "x-user": "alice" });
    const text = "x".repeat(MIB);
    const headers = {
      "x-user": "alice",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const session = await LegacyWire.open(world.url("up"), "2025-03-26", {}, { "x-user": "alice" });
    const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "long", arguments: { text } } };
    const sse = await fetch(new URL("/sse", world.gateway.url), { headers });
    const reader = sse.body?.pipeThrough(new TextDecoderStream()).getReader();
    const box = /data: (\S+)/.exec((await reader?.read())?.value ?? "")?.[1] ?? "";
    const bodies: [string, string, Record<string, string>?][] = [
      [world.gateway.url, `{"x":"${text}"`],
      [world.gateway.url, JSON.stringify({ x: text })],
      [world.gateway.url, JSON.stringify([text])],
      [world.url("up"), JSON.stringify({ ...call, id: 1 }), session.headers],
      [world.url("up"), JSON.stringify(call), session.headers],
      [
        world.url("up"),
        JSON.stringify([
          { ...call, id: 1 },
          { ...call, id: 2 },
        ]),
        session.headers,
      ],
      [world.url("up"), JSON.stringify({ jsonrpc: "2.0", id: 9, result: { text } }), session.headers],
      [world.url("up"), JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { text } })],
      [new URL(box, world.gateway.url).href, JSON.stringify({ ...call, id: 1 })],
      [new URL(box, world.gateway.url).href, JSON.stringify([text])],
      [new URL("/messages?sessionId=x", world.gateway.url).href, JSON.stringify({ x: text })],
    ];
    for (const [url, body, more] of bodies) {
      expect((await send(url, { headers: { ...headers, ...more }, body })).status).toBeLessThan(500);
      await expect.poll(held).toBe(0);
    }
    await reader?.cancel();
  });
});

describe("Answers that are not read", () => {
  test("take so many bytes together, and no more: those who do not read are disconnected", PATIENT, async () => {
    const totalBytes = 4 * MIB;
    const limits = { totalBytes, bufferedBytes: totalBytes };
    await using world = await openWorld(limits, { up: flooding(), long: wordy(500_000) });
    const held = () => world.metric("nexus_buffered_bytes", { "x-user": "alice" });
    const flood = modern(
      "tools/call",
      { name: "flood" },
      { meta: { progressToken: 1 }, headers: { "x-user": "mallory" } },
    );
    const streams = Array.from({ length: 3 }, () => new OpenStream(world.url("up"), flood, { reads: false }));
    let most = 0;
    const observe = async () => {
      most = Math.max(most, await held());
      return world.metric("nexus_calls_in_flight", { "x-user": "alice" });
    };
    await expect.poll(observe).toBe(streams.length);
    await expect.poll(observe, { timeout: 60_000 }).toBeLessThan(streams.length);
    expect(most).toBeLessThanOrEqual(totalBytes);
    const hers = await send(world.url("long"), modern("tools/list", {}, { headers: { "x-user": "alice" } }));
    expect([hers.status, hers.text.length > 500_000]).toEqual([200, true]);
    for (const stream of streams) stream.leave();
    await expect.poll(held).toBe(0);
  });

  test("that there is no room for are replaced by an error of their own request", async () => {
    await using world = await openWorld({ totalBytes: MIB }, { up: wordy(2 * MIB) });
    const user = { "x-user": "alice" };
    const answer = await send(world.url("up"), modern("tools/list", {}, { headers: user }));
    expect([answer.status, answer.headers["retry-after"], answer.json.id]).toEqual([503, "1", 7]);
    expect(answer.json.error?.message).toContain("limits.totalBytes");
    const session = await LegacyWire.open(world.url("up"), "2025-06-18", {}, user);
    // With status 503, or on a stream where it took long.
    expect(await session.answerTo("tools/list")).toMatchObject({ id: 1, error: { code: -32603 } });
    const manifest = await fetch(world.url("up").replace(/mcp$/, "tools"), { headers: user });
    expect(manifest.status).toBe(503);
    expect((await session.request("ping")).status).toBe(200);
  });
});

test("A session cannot keep megabytes of declared capabilities", async () => {
  await using world = await openWorld({});
  const capabilities = { experimental: { note: "x".repeat(100_000) } };
  const { initialized } = await LegacyWire.open(world.gateway.url, "2025-06-18", capabilities, { "x-user": "alice" });
  expect(initialized.error).toMatchObject({ code: -32602 });
});

test("On a pipe a message that there is no room for is refused with its id, and the next one is answered", async () => {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const budget = new ByteBudget({ totalBytes: MIB, share: 0.25 });
  const core = new BareEndpoint(new StandInCore());
  const served = serveStdio({ core }, { input, output, budget, signal: stop.signal });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const ask = async (id: number, text: string) => {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping", params: { text } })}\n`);
    return JSON.parse((await lines.next()).value as string) as WireMessage;
  };
  expect(await ask(1, "x".repeat(MIB))).toMatchObject({ id: 1, error: { code: -32603 } });
  expect(await ask(2, "x".repeat(MIB / 2))).toMatchObject({ id: 2, result: {} });
  expect(budget.used).toBe(0);
  input.end();
  await served;
});
