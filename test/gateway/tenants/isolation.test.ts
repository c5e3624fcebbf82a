import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProcessBudget } from "../../../src/index.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { eventsOf, send as post, type WireEvent } from "../legacy/legacy-wire.ts";
import { markOf } from "./marked-servers.ts";
import { namesIn, TenantWorld } from "./tenant-world.ts";

/** The same name in two tenants: whatever is bound to the name alone would pass for both. */
const ALICE = "acme/alice";
const OTHER = "beta/alice";
const TREASURE = markOf("acme");

let world: TenantWorld;
beforeAll(async () => void (world = await TenantWorld.open()));
afterAll(() => world[Symbol.asyncDispose]());

/** The answer as text, with the name that was asked for made the same: nothing else may differ. */
async function toldAbout(server: string, path: string, method: "GET" | "POST"): Promise<string> {
  const url = world.url(path.replace("SERVER", server));
  const headers = {
    "x-user": OTHER,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const response = await fetch(url, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
  return `${response.status} ${(await response.text()).replaceAll(server, "SERVER")}`;
}

describe("names of another tenant", () => {
  test.each([
    ["/servers/SERVER/mcp", "POST"],
    ["/servers/SERVER/mcp", "GET"],
    ["/servers/SERVER/tools", "GET"],
  ] as const)("%s: a server of another tenant is answered like one that does not exist (%s)", async (path, method) => {
    expect((await world.post(ALICE, "tools/list", {}, { server: "acme-only" })).status).toBe(200);
    expect(await toldAbout("acme-only", path, method)).toBe(await toldAbout("nothing-at-all", path, method));
    expect(await toldAbout("acme-only", path, method)).toMatch(/^404 /);
  });

  test("lists show the servers of the caller's tenant alone, also those of the tenant default", async () => {
    for (const [tenant, others] of [
      ["acme", ["beta", "default"]],
      ["beta", ["acme", "default"]],
      ["default", ["acme", "beta"]],
    ] as const) {
      for (const list of ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]) {
        const { text } = await world.post(`${tenant}/alice`, list);
        expect(text).toContain(list.endsWith("templates/list") ? markOf(tenant) : `${tenant}-only`);
        for (const other of others) expect([list, text.includes(other)]).toEqual([list, false]);
      }
    }
  });

  test.each([
    ["tools/call", { name: "acme-only__look", arguments: {} }],
    ["tools/call", { name: "docs__look-acme", arguments: {} }],
    ["prompts/get", { name: "acme-only__greet" }],
    ["resources/read", { uri: "acme-only+note://own" }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "acme-only__greet" }, argument: { name: "a", value: "" } },
    ],
    [
      "completion/complete",
      { ref: { type: "ref/resource", uri: "acme-only+note://{name}" }, argument: { name: "name", value: "" } },
    ],
  ])("%s with a name of another tenant reaches no server of it", async (method, params) => {
    const before = world.servers.acme.all.own.received.length + world.servers.acme.all.docs.received.length;
    const { error, result } = await world.ask(OTHER, method, params);
    expect(error ?? result?.isError).toBeTruthy();
    expect(JSON.stringify(error ?? result).replaceAll(JSON.stringify(params), "")).not.toContain(TREASURE);
    expect(world.servers.acme.all.own.received.length + world.servers.acme.all.docs.received.length).toBe(before);
  });

  test("a name that both tenants have leads to the caller's own server, over every way in", async () => {
    const params = { name: "docs__look", arguments: {} };
    const session = await world.session(OTHER);
    const answers = [
      await world.ask(OTHER, "tools/call", params),
      await world.ask(OTHER, "tools/call", { ...params, name: "look" }, { server: "docs" }),
      await session.answerTo("tools/call", params),
      await session.answerTo("tools/call", { ...params, name: "old__look" }),
      await world.ask(OTHER, "resources/read", { uri: "docs+note://own" }),
      await world.ask(OTHER, "prompts/get", { name: "docs__greet" }),
      await world.ask(OTHER, "completion/complete", {
        ref: { type: "ref/prompt", name: "docs__greet" },
        argument: { name: "a", value: "" },
      }),
      await world.ask(OTHER, "acme/run", {}, { server: "docs" }),
      await world.ask(OTHER, "server/discover", {}, { server: "docs" }),
    ];
    for (const { result } of answers) {
      expect(JSON.stringify(result)).toContain(markOf("beta"));
      expect(JSON.stringify(result)).not.toContain(TREASURE);
    }
  });

  test("the advice about a mistyped name does not name things of other tenants", async () => {
    for (const user of [ALICE, OTHER, "default/alice"]) await world.ask(user, "tools/list");
    const advice = async (user: string, name: string) =>
      JSON.stringify((await world.ask(user, "tools/call", { name, arguments: {} })).error);
    for (const name of ["acme-only__loo", "acme-onl__look", "docs__look-acm"]) {
      for (const user of [OTHER, "default/alice"])
        expect(await advice(user, name)).not.toMatch(/acme-only__look|look-acme/);
    }
    expect(await advice(ALICE, "acme-onl__look")).toContain("acme-only__look");
  });
});

