import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { isFull } from "../../fixtures/depth.ts";
import { OpenStream, modern } from "../../fixtures/gateway/wire.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../../fixtures/processes.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { FaultWorld, metricAt, ModernCaller, recorded, textIn, type Outcome } from "./faults-world.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

const HOUR = { ms: 3_600_000 };
/** How often a server is killed in a row. */
const TIMES = isFull ? 5 : 2;
const IS_LINUX = process.platform === "linux";

/** Somebody who makes calls one after the other, of either era, and keeps what he has for it. */
interface Caller {
  tool(name: string, args?: Record<string, unknown>): Promise<Outcome>;
}

async function callerOf(era: string, world: FaultWorld, server: string): Promise<Caller> {
  if (era === "modern") return world.caller(server);
  const wire = await LegacyWire.open(world.url(server), "2025-11-25");
  return {
    async tool(name, args) {
      const startedAt = performance.now();
      const messages = await wire.call(name, args ?? {});
      return { status: 200, message: messages.at(-1) ?? {}, ms: performance.now() - startedAt };
    },
  };
}

/** Far below the hour that they would wait for otherwise; a busy machine takes its seconds. */
const SOON_MS = 30_000;

const isCalling = (world: FaultWorld, server: string, calls: number) =>
  expect.poll(() => world.calls(server)).toBe(calls);

describe.each(["2026-07-28", "2025-11-25"])("B1: a stdio server of %s", (revision) => {
  test.each(["modern", "legacy"])("killed in the middle of a %s client's calls", async (era) => {
    await using world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", revision) }));
    const [caller, other] = await Promise.all([callerOf(era, world, "up"), callerOf(era, world, "up")]);
    for (let time = 1; time <= TIMES; time++) {
      // Calls of a modern principal share a connection; a session's own are its own.
      const sleeping = era === "modern" ? other.tool("sleep", HOUR) : undefined;
      if (sleeping) await isCalling(world, "up", time * 3 - 2);
      const killed = await caller.tool("misbehave", { how: "die_by_signal" });
      for (const { message, ms } of [killed, ...(sleeping ? [await sleeping] : [])]) {
        if (message !== killed.message) expect(ms).toBeLessThan(killed.ms + SOON_MS);
        expect(message.error).toMatchObject({ code: -32603, data: { code: "SERVER_EXITED", mayHaveReached: true } });
        expect(message.error?.message).toBe('Server "up" stopped');
      }
      expect(killed.ms).toBeLessThan(SOON_MS);
      const next = await caller.tool("add_numbers", { a: time, b: 1 });
      expect(next.message.result).toMatchObject({ structuredContent: { sum: time + 1 } });
      expect(next.ms).toBeLessThan(SOON_MS);
    }
    if (caller instanceof ModernCaller) expect(caller.connections).toBe(1);
  });

  test.skipIf(!IS_LINUX)(`killed while nobody calls it, ${TIMES} times in a row`, async () => {
    await using world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", revision) }));
    const callers = [await callerOf("modern", world, "up"), await callerOf("legacy", world, "up")];
    for (let time = 0; time < TIMES; time++) {
      const running = fixturesOf(process.pid);
      expect(running.length).toBeLessThanOrEqual(3);
      for (const pid of running) process.kill(pid, "SIGKILL");
      await expect.poll(() => running.filter(isRunning)).toEqual([]);
      for (const caller of callers) {
        let { message, ms } = await caller.tool("add_numbers", { a: time, b: 1 });
        // The gateway may not have heard yet that the process it wrote to is dead.
        if (message.error) {
          expect(message.error.data).toMatchObject({ code: "SERVER_EXITED" });
          ({ message, ms } = await caller.tool("add_numbers", { a: time, b: 1 }));
        }
        expect(message.result).toMatchObject({ structuredContent: { sum: time + 1 } });
        expect(ms).toBeLessThan(SOON_MS);
      }
    }
    await world.gateway.close();
    expect(fixturesOf(process.pid)).toEqual([]);
  });

  test("hears that a modern client is gone", async () => {
    await using world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", revision) }));
    const stream = new OpenStream(world.url("up"), modern("tools/call", { name: "sleep", arguments: HOUR }));
    await isCalling(world, "up", 1);
    stream.leave();
    await expect.poll(() => world.openCalls("up")).toBe(0);
    await expect.poll(() => world.metric("nexus_calls_in_flight")).toBe(0);
  });

  test("hears that a session is over", async () => {
    await using world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", revision) }));
    const session = await LegacyWire.open(world.url("up"), "2025-11-25");
    const left = session.request("tools/call", { name: "sleep", arguments: HOUR });
    await isCalling(world, "up", 1);
    await session.delete();
    expect((await left).status).toBeLessThan(300);
    await expect.poll(() => world.openCalls("up")).toBe(0);
    await expect.poll(() => world.metric("nexus_calls_in_flight")).toBe(0);
  });
});

