import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServerDefinition } from "../../../src/config/read/server-definition.ts";
import type { Decide } from "../../../src/gateway/access/principal-access.ts";
import type { Caller } from "../../../src/server/core/core.ts";
import type { HostServers, Notification } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../../src/protocol/mcp.ts";
import { META } from "../../../src/protocol/meta.ts";
import { ScriptedServer } from "../../../src/testing/index.ts";
import { failure } from "../../fixtures/failure.ts";
import { AbleServer, toolsFor } from "../able-server.ts";
import { ALL, exchangeOf, openCore, type CoreWorld } from "./core-world.ts";
import type { GatewayCoreOptions } from "../../../src/gateway/gateway-core.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-declared-lists-"));
});
afterAll(() => rm(stateFolder, { recursive: true, force: true, maxRetries: 5 }));

async function open(servers: HostServers, options: Partial<GatewayCoreOptions> = {}): Promise<CoreWorld> {
  const world = await openCore({ servers, stateFolder }, { waitMs: 60_000, ...options });
  await world.host.ready();
  return world;
}

async function listed(world: CoreWorld, capabilities: ClientCapabilities, caller: Partial<Caller> = {}) {
  const result = await world.core.handle(exchangeOf(ALL, "tools/list", {}, { capabilities, ...caller }));
  return (result["tools"] as { name: string }[]).map(({ name }) => name);
}

/** Resolves when a listener hears that tools changed. */
async function listen(world: CoreWorld) {
  const heard: Notification[] = [];
  const listening = await world.core.listen({
    view: ALL,
    principal: ANYBODY,
    owner: "listener",
    capabilities: {},
    interests: { lists: ["tools"] },
    onChange: (notification) => heard.push(notification),
  });
  return { heard, [Symbol.asyncDispose]: () => listening.close() };
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((opened) => (resolve = opened));
  return { promise, resolve };
}

/** A server that is connected when it is used. */
const LAZY: ServerDefinition = {
  id: "lazy",
  enabled: true,
  autoStart: false,
  failIfNoTools: false,
  tools: {},
  isolation: "owner",
  hides: [],
  trusted: true,
};
const ELICITING = { elicitation: { form: {}, url: {} } };
const ABLE = { ...ELICITING, sampling: {}, roots: {} };

describe("The lists at /mcp belong to what the caller declares", () => {
  test("a legacy server lists to each caller what its capabilities open (X1)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    expect(await listed(world, {})).toEqual(["able__plain"]);
    expect(await listed(world, ABLE)).toEqual(["able__plain", "able__elicitation", "able__roots", "able__sampling"]);
    expect(await listed(world, ELICITING)).toEqual(["able__plain", "able__elicitation"]);
    expect(await listed(world, {})).toEqual(["able__plain"]);
  });

  test("a modern server is told with the request, over the connection that there is (X1)", async () => {
    const server = new ScriptedServer({ era: "modern", tools: {} });
    server.on("tools/list", ({ _meta: meta }) => ({
      ttlMs: 60_000,
      cacheScope: "public",
      tools: toolsFor((meta as Params)[META.clientCapabilities] as Params),
    }));
    await using world = await open({ young: server.transport });
    const greetings = () => server.methods.filter((method) => method === "server/discover").length;
    const before = greetings();
    expect(await listed(world, {})).toEqual(["young__plain"]);
    expect(await listed(world, ELICITING)).toEqual(["young__plain", "young__elicitation"]);
    expect(await listed(world, {})).toEqual(["young__plain"]);
    expect(greetings()).toBe(before);
    // A cache between must not give one caller's list to another that declares something else.
    const page = await world.core.handle(exchangeOf(ALL, "tools/list", {}, { capabilities: ELICITING }));
    expect(page["cacheScope"]).toBe("private");
  });

  test("callers that declare the same share one reading, whoever they are and however they write it (X2)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    const { declared } = server;
    const spellings = [
      { elicitation: { form: {}, url: {} }, sampling: {} },
      { sampling: {}, elicitation: { url: {}, form: {} } },
    ];
    const callers = Array.from({ length: 20 }, (_, index) =>
      listed(world, spellings[index % 2] ?? {}, { owner: `owner ${index}` }),
    );
    for (const names of await Promise.all(callers)) expect(names).toHaveLength(3);
    expect(declared).toHaveLength(2);
    await listed(world, spellings[0] ?? {}, { owner: "another" });
    expect(declared).toHaveLength(2);
    // The connection was for the lists alone.
    await expect.poll(() => server.connections).toBe(1);
  });

  test("four sets are kept, and the least recently used one goes (X2)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    const set = (name: string) => ({ experimental: { [name]: {} } });
    const count = async (name: string) => {
      await listed(world, set(name));
      return server.declared.length;
    };
    for (const [index, name] of ["a", "b", "c", "d"].entries()) expect(await count(name)).toBe(index + 2);
    expect(await count("a")).toBe(5);
    expect(await count("e")).toBe(6);
    expect(await count("a")).toBe(6);
    expect(await count("b")).toBe(7);
  });

  test("one who declares something else each time has few connections opened, and keeps nobody else from theirs (X2)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    const set = (name: string) => ({ experimental: { [name]: {} } });
    for (let count = 0; count < 40; count++) await listed(world, set(`x${count}`));
    expect(await listed(world, set("y"))).toEqual(["able__plain"]);
    expect(server.declared.length).toBeLessThan(20);
    const { principal, ...exchange } = exchangeOf(ALL, "tools/list", {}, { capabilities: ABLE });
    const result = await world.core.handle({ ...exchange, principal: { ...principal, id: "somebody else" } });
    expect(result["tools"]).toHaveLength(4);
  });

  test("a change that the server tells of concerns every set, also one that nobody else can see (X1)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    await using listening = await listen(world);
    expect(await listed(world, ELICITING)).toEqual(["able__plain", "able__elicitation"]);
    server.suffix = "_2";
    server.tell("everybody");
    await expect.poll(() => listening.heard.length).toBeGreaterThan(0);
    expect(await listed(world, ELICITING)).toEqual(["able__plain", "able__elicitation_2"]);
  });

  test("what a server adds once it knows its client is listed, and callers are told (X1)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport });
    await using listening = await listen(world);
    await listed(world, ELICITING);
    server.suffix = "_late";
    server.tell("able");
    await expect.poll(() => listening.heard.length).toBeGreaterThan(0);
    expect(await listed(world, ELICITING)).toEqual(["able__plain", "able__elicitation_late"]);
    expect(server.declared).toHaveLength(2);
  });

  test("while the lists for able callers take long, everybody's are shown, and the rest is told of (X1, X3)", async () => {
    const server = new AbleServer();
    const { promise, resolve } = gate();
    server.welcome = promise;
    await using world = await open({ able: server.transport }, { waitMs: 50 });
    await using listening = await listen(world);
    expect(await listed(world, ELICITING)).toEqual(["able__plain"]);
    expect(listening.heard).toEqual([]);
    resolve();
    await expect.poll(() => listening.heard.length).toBeGreaterThan(0);
    await expect.poll(() => listed(world, ELICITING)).toEqual(["able__plain", "able__elicitation"]);
  });
});