describe("what callers of another tenant carry", () => {
  test("a cursor is good for its tenant alone", async () => {
    const asking = { server: "docs" };
    const list = (user: string, cursor?: string) =>
      world.ask(user, "resources/templates/list", cursor === undefined ? {} : { cursor }, asking);
    const cursor = (await list(ALICE)).result.nextCursor as string;
    expect(cursor).toEqual(expect.any(String));
    expect((await list(OTHER, cursor)).error?.message).toMatch(/cursor is not valid/);
    expect((await list("default/alice", cursor)).error?.message).toMatch(/cursor is not valid/);
    expect(namesIn(await list(ALICE, cursor))).toEqual(["more://{name}"]);
  });

  test.each(["docs", "old"])("a request state of a call to %s is good for its tenant alone", async (server) => {
    const call = (user: string, more: object = {}) =>
      world.ask(user, "tools/call", { name: "asking", arguments: {}, ...more }, { server });
    const { inputRequests, requestState } = (await call(ALICE)).result as {
      inputRequests: object;
      requestState: string;
    };
    const answer = { action: "accept", content: {} };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
    expect(requestState).toMatch(/^[\w.-]{20,}$/);
    // So that the other tenant has a call that waits as well.
    await call(OTHER);
    for (const user of [OTHER, "default/alice"]) {
      expect((await call(user, { requestState, inputResponses })).error?.message).toBe("request state not valid");
    }
    expect(JSON.stringify((await call(ALICE, { requestState, inputResponses })).result)).toContain(TREASURE);
  });

  test("a task id is good for its tenant alone", async () => {
    const { taskId } = (await world.ask(ALICE, "tools/call", { name: "docs__working", arguments: {} })).result;
    expect(taskId).toEqual(expect.any(String));
    await world.ask(OTHER, "tools/call", { name: "docs__working", arguments: {} });
    const { docs } = world.servers.acme.all;
    const before = docs.received.length;
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = { taskId, inputResponses: {} };
      for (const server of [undefined, "docs"]) {
        expect((await world.ask(OTHER, method, params, { server })).error?.message).toBe("Unknown task");
      }
    }
    const stream = await world.listen(OTHER, { taskIds: [taskId] });
    expect(stream.events[0]?.params?.notifications).toEqual({});
    stream.leave();
    expect(docs.received.length).toBe(before);
    expect(JSON.stringify(await world.ask(ALICE, "tasks/get", { taskId }))).toContain(TREASURE);
  });

  test("a session id of Streamable HTTP is unknown to another tenant, and its session goes on", async () => {
    const session = await world.session(ALICE);
    const stolen = { ...session.headers, "x-user": OTHER };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const user of [OTHER, "default/alice"]) {
      const headers = { ...stolen, "x-user": user };
      expect((await post(world.endpoint(), ping, headers)).status).toBe(404);
      expect((await fetch(world.endpoint(), { headers: { ...headers, accept: "text/event-stream" } })).status).toBe(
        404,
      );
      expect((await fetch(world.endpoint(), { method: "DELETE", headers })).status).toBe(404);
    }
    const { result } = await session.answerTo("tools/call", { name: "docs__look", arguments: {} });
    expect(JSON.stringify(result)).toContain(TREASURE);
  });

  test("an event id does not open the stream of another tenant's session", async () => {
    const [hers, his] = [await world.session(ALICE), await world.session(OTHER)];
    const left = new AbortController();
    const stream = eventsOf(await hers.get({}, left.signal));
    world.servers.acme.all.docs.notify("notifications/tools/list_changed");
    let seen: WireEvent | undefined;
    while (!seen?.message) seen = (await stream.next()).value as WireEvent;
    left.abort();
    const id = seen.id ?? "";
    expect(id).not.toBe("");
    await world.ask(OTHER, "prompts/list");
    const over = new AbortController();
    const response = await his.get({ "last-event-id": id }, over.signal);
    world.servers.beta.all.docs.notify("notifications/prompts/list_changed");
    // His own event is the first, where he gets a stream at all.
    if (response.ok) expect((await firstMessage(response))?.method).toBe("notifications/prompts/list_changed");
    else expect(response.status).toBe(400);
    over.abort();
  });

  test("a session of HTTP+SSE takes nothing of another tenant, and is not resumed for it", async () => {
    const open = async (user: string, headers: Record<string, string> = {}) => {
      const left = new AbortController();
      const stream = eventsOf(
        await fetch(world.url("/sse"), { headers: { "x-user": user, ...headers }, signal: left.signal }),
      );
      const endpoint = (await stream.next()).value as WireEvent;
      return { stream, left, id: endpoint.id, url: world.url(endpoint.data ?? "") };
    };
    const hers = await open(ALICE);
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "wire", version: "1" } };
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    for (const user of [OTHER, "default/alice"]) {
      expect((await post(hers.url, initialize, { "x-user": user })).status).toBe(404);
    }
    expect((await post(hers.url, initialize, { "x-user": ALICE })).status).toBe(202);
    const { id = "", message } = (await hers.stream.next()).value as WireEvent;
    expect(message).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05" } });
    // An id that is taken up is given out again; one that is not is as good as none.
    const resumed = await open(ALICE, { "last-event-id": id });
    const refused = await open(OTHER, { "last-event-id": id });
    expect([resumed.id === undefined, refused.id === undefined]).toEqual([false, true]);
    for (const { left } of [hers, resumed, refused]) left.abort();
  });
});

