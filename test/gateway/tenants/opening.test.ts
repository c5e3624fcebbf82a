import { describe, expect, test } from "vitest";
import { serve } from "../../../src/gateway/index.ts";
import { NexusError } from "../../../src/index.ts";
import { modern, OpenStream, send } from "../../fixtures/gateway/wire.ts";
import { markOf } from "./marked-servers.ts";
import { TenantWorld } from "./tenant-world.ts";

const ALICE = "acme/alice";
const LOOK = { name: "docs__look", arguments: {} };

/** A promise, and the function that fulfils it. */
function held(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

describe("a tenant is opened", () => {
  test("on its first use, and not by what needs no servers", async () => {
    await using world = await TenantWorld.open();
    for (const path of ["/healthz", "/readyz", "/metrics", "/nothing", "/mcp/more"]) await world.get(ALICE, path);
    await world.ask("default/alice", "tools/call", LOOK);
    expect(world.openings).toEqual([]);
    expect((await world.get(ALICE, "/metrics")).status).toBe(200);
    expect(JSON.stringify(await world.ask(ALICE, "tools/call", LOOK))).toContain(markOf("acme"));
    expect(world.openings).toEqual(["acme"]);
  });

  test.each([
    ["a request of a modern client", (world: TenantWorld) => world.ask(ALICE, "tools/list")],
    ["a session of an older client", (world: TenantWorld) => world.session(ALICE)],
    ["a manifest of tools", (world: TenantWorld) => world.get(ALICE, "/servers/docs/tools")],
    ["the front page", (world: TenantWorld) => world.get(ALICE, "/", { accept: "text/html" })],
  ])("by %s", async (_what, use) => {
    await using world = await TenantWorld.open();
    await use(world);
    expect(world.openings).toEqual(["acme"]);
  });

  test("once, however many come at the same time in whatever way", async () => {
    const opening = held();
    await using world = await TenantWorld.open({ opening: () => opening.promise });
    const uses = [
      ...Array.from({ length: 30 }, () => world.ask(ALICE, "tools/call", LOOK)),
      ...Array.from({ length: 10 }, async () => (await world.session(ALICE)).answerTo("tools/call", LOOK)),
    ];
    await expect.poll(() => world.openings).toEqual(["acme"]);
    opening.resolve();
    for (const { result } of await Promise.all(uses)) expect(JSON.stringify(result)).toContain(markOf("acme"));
    expect(world.openings).toEqual(["acme"]);
  });

  test("while others are served: a slow one delays its own callers alone", async () => {
    const opening = held();
    await using world = await TenantWorld.open({
      opening: (tenant) => (tenant === "acme" ? opening.promise : Promise.resolve()),
    });
    const slow = world.ask(ALICE, "tools/call", LOOK);
    await expect.poll(() => world.openings).toEqual(["acme"]);
    for (const user of ["beta/bob", "default/bob"]) {
      expect((await world.ask(user, "tools/call", LOOK)).result).toBeDefined();
    }
    opening.resolve();
    expect(JSON.stringify(await slow)).toContain(markOf("acme"));
  });

  test("within a time limit for its callers; the opening itself goes on", async () => {
    const opening = held();
    await using world = await TenantWorld.open({ opening: () => opening.promise, limits: { tenantOpenMs: 5 } });
    const { status, headers, json } = await world.post(ALICE, "tools/call", LOOK);
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    expect(json.error).toMatchObject({ message: expect.stringContaining("still starting"), data: { code: "BUSY" } });
    opening.resolve();
    await expect.poll(async () => (await world.post(ALICE, "tools/call", LOOK)).status).toBe(200);
    expect(world.openings).toEqual(["acme"]);
  });

  test("for callers that stay: one that leaves meanwhile gets nothing and holds nothing", async () => {
    const opening = held();
    await using world = await TenantWorld.open({ opening: () => opening.promise, limits: { tenantIdleMs: 20 } });
    const left = new OpenStream(world.endpoint(), modern("tools/call", LOOK, { headers: { "x-user": ALICE } }));
    await expect.poll(() => world.openings).toEqual(["acme"]);
    left.leave();
    await expect.poll(() => left.ended).toBe(true);
    opening.resolve();
    // Nobody uses it, so it is closed again.
    await expect
      .poll(() => world.logged.map(({ message }) => message))
      .toContain("the tenant was closed because it was not used");
    expect(world.servers.acme.all.docs.methods).not.toContain("tools/call");
  });
});

describe("a tenant that cannot be opened", () => {
  const failing = (tenant: string, isAway: () => boolean) => async (name: string) => {
    if (name === tenant && isAway()) throw new NexusError("CONNECTION_FAILED", "database db.internal refuses bob");
  };

  test("is answered with 503 and an id; the reason is in the log, under its name", async () => {
    await using world = await TenantWorld.open({ opening: failing("acme", () => true) });
    const { status, headers, json } = await world.post(ALICE, "tools/call", LOOK);
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    const { correlationId } = (json.error?.data ?? {}) as { correlationId?: string };
    expect(correlationId).toMatch(/^[0-9a-f]{32}$/);
    expect(json.error).toMatchObject({
      message: "The servers of this tenant cannot be opened. Retry later",
      data: { code: "BUSY", mayHaveReached: false, retryAfterMs: 1000 },
    });
    const line = world.logged.find(({ data }) => data["correlationId"] === correlationId);
    expect(line?.message).toContain('Tenant "acme" could not be opened: database db.internal refuses bob');
    expect(line?.data["tenant"]).toBe("acme");
    const others = [
      await world.get(ALICE, "/servers/docs/tools"),
      await world.get(ALICE, "/sse"),
      await send(world.endpoint(), { method: "DELETE", headers: { "x-user": ALICE, "mcp-session-id": "x" } }),
    ];
    for (const answer of others) {
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain("db.internal");
    }
    const page = await world.get(ALICE, "/", { accept: "text/html" });
    expect(page.text).toContain("Its servers cannot be shown at the moment.");
    expect((await world.get(ALICE, "/metrics")).status).toBe(200);
  });

  test("because the database is away is answered with 503 STORE_UNAVAILABLE; tenants that are open go on", async () => {
    let isAway = false;
    const opening = async () => {
      if (isAway) throw new NexusError("STORE_UNAVAILABLE", "The database postgres://bob@db.internal is not available");
    };
    await using world = await TenantWorld.open({ opening });
    await world.ask("beta/bob", "tools/call", LOOK);
    isAway = true;
    const { status, headers, json, text } = await world.post(ALICE, "tools/call", LOOK);
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    expect(json.error).toMatchObject({
      message: "The database of the gateway is not available. Retry later",
      data: { code: "STORE_UNAVAILABLE", mayHaveReached: false },
    });
    expect(text).not.toContain("db.internal");
    expect((await world.ask("beta/bob", "tools/call", LOOK)).result).toBeDefined();
  });

  test("costs other tenants nothing", async () => {
    await using world = await TenantWorld.open({ opening: failing("acme", () => true) });
    await world.post(ALICE, "tools/call", LOOK);
    for (const user of ["beta/bob", "default/bob"]) {
      expect((await world.ask(user, "tools/call", LOOK)).result).toBeDefined();
    }
  });

  test("is tried again with a later call, not with each one", async () => {
    let isAway = true;
    await using world = await TenantWorld.open({ opening: failing("acme", () => isAway) });
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await world.post(ALICE, "tools/call", LOOK)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(world.openings).toEqual(["acme"]);
    isAway = false;
    await expect.poll(async () => (await world.post(ALICE, "tools/call", LOOK)).status, { interval: 100 }).toBe(200);
    expect(world.openings).toEqual(["acme", "acme"]);
  });
});

describe("a tenant that is closed by the program", () => {
  test("is opened again by its next use, with what openTenant gives then; its running calls fail", async () => {
    await using world = await TenantWorld.open();
    const { docs } = world.servers.acme.all;
    docs.holdNext("tools/call");
    const running = world.ask(ALICE, "tools/call", LOOK);
    await docs.receive("tools/call");
    const stream = await world.listen(ALICE, { toolsListChanged: true });
    const first = world.hostOf("acme");
    await world.gateway.closeTenant("acme");
    expect((await running).error ?? (await running).result?.isError).toBeTruthy();
    await expect(first.lease("docs")).rejects.toMatchObject({ code: "CLOSED" });
    expect(JSON.stringify(await world.ask(ALICE, "tools/call", LOOK))).toContain(markOf("acme"));
    expect(world.openings).toEqual(["acme", "acme"]);
    // A stream that was open goes on at the new host.
    await expect.poll(() => stream.events.at(-1)?.method).toBe("notifications/tools/list_changed");
    stream.leave();
  });

  test("does not concern others: one that is not open, and the tenant default", async () => {
    await using world = await TenantWorld.open();
    for (const tenant of ["acme", "default", "nothing"]) await world.gateway.closeTenant(tenant);
    for (const user of [ALICE, "default/alice"]) {
      expect((await world.ask(user, "tools/call", LOOK)).result).toBeDefined();
    }
    expect(world.openings).toEqual(["acme"]);
  });
});

describe("a gateway that is closed", () => {
  test("while a tenant opens turns its callers away at once, and closes the host that comes late", async () => {
    const opening = held();
    let signal: AbortSignal | undefined;
    await using world = await TenantWorld.open({
      opening: (_tenant, given) => {
        signal = given;
        return opening.promise;
      },
    });
    const waiting = world.post(ALICE, "tools/call", LOOK);
    await expect.poll(() => world.openings).toEqual(["acme"]);
    const closing = world.gateway.close();
    expect((await waiting).json.error?.message).toBe("The gateway is shutting down");
    expect(signal?.aborted).toBe(true);
    opening.resolve();
    await closing;
    await expect(world.hostOf("acme").lease("docs")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("while a tenant never opens closes all the same", async () => {
    await using world = await TenantWorld.open({ opening: () => new Promise(() => {}), limits: { drainMs: 20 } });
    const waiting = world.post(ALICE, "tools/call", LOOK);
    await expect.poll(() => world.openings).toEqual(["acme"]);
    await world.gateway.close();
    expect((await waiting).status).toBe(503);
  });

  test("closes the hosts of all its tenants", async () => {
    await using world = await TenantWorld.open();
    for (const tenant of ["acme", "beta", "default"]) await world.ask(`${tenant}/alice`, "tools/call", LOOK);
    await world.gateway.close();
    for (const { host } of world.hosts) {
      await expect(host.lease("docs")).rejects.toMatchObject({ code: "CLOSED" });
    }
    expect(world.hosts).toHaveLength(3);
  });
});

test("without openTenant all callers use the one host, whatever their tenants", async () => {
  await using world = await TenantWorld.open();
  const host = await world.markedHost("default");
  await using gateway = await serve({
    host,
    port: 0,
    authenticate: ({ "x-user": user }) => ({ tenant: String(user), id: "alice" }),
  });
  for (const user of ["default", "acme", "anything else"]) {
    const { json } = await send(gateway.url, modern("tools/call", LOOK, { headers: { "x-user": user } }));
    expect(JSON.stringify(json.result)).toContain(markOf("default"));
  }
});
