import { describe, expect, test } from "vitest";
import { eventsOf, type WireEvent } from "../legacy/legacy-wire.ts";
import { markOf } from "./marked-servers.ts";
import { TenantWorld } from "./tenant-world.ts";

const ALICE = "acme/alice";
const LOOK = { name: "docs__look", arguments: {} };
const IDLE = { limits: { tenantIdleMs: 20 } };

async function isClosed(world: TenantWorld, tenant: string): Promise<boolean> {
  try {
    using _lease = await world.hostOf(tenant).lease("docs");
    return false;
  } catch {
    return true;
  }
}

/** On a busy machine it may be closed and opened between the requests of a test: the newest host counts. */
async function untilClosed(world: TenantWorld, tenant = "acme"): Promise<void> {
  await expect.poll(() => isClosed(world, tenant)).toBe(true);
}

describe("a tenant that is not used", () => {
  test("is closed, and opened again with the next request", async () => {
    await using world = await TenantWorld.open(IDLE);
    await world.ask(ALICE, "tools/call", LOOK);
    await untilClosed(world);
    expect(JSON.stringify(await world.ask(ALICE, "tools/call", LOOK))).toContain(markOf("acme"));
    expect(world.openings.length).toBeGreaterThan(1);
  });

  test("does not show its servers in /metrics, which opens nothing; what was counted comes back", async () => {
    await using world = await TenantWorld.open(IDLE);
    await world.ask(ALICE, "tools/call", LOOK);
    await untilClosed(world);
    const closed = (await world.get(ALICE, "/metrics")).text;
    expect(closed).not.toMatch(/nexus_server_state\{|server="docs"/);
    expect(await isClosed(world, "acme")).toBe(true);
    const stream = await world.listen(ALICE, { toolsListChanged: true });
    await world.ask(ALICE, "tools/call", LOOK);
    expect((await world.get(ALICE, "/metrics")).text).toContain(
      'nexus_calls_total{server="docs",method="tools/call",outcome="ok"} 2',
    );
    stream.leave();
  });

  test("leaves the tenant default open", async () => {
    await using world = await TenantWorld.open(IDLE);
    await world.ask("default/alice", "tools/call", LOOK);
    await world.ask(ALICE, "tools/call", LOOK);
    await untilClosed(world);
    expect(await isClosed(world, "default")).toBe(false);
  });

  test("keeps what a caller carries valid: cursors, task ids and states of modern servers", async () => {
    await using world = await TenantWorld.open(IDLE);
    const list = (params: object) => world.ask(ALICE, "resources/templates/list", { ...params }, { server: "docs" });
    const { nextCursor: cursor } = (await list({})).result;
    const call = (more: object = {}) => world.ask(ALICE, "tools/call", { ...LOOK, name: "docs__asking", ...more });
    const { inputRequests, requestState } = (await call()).result as { inputRequests: object; requestState: string };
    await untilClosed(world);
    expect((await list({ cursor })).result).toBeDefined();
    const answers = Object.keys(inputRequests).map((key) => [key, { action: "accept", content: {} }]);
    const inputResponses = Object.fromEntries(answers) as object;
    expect(JSON.stringify((await call({ requestState, inputResponses })).result)).toContain(markOf("acme"));
  });
});

describe("a tenant stays open", () => {
  /** Gives an idle tenant time to be closed: another tenant is, which was used later. */
  async function whileAnotherIsClosed(world: TenantWorld): Promise<void> {
    const before = world.openings.filter((tenant) => tenant === "acme").length;
    await world.ask("beta/bob", "tools/call", LOOK);
    await untilClosed(world, "beta");
    expect(world.openings.filter((tenant) => tenant === "acme")).toHaveLength(before);
    expect(await isClosed(world, "acme")).toBe(false);
  }

  test("while a call runs", async () => {
    await using world = await TenantWorld.open(IDLE);
    const release = world.servers.acme.all.docs.holdNext("tools/call");
    const call = world.ask(ALICE, "tools/call", LOOK);
    await world.servers.acme.all.docs.receive("tools/call");
    await whileAnotherIsClosed(world);
    release();
    expect((await call).result).toBeDefined();
    await untilClosed(world);
  });

  test("while a call of an older client runs whose stream is gone", async () => {
    await using world = await TenantWorld.open(IDLE);
    const { docs } = world.servers.acme.all;
    const release = docs.holdNext("tools/call");
    const session = await world.session(ALICE, { capabilities: { roots: {} } });
    const response = await session.request("tools/call", LOOK);
    await docs.receive("tools/call");
    await response.body?.cancel();
    await whileAnotherIsClosed(world);
    release();
    await untilClosed(world);
  });

  test("while somebody listens for changes", async () => {
    await using world = await TenantWorld.open(IDLE);
    const stream = await world.listen(ALICE, { toolsListChanged: true });
    // Nobody is told of changes of a list that nobody has read.
    await world.ask(ALICE, "tools/list");
    await whileAnotherIsClosed(world);
    world.servers.acme.all.docs.notify("notifications/tools/list_changed");
    await expect.poll(() => stream.events.at(-1)?.method).toBe("notifications/tools/list_changed");
    stream.leave();
    await untilClosed(world);
  });

  test("while an older client has its stream open, over Streamable HTTP or HTTP+SSE", async () => {
    for (const open of [
      async (world: TenantWorld, signal: AbortSignal) => (await world.session(ALICE)).get({}, signal),
      (world: TenantWorld, signal: AbortSignal) => fetch(world.url("/sse"), { headers: { "x-user": ALICE }, signal }),
    ]) {
      await using world = await TenantWorld.open(IDLE);
      const left = new AbortController();
      expect((await open(world, left.signal)).status).toBe(200);
      await whileAnotherIsClosed(world);
      left.abort();
      await untilClosed(world);
    }
  });

  test("while a call waits for an answer of its caller", async () => {
    await using world = await TenantWorld.open({ limits: { ...IDLE.limits, parkedMs: 60_000 } });
    const call = (more: object = {}) => world.ask(ALICE, "tools/call", { ...LOOK, name: "old__asking", ...more });
    const { inputRequests, requestState } = (await call()).result as { inputRequests: object; requestState: string };
    await whileAnotherIsClosed(world);
    const answers = Object.keys(inputRequests).map((key) => [key, { action: "accept", content: {} }]);
    const inputResponses = Object.fromEntries(answers) as object;
    expect(JSON.stringify((await call({ requestState, inputResponses })).result)).toContain(markOf("acme"));
    await untilClosed(world);
  });
});

describe("a session of an older client whose tenant was closed", () => {
  test("goes on with the same id, and opens the tenant with its next request", async () => {
    await using world = await TenantWorld.open(IDLE);
    const session = await world.session(ALICE);
    const own = await world.session(ALICE, { server: "old" });
    await untilClosed(world);
    expect(JSON.stringify(await session.answerTo("tools/call", LOOK))).toContain(markOf("acme"));
    expect(JSON.stringify(await own.answerTo("tools/call", { name: "look" }))).toContain(markOf("acme"));
    expect((await session.delete()).status).toBe(204);
    await untilClosed(world);
  });

  test("can be ended, and stays ended", async () => {
    await using world = await TenantWorld.open(IDLE);
    const session = await world.session(ALICE);
    await untilClosed(world);
    expect((await session.delete()).status).toBe(204);
    expect((await session.request("tools/list")).status).toBe(404);
  });

  test("hears on its stream that everything may have changed, and of later changes", async () => {
    await using world = await TenantWorld.open(IDLE);
    const session = await world.session(ALICE);
    expect((await session.answerTo("resources/subscribe", { uri: "docs+note://own" })).result).toEqual({});
    await untilClosed(world);
    const left = new AbortController();
    const stream = eventsOf(await session.get({}, left.signal));
    const seen: string[] = [];
    // On a busy machine the tenant was closed more than once, and the client is told each time.
    const readUntil = async (isEnough: () => boolean) => {
      while (!isEnough()) seen.push(String(((await stream.next()).value as WireEvent).message?.method));
    };
    const lists = ["prompts", "resources", "tools"].map((list) => `notifications/${list}/list_changed`);
    const updates = () => seen.filter((method) => method === "notifications/resources/updated").length;
    await readUntil(() => updates() > 0 && lists.every((list) => seen.includes(list)));
    const before = updates();
    world.servers.acme.all.docs.notify("notifications/resources/updated", { uri: "note://own" });
    await readUntil(() => updates() > before);
    left.abort();
  });

  test("changes its subscriptions as before", async () => {
    await using world = await TenantWorld.open(IDLE);
    const session = await world.session(ALICE);
    await untilClosed(world);
    expect((await session.answerTo("resources/subscribe", { uri: "docs+note://own" })).result).toEqual({});
    expect((await session.answerTo("resources/unsubscribe", { uri: "docs+note://own" })).result).toEqual({});
  });
});