describe("changes at another tenant", () => {
  test("changes of lists and resources are told to callers of their own tenant alone", async () => {
    const wanted = { toolsListChanged: true, resourceSubscriptions: ["docs+note://own", "acme-only+note://own"] };
    // Nobody is told of changes of a list that nobody has read.
    for (const user of [ALICE, OTHER]) await world.ask(user, "tools/list");
    const [hers, his] = [await world.listen(ALICE, wanted), await world.listen(OTHER, wanted)];
    const session = await world.session(OTHER);
    const left = new AbortController();
    const own = eventsOf(await session.get({}, left.signal));
    expect(his.events[0]?.params?.notifications).toMatchObject({ resourceSubscriptions: ["docs+note://own"] });
    expect(hers.events[0]?.params?.notifications).toMatchObject({
      resourceSubscriptions: ["docs+note://own", "acme-only+note://own"],
    });
    const change = (tenant: "acme" | "beta") => {
      world.servers[tenant].all.docs.notify("notifications/tools/list_changed");
      world.servers[tenant].all.docs.notify("notifications/resources/updated", { uri: "note://own" });
    };
    change("acme");
    const methods = (stream: typeof hers) =>
      stream.events
        .slice(1)
        .map(({ method }) => String(method))
        .toSorted();
    const both = ["notifications/resources/updated", "notifications/tools/list_changed"];
    await expect.poll(() => methods(hers)).toEqual(both);
    // What comes first on the others' streams is their own change: nothing came before it.
    expect(methods(his)).toEqual([]);
    change("beta");
    await expect.poll(() => methods(his)).toEqual(both);
    let first: WireMessage | undefined;
    while (!first) first = ((await own.next()).value as WireEvent).message;
    expect(first.method).toBe("notifications/tools/list_changed");
    expect(methods(hers)).toEqual(both);
    left.abort();
    hers.leave();
    his.leave();
  });

  test("a subscription of an older client to a resource of another tenant is refused", async () => {
    const session = await world.session(OTHER);
    const before = world.servers.acme.all.own.received.length;
    const { error } = await session.answerTo("resources/subscribe", { uri: "acme-only+note://own" });
    const unknown = await session.answerTo("resources/subscribe", { uri: "nothing+note://own" });
    expect(error?.message.replace("acme-only", "nothing")).toBe(unknown.error?.message);
    expect(world.servers.acme.all.own.received.length).toBe(before);
  });
});