describe("Rules hold for what only some callers are shown", () => {
  const decide: Decide = (_principal, _operation, target) =>
    target.name === "sampling" ? { kind: "denied", reason: "no models" } : { kind: "allowed" };
  const call = (world: CoreWorld, name: string, capabilities: ClientCapabilities) =>
    world.core.handle(exchangeOf(ALL, "tools/call", { name, arguments: {} }, { capabilities }));

  test("what is listed can be called, and what is denied is unknown (X5)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport }, { decide });
    expect(await listed(world, ABLE)).toEqual(["able__plain", "able__elicitation", "able__roots"]);
    expect(await call(world, "able__elicitation", ABLE)).toMatchObject({ content: [{ text: "elicitation" }] });
    const denied = await failure(call(world, "able__sampling", ABLE));
    const unknown = await failure(call(world, "able__nothing", ABLE));
    expect(denied.message.replace("sampling", "nothing")).toBe(unknown.message);
  });

  test("what is listed to others is unknown to a caller that it is not listed to (X5)", async () => {
    const server = new AbleServer();
    await using world = await open({ able: server.transport }, { decide });
    await listed(world, ABLE);
    expect((await failure(call(world, "able__elicitation", {}))).code).toBe("NAME_UNKNOWN");
    expect(await call(world, "able__plain", {})).toMatchObject({ content: [{ text: "plain" }] });
  });
});

describe("A list never waits for a server that is known to be down", () => {
  test.for([{}, ELICITING])(
    "it names the server, and is told of when the server is back (X3), for %j",
    async (declared) => {
      const server = new AbleServer();
      const { promise, resolve } = gate();
      let failed: number | undefined;
      const flaky = {
        kind: "memory" as const,
        target: {},
        async connect(...args: Parameters<typeof server.transport.connect>) {
          if (failed !== undefined && failed++ === 0) throw new Error("not yet");
          // It is being tried again, and takes as long as it likes.
          if (failed !== undefined) await promise;
          return server.transport.connect(...args);
        },
      };
      const good = new AbleServer();
      await using world = await openCore(
        {
          servers: { flaky, good: good.transport },
          stateFolder,
          backoff: { firstMs: 1, longestMs: 1, settledMs: 60_000 },
        },
        { waitMs: 600_000 },
      );
      await world.host.ready();
      expect(await listed(world, declared)).toContain("flaky__plain");
      using lease = await world.host.lease("flaky");
      await using listening = await listen(world);
      failed = 0;
      await lease.client.close();
      await expect.poll(() => failed).toBe(2);
      expect(world.host.find("flaky")?.state.kind).toBe("starting");
      const result = await world.core.handle(exchangeOf(ALL, "tools/list", {}, { capabilities: declared }));
      expect(result._meta).toMatchObject({ "dev.nexus/unavailable": [{ server: "flaky" }] });
      expect((result["tools"] as Params[]).map(({ name }) => name)).toContain("good__plain");
      expect((await world.core.offer(ALL, ANYBODY)).capabilities).toMatchObject({ tools: {} });
      const before = listening.heard.length;
      resolve();
      await expect.poll(() => listening.heard.length).toBeGreaterThan(before);
      await expect.poll(() => listed(world, declared)).toContain("flaky__plain");
    },
  );

  test("one that is started when it is used is tried again by the next list, which does not wait (X3)", async () => {
    const server = new AbleServer();
    const { promise, resolve } = gate();
    let tries = 0;
    const lazy = {
      kind: "memory" as const,
      target: {},
      async connect(...args: Parameters<typeof server.transport.connect>) {
        if (tries++ === 0) throw new Error("not yet");
        await promise;
        return server.transport.connect(...args);
      },
    };
    await using world = await openCore({ servers: {}, stateFolder }, { waitMs: 600_000 });
    await world.host.setServers([{ ...LAZY, transport: lazy }]);
    expect(await listed(world, {})).toEqual([]);
    await using listening = await listen(world);
    expect(await listed(world, {})).toEqual([]);
    await expect.poll(() => tries).toBe(2);
    expect(await listed(world, {})).toEqual([]);
    resolve();
    await expect.poll(() => listening.heard.length).toBeGreaterThan(0);
    expect(await listed(world, {})).toEqual(["lazy__plain"]);
  });
});