describe.each(["2026-07-28", "2025-11-25"] as const)("B1: an HTTP server of %s", (revision) => {
  test("restarted: calls in flight fail with the cause, and the next goes through", async () => {
    let fixture = await startHttpFixture({ revision });
    const { port, url } = fixture;
    await using world = await FaultWorld.open(() => ({ up: { url } }));
    const callers = [await callerOf("modern", world, "up"), await callerOf("legacy", world, "up")];
    const sleeping = callers.map((caller) => caller.tool("sleep", HOUR));
    const calls = () => fixture.transcript.messages("in").filter((m) => (m as WireMessage).method === "tools/call");
    await expect.poll(() => calls().length).toBe(2);
    await fixture.close();
    fixture = await startHttpFixture({ revision, port });
    const backAt = performance.now();
    for (const { message } of await Promise.all(sleeping)) {
      expect(message.error).toMatchObject({ data: { code: "CONNECTION_LOST", mayHaveReached: true } });
    }
    expect(performance.now() - backAt).toBeLessThan(SOON_MS);
    for (const caller of callers) {
      const { message, ms } = await caller.tool("add_numbers", { a: 1, b: 1 });
      expect(message.result).toMatchObject({ structuredContent: { sum: 2 } });
      expect(ms).toBeLessThan(SOON_MS);
    }
    await fixture.close();
    for (const caller of callers) {
      const { message, ms } = await caller.tool("add_numbers", { a: 1, b: 1 });
      expect(message.error).toMatchObject({ data: { code: "CONNECTION_FAILED", mayHaveReached: false } });
      expect(ms).toBeLessThan(SOON_MS);
    }
    fixture = await startHttpFixture({ revision, port });
    for (const caller of callers) {
      const { message, ms } = await caller.tool("add_numbers", { a: 1, b: 1 });
      expect(message.result).toMatchObject({ structuredContent: { sum: 2 } });
      expect(ms).toBeLessThan(SOON_MS);
    }
    await fixture.close();
  });
});

describe.each(["2026-07-28", "2025-11-25"] as const)("B1: an HTTP server of %s", (revision) => {
  test("gone for good: calls in flight fail soon with the cause, and the next goes through when it is back", async () => {
    let fixture = await startHttpFixture({ revision, answers: "sse" });
    const { port, url } = fixture;
    await using world = await FaultWorld.open(() => ({ up: { url } }));
    const callers = [await callerOf("modern", world, "up"), await callerOf("legacy", world, "up")];
    const sleeping = callers.map((caller) => caller.tool("sleep", HOUR));
    const calls = () => fixture.transcript.messages("in").filter((m) => (m as WireMessage).method === "tools/call");
    await expect.poll(() => calls().length).toBe(2);
    const goneAt = performance.now();
    await fixture.close();
    for (const { message } of await Promise.all(sleeping)) {
      expect(message.error).toMatchObject({ code: -32603, data: { code: "CONNECTION_LOST", mayHaveReached: true } });
      expect(message.error?.message).toBe('The connection to server "up" was lost');
    }
    expect(performance.now() - goneAt).toBeLessThan(SOON_MS);
    fixture = await startHttpFixture({ revision, port });
    for (const caller of callers) {
      const { message, ms } = await caller.tool("add_numbers", { a: 1, b: 1 });
      expect(message.result).toMatchObject({ structuredContent: { sum: 2 } });
      expect(ms).toBeLessThan(SOON_MS);
    }
    await fixture.close();
  });
});

