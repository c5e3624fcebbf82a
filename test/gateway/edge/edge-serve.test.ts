import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readEnvironment } from "../../../src/environment.ts";
import type { AuditRecord, AuditTrail } from "../../../src/gateway/operation/audit.ts";
import { serve } from "../../../src/gateway/index.ts";
import { connect, Host, NexusError } from "../../../src/index.ts";
import type { Principal } from "../../../src/server/core/principal.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";
import { GatedServers } from "../../fixtures/servers/gated-servers.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

let stateFolder: string;
let upstream: HttpFixture;

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-serve-"));
  upstream = await startHttpFixture({ revision: "2026-07-28" });
});

afterAll(async () => {
  await upstream.close();
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

const openHost = () => Host.open({ servers: { everything: { url: upstream.url } }, stateFolder });
const sleep = (ms: number) => modern("tools/call", { name: "everything__sleep", arguments: { ms } });

describe("B2: serve()", () => {
  test("takes a running host, tells of every call once, and closes the host with itself", async () => {
    const records: AuditRecord[] = [];
    const host = await openHost();
    const gateway = await serve({ host, port: 0, audit: (record) => records.push(record) });
    await gateway.ready();
    expect(gateway.url).toBe(`http://127.0.0.1:${gateway.port}/mcp`);
    const { json } = await send(gateway.url, modern("tools/call", { name: "everything__test_simple_text" }));
    expect(json.result.content[0].type).toBe("text");
    expect(records).toMatchObject([
      {
        principal: { id: "anybody", tenant: "default" },
        era: "modern",
        server: "everything",
        method: "tools/call",
        target: "everything__test_simple_text",
        outcome: "ok",
      },
    ]);
    await Promise.all([gateway.close(), gateway.close()]);
    await expect(host.callTool("everything.test_simple_text")).rejects.toMatchObject({ code: expect.any(String) });
    await expect(send(gateway.url, modern("tools/list"))).rejects.toThrow(/ECONNREFUSED/);
  });

  test("opens the host itself where it is told how; it is not ready before its servers are", async () => {
    await using gate = await GatedServers.open();
    const authenticate = (headers: IncomingHttpHeaders): Principal => {
      const { authorization } = headers;
      if (authorization !== undefined) return { id: authorization, tenant: "default" };
      throw new NexusError("AUTH_REQUIRED", "Who is it?");
    };
    await using gateway = await serve({
      host: { servers: { slow: gate.entry("slow"), everything: stdioFixture() }, stateFolder },
      surroundings: readEnvironment(),
      authenticate,
      decide: ({ id }, _operation, { server }) =>
        id === "guest" && server === "slow" ? { kind: "denied", reason: "hidden" } : { kind: "allowed" },
      port: 0,
    });
    const ready = async (headers = {}) => {
      const { status, json } = await send(gateway.url.replace(/mcp$/, "readyz"), { method: "GET", headers });
      return { status, json: json as unknown };
    };
    await expect.poll(() => gateway.host.find("everything")?.state.kind).toBe("ready");
    // What is starting, is for callers that may know of it.
    const starting = (servers?: string[]) => ({
      status: 503,
      json: { status: "starting", starting: { count: 1, ...(servers && { servers }) } },
    });
    expect(await ready()).toEqual(starting());
    expect(await ready({ authorization: "kim" })).toEqual(starting(["slow"]));
    expect(await ready({ authorization: "guest" })).toEqual(starting([]));
    gate.pass("slow", {});
    await gateway.ready();
    expect(await ready()).toEqual({ status: 200, json: { status: "ready" } });
  });

  test("a port that is taken closes the host that it was given", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const host = await openHost();
    await expect(serve({ host, port })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    taken.close();
    await expect(host.setServers({})).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("another address than this machine's own needs authentication", async () => {
    const host = await openHost();
    await expect(serve({ host, port: 0, address: "0.0.0.0" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(host.setServers({})).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("close()", () => {
  test("a call that has ended is answered with its result, also where its record takes longer than all other calls", async () => {
    let isRecorded = () => {};
    const recorded = new Promise<void>((resolve) => (isRecorded = resolve));
    let hasEnded = () => {};
    const ended = new Promise<void>((resolve) => (hasEnded = resolve));
    const audit: AuditTrail = {
      isClosed: true,
      requireReady() {},
      record: ({ method }) => {
        if (method !== "tools/call") return undefined;
        hasEnded();
        return recorded;
      },
    };
    const gateway = await serve({ host: await openHost(), port: 0, audit });
    await gateway.ready();
    const session = await LegacyWire.open(gateway.url, "2025-06-18");
    const call = session.call("everything__test_simple_text");
    await ended;
    const closing = gateway.close();
    // The gate is idle, and nothing else is waited for.
    await expect.poll(() => gateway.runningCalls).toBe(0);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    isRecorded();
    expect(await call).toMatchObject([{ result: { content: [{ type: "text" }] } }]);
    await closing;
  });

  test("B1: lets calls of both eras finish, and calls off those that take too long", async () => {
    const gateway = await serve({ host: await openHost(), port: 0, limits: { drainMs: 700 } });
    await gateway.ready();
    const legacy = await connect({ url: gateway.url }, { era: "legacy" });
    expect(legacy.era).toBe("legacy");
    const before = upstream.observations.cancelled.length;
    const { sleeps } = upstream.observations;
    const short = send(gateway.url, sleep(300));
    const long = new OpenStream(gateway.url, sleep(60_000));
    const old = legacy.callTool("everything__sleep", { ms: 300 });
    await expect.poll(() => upstream.observations.sleeps).toBe(sleeps + 3);
    const closing = gateway.close();
    expect((await short).json.result.content[0].text).toBe("Slept 300 ms.");
    expect((await old).content[0]?.text).toBe("Slept 300 ms.");
    await closing;
    await expect.poll(() => long.ended).toBe(true);
    expect(JSON.parse(long.raw)).toMatchObject({ id: 7, error: { code: -32603 } });
    await expect.poll(() => upstream.observations.cancelled.length).toBe(before + 1);
    await legacy.close();
  });
});