describe("what the gateway tells beside MCP", () => {
  test("/metrics shows the servers, calls and sessions of the reader's tenant alone", async () => {
    await using fresh = await TenantWorld.open();
    await fresh.ask(ALICE, "tools/call", { name: "acme-only__look", arguments: {} });
    await fresh.ask(ALICE, "tools/call", { name: "docs__look", arguments: {} });
    const stream = await fresh.listen(ALICE, { toolsListChanged: true });
    await fresh.session(ALICE);
    await fresh.session(ALICE);
    await fresh.ask(OTHER, "tools/call", { name: "docs__look", arguments: {} });
    const [hers, his, first] = await Promise.all(
      [ALICE, OTHER, "default/alice"].map(async (user) => (await fresh.get(user, "/metrics")).text),
    );
    const calls = 'method="tools/call",outcome="ok"} ';
    expect(hers).toContain(`nexus_calls_total{server="acme-only",${calls}1`);
    expect(hers).toContain(`nexus_calls_total{server="docs",${calls}1`);
    expect(hers).toContain('nexus_server_state{server="acme-only",state="ready"} 1');
    expect(hers).toContain("\nnexus_sessions 2\n");
    expect(hers).toContain("\nnexus_streams 1\n");
    expect(his).not.toContain("acme");
    expect(his).toContain(`nexus_calls_total{server="docs",${calls}1`);
    expect(his).toContain("\nnexus_sessions 0\n");
    expect(his).toContain("\nnexus_streams 0\n");
    expect(first).not.toMatch(/acme|beta|tools\/call/);
    expect(first).toContain("\nnexus_sessions 0\n");
    stream.leave();
  });

  test("what concerns the whole process is in the metrics of the tenant default alone", async () => {
    const ofProcess = /nexus_connections|_bytes_total|process_/;
    expect((await world.get("default/alice", "/metrics")).text).toMatch(ofProcess);
    expect((await world.get(ALICE, "/metrics")).text).not.toMatch(ofProcess);
  });

  test("processes are counted for the reader's tenant alone", async () => {
    const processes = new ProcessBudget({ processes: 3 });
    await using fresh = await TenantWorld.open({ processes });
    for (const user of [ALICE, OTHER]) await fresh.ask(user, "tools/list");
    const { signal } = new AbortController();
    const start = (tenant: string) =>
      processes.open({ tenant, server: "docs", principal: "alice", signal, stop: () => {} });
    const slots = ["acme", "acme", "beta"].map(start);
    const waiting = start("acme");
    const counts = async (user: string) =>
      [...(await fresh.get(user, "/metrics")).text.matchAll(/^nexus_processes\S* (\d+)$/gm)].map(([, count]) => count);
    expect(await counts(ALICE)).toEqual(["2", "1"]);
    expect(await counts(OTHER)).toEqual(["1", "0"]);
    expect(await counts("default/alice")).toEqual(["0", "0"]);
    for (const slot of [waiting, ...slots]) slot.release();
  });

  test("the manifest of a server that both have is that of the caller's tenant", async () => {
    const { text } = await world.get(OTHER, "/servers/docs/tools");
    expect(text).toContain(markOf("beta"));
    expect(text).not.toContain(TREASURE);
  });

  test("the front page names the servers of the reader's tenant alone", async () => {
    const page = async (user: string) => (await world.get(user, "/", { accept: "text/html" })).text;
    const [hers, his, first] = [await page(ALICE), await page(OTHER), await page("default/alice")];
    expect(hers).toContain("/servers/acme-only/mcp");
    expect(his).toContain("/servers/beta-only/mcp");
    expect(first).toContain("/servers/default-only/mcp");
    for (const text of [his, first]) expect(text).not.toContain("acme");
  });

  test("the same failure in two tenants has two ids, each under its tenant in the log", async () => {
    await using fresh = await TenantWorld.open();
    const fail = async (user: string, tenant: "acme" | "beta") => {
      await fresh.ask(user, "tools/list");
      fresh.servers[tenant].all.docs.disconnectNext("tools/call").disconnectNext("tools/call");
      return (await fresh.ask(user, "tools/call", { name: "docs__look", arguments: {} })).error;
    };
    const ids = [await fail(ALICE, "acme"), await fail(OTHER, "beta")].map(
      (error) => (error?.data as { correlationId?: string } | undefined)?.correlationId,
    );
    expect(new Set(ids).size).toBe(2);
    for (const [index, tenant] of ["acme", "beta"].entries()) {
      const lines = fresh.logged.filter(({ data }) => data["correlationId"] === ids[index]);
      expect(lines).not.toEqual([]);
      expect(lines.map(({ data }) => data["tenant"])).toEqual(lines.map(() => tenant));
    }
  });

  test("the audit says whose call it was", async () => {
    await world.ask(ALICE, "tools/call", { name: "acme-only__look", arguments: {} });
    expect(world.audited.at(-1)).toMatchObject({
      principal: { tenant: "acme", id: "alice" },
      server: "acme-only",
      target: "acme-only__look",
      outcome: "ok",
    });
  });
});

async function firstMessage(response: Response): Promise<WireMessage | undefined> {
  for await (const { message } of eventsOf(response)) if (message) return message;
  return undefined;
}