describe("B1: the gateway's own process", () => {
  test("killed and started again: modern clients go on, and so do sessions", async () => {
    await using world = await NexusWorld.open();
    const config = await world.write("mcp.json", { mcpServers: { up: stdioFixture(["--revision", "2025-11-25"]) } });
    const first = await serving(world, ["--config", config, "--port", String(await freePort())]);
    using caller = new ModernCaller(first.url);
    const session = await LegacyWire.open(first.url, "2025-11-25");
    expect((await caller.tool("up__add_numbers", { a: 1, b: 2 })).message.result).toBeDefined();
    expect((await session.call("up__add_numbers", { a: 1, b: 2 }))[0]?.result).toBeDefined();
    const children = childrenOf(first.pid);
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    await expect.poll(() => children.filter(isRunning)).toEqual([]);
    const second = await serving(world, ["--config", config, "--port", new URL(first.url).port]);
    // Its connection broke with the old process; nothing else did.
    const again = await caller.tool("up__add_numbers", { a: 2, b: 2 }).catch(() => caller.tool("up__add_numbers"));
    expect(again.status).toBe(200);
    expect((await session.call("up__add_numbers", { a: 3, b: 2 }))[0]?.result).toMatchObject({
      structuredContent: { sum: 5 },
    });
    second.terminate();
    expect(await second.exited).toBe(0);
  });

  test("ended by SIGTERM: calls in flight finish, it exits with 0, no child is left", async () => {
    await using world = await NexusWorld.open();
    const config = await world.write("mcp.json", {
      mcpServers: { old: stdioFixture(["--revision", "2025-11-25"]), now: stdioFixture(["--revision", "2026-07-28"]) },
    });
    const { url, pid, exited, terminate } = await serving(world, ["--config", config, "--port", "0"]);
    using caller = new ModernCaller(url);
    const session = await LegacyWire.open(url, "2025-11-25");
    const inFlight = [
      caller.tool("now__sleep", { ms: 700 }).then(textIn),
      session.call("old__sleep", { ms: 700 }).then((messages) => messages.at(-1)?.result.content[0].text as string),
    ];
    await expect.poll(() => metricAt(url, "nexus_calls_in_flight")).toBe(2);
    const children = childrenOf(pid);
    terminate();
    expect(await Promise.all(inFlight)).toEqual(["Slept 700 ms.", "Slept 700 ms."]);
    expect(await exited).toBe(0);
    expect(children.filter(isRunning)).toEqual([]);
  });

  test("calls that outlast the limit are called off, and told so", async () => {
    const world = await FaultWorld.open((folder) => ({ up: recorded(folder, "up", "2025-11-25") }), {
      limits: { drainMs: 200 },
    });
    using caller = world.caller("up");
    const session = await LegacyWire.open(world.url("up"), "2025-11-25");
    const modernCall = caller.tool("sleep", HOUR);
    const legacyCall = session.call("sleep", HOUR);
    await isCalling(world, "up", 2);
    const closedAt = performance.now();
    const closing = world.gateway.close();
    expect((await modernCall).message.error?.message).toMatch(/shutting down/);
    await legacyCall;
    await closing;
    expect(performance.now() - closedAt).toBeLessThan(SOON_MS);
    await world[Symbol.asyncDispose]();
  });

  test("configuration files that change leave the calls of other servers alone", async () => {
    await using world = await NexusWorld.open();
    const [kept, gone, added] = ["2025-11-25", "2025-11-25", "2026-07-28"].map((revision) =>
      stdioFixture(["--revision", revision]),
    );
    const config = await world.write("mcp.json", { mcpServers: { kept, gone } });
    const { url, exited, terminate } = await serving(world, ["--config", config, "--port", "0"]);
    using keptCaller = new ModernCaller(url);
    using goneCaller = new ModernCaller(url);
    using looker = new ModernCaller(url);
    const keptCall = keptCaller.tool("kept__sleep", { ms: 2000 });
    const goneCall = goneCaller.tool("gone__sleep", HOUR);
    await expect.poll(() => metricAt(url, "nexus_calls_in_flight")).toBe(2);
    await world.write("mcp.json", { mcpServers: { kept, added } });
    const prefixes = async () => {
      const { message } = await looker.request("tools/list");
      const names = (message.result.tools as { name: string }[]).map(({ name }) => name.split("__")[0]);
      return new Set(names);
    };
    await expect.poll(prefixes).toEqual(new Set(["added", "kept"]));
    expect((await goneCall).message.error).toBeDefined();
    expect((await looker.tool("added__add_numbers", { a: 1, b: 1 })).message.result).toBeDefined();
    expect(textIn(await keptCall)).toBe("Slept 2000 ms.");
    terminate();
    expect(await exited).toBe(0);
  });
});

interface Serving {
  url: string;
  pid: number;
  exited: Promise<number | null>;
  terminate: () => void;
}

/** `nexus serve`, once it listens. */
async function serving(world: NexusWorld, args: string[]): Promise<Serving> {
  const { child, output } = world.start(["serve", "--json", ...args]);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  await expect.poll(() => output.stdout).toContain("\n");
  const { url } = JSON.parse(output.stdout) as { url: string };
  return { url, pid: child.pid ?? 0, exited, terminate: () => void child.kill("SIGTERM") };
}

/** One that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function fixturesOf(parent: number): number[] {
  return childrenOf(parent).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("everything.cjs"));
}
