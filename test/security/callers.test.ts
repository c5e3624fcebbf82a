import { afterAll, beforeAll, expect, test } from "vitest";
import { HEADER_MISMATCH } from "../../src/protocol/meta.ts";
import { modern, OpenStream, send } from "../fixtures/gateway/wire.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import { markOf, thingsIn } from "./team-servers.ts";
import { setsOf } from "./team-sets.ts";
import { TeamWorld } from "./team-world.ts";

const LOOK = { name: "docs__look", arguments: {} };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

let world: TeamWorld;
beforeAll(async () => {
  world = await TeamWorld.open({ bodyBytes: 100_000 });
});
afterAll(() => world[Symbol.asyncDispose]());

const textOf = (caller: string) => world.texts.get(caller) ?? "";
const statusWith = async (headers: Record<string, string>, path = "/mcp") =>
  (await send(world.url(path), modern("tools/list", {}, { headers }))).status;

test("A failed credential fell through to another way in: whatever else a request has, a key that fails is refused (R8)", async () => {
  const good = textOf("acme-all");
  const session = await world.openSession("acme-all");
  const failing = [
    `Bearer ${textOf("acme-revoked")}`,
    `Bearer ${textOf("beta-expired")}`,
    `Bearer ${textOf("the secret of another key")}`,
    `Bearer ${textOf("the secret before a rotation")}`,
    `Bearer ${good.slice(0, -1)}`,
    `Bearer ${good}A`,
    `Bearer ${good.toLowerCase()}`,
    `Bearer ${good} ${good}`,
    `Bearer ${good}, Bearer ${good}`,
    `Bearer "${good}"`,
    `Basic ${Buffer.from(`acme-all:${good}`).toString("base64")}`,
    `Bearer nxs__`,
    `Bearer nxs_${"x".repeat(8_000)}_x`,
    `Bearer '; drop table nexus_api_keys; --`,
    good,
    "Bearer",
    "",
  ];
  const others = {
    "x-api-key": good,
    cookie: `key=${good}; session=${session}`,
    "mcp-session-id": session ?? "",
    "proxy-authorization": `Bearer ${good}`,
    "x-forwarded-for": "127.0.0.1",
  };
  for (const authorization of failing) {
    expect([authorization, await statusWith({ authorization, ...others })]).toEqual([authorization, 401]);
  }
  for (const query of [`?key=${good}`, `?access_token=${good}`, `?authorization=Bearer%20${good}`]) {
    for (const path of ["/mcp", "/sse", "/servers/docs/tools", "/metrics", "/messages"]) {
      const { status, headers, text } = await world.get("nobody", path + query, others);
      expect([path, status]).toEqual([path, 401]);
      expect(headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(text).not.toContain(good);
    }
  }
  expect(await statusWith(world.credentials("acme-all"))).toBe(200);
});

test("Session ids, task ids, cursors, `requestState` used by somebody else: each is good for the key it was given to (X8)", async () => {
  const owner = "default-admin";
  // Another key of the tenant, a key of another tenant with the same rights, and no key.
  const thieves = ["default-denied", "beta-rotated", "nobody"];
  const ask = async (caller: string, method: string, params: object, path?: string): Promise<WireMessage> =>
    (await world.post(caller, method, { ...params }, path === undefined ? {} : { path })).json;
  const own = "/servers/docs/mcp";
  const { nextCursor: cursor } = (await ask(owner, "resources/templates/list", {}, own)).result ?? {};
  const asking = { name: "docs__asking", arguments: {} };
  const { requestState } = (await ask(owner, "tools/call", asking)).result ?? {};
  const { taskId } = (await ask(owner, "tools/call", { name: "docs__working", arguments: {} })).result ?? {};
  const session = (await world.openSession(owner)) ?? "";
  for (const value of [cursor, requestState, taskId, session]) expect(value).toMatch(/^.{16,}$/s);
  const carried = async (caller: string) => [
    (await ask(caller, "resources/templates/list", { cursor }, own)).result,
    (await ask(caller, "tools/call", { ...asking, requestState, inputResponses: { sure: { action: "decline" } } }))
      .result,
    (await ask(caller, "tasks/get", { taskId })).result,
    (await world.postLegacy(caller, PING, { headers: { "mcp-session-id": session } })).json.result,
  ];
  for (const thief of thieves) {
    expect([thief, ...(await carried(thief))]).toEqual([thief, undefined, undefined, undefined, undefined]);
    const ended = await world.get(thief, "/mcp", { "mcp-session-id": session }, "DELETE");
    expect([401, 404]).toContain(ended.status);
  }
  for (const result of await carried(owner)) expect(result).toBeDefined();
});

test("Responses delivered to another client: callers that use the same ids at the same time get their own answers (X8)", async () => {
  const callers = ["default-admin", "acme-all", "acme-docs", "beta-rotated", "beta-kinds"];
  const ids = new Map(await Promise.all(callers.map(async (each) => [each, await world.openSession(each)] as const)));
  const call = (method: string) => ({ jsonrpc: "2.0", id: 7, method, params: LOOK });
  const rounds = Array.from({ length: 8 }, (_, index) => index);
  const answers = await Promise.all(
    rounds.flatMap(() =>
      callers.map(async (caller) => {
        const headers = { "mcp-session-id": ids.get(caller) ?? "" };
        const [now, old] = await Promise.all([
          world.post(caller, "tools/call", LOOK),
          world.postLegacy(caller, call("tools/call"), { headers }),
        ]);
        return { caller, text: now.text + old.text };
      }),
    ),
  );
  for (const { caller, text } of answers) {
    const [tenant = ""] = caller.split("-");
    const mark = { tenant, server: "docs", kind: "tool", name: "look" } as const;
    expect([...thingsIn(text)]).toEqual([mark, mark]);
  }
  // A server that answers what nobody asked is not believed.
  const docs = world.servers.default.get("docs");
  const release = docs?.holdNext("tools/call");
  const waiting = world.post("default-admin", "tools/call", LOOK);
  await docs?.receive("tools/call");
  for (const id of ["7", "never-seen", -1, 1e9]) docs?.send({ jsonrpc: "2.0", id, result: { content: [] } });
  release?.();
  expect((await waiting).text).toContain(markOf({ tenant: "default", server: "docs", kind: "tool", name: "look" }));
});

test("Filters applied on listing but not on calling: what a key does not see it cannot use, by any name (X8)", async () => {
  const listed = (await world.post("acme-docs", "tools/list")).json.result?.["tools"] as { name: string }[];
  expect(listed.map(({ name }) => name).toSorted()).toEqual(["docs__asking", "docs__look", "docs__working"]);
  const secret = markOf({ tenant: "acme", server: "docs", kind: "tool", name: "secret" });
  const vault = "mark:acme:vault:";
  const attempts = [
    world.post("acme-docs", "tools/call", { name: "docs__secret", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "secret", arguments: {} }, { path: "/servers/docs/mcp" }),
    world.post("acme-docs", "tools/call", { name: "DOCS__SECRET", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "mcp__docs__secret", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "docs.secret", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "docs____secret", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "vault__look", arguments: {} }),
    world.post("acme-docs", "tools/call", { name: "look", arguments: {} }, { path: "/servers/vault/mcp" }),
    world.post("acme-docs", "tools/call", { name: "look", arguments: {} }, { path: "/servers/docs/../vault/mcp" }),
    world.post("acme-docs", "tools/call", { name: "look", arguments: {} }, { path: "/servers/%76ault/mcp" }),
    world.post("acme-docs", "resources/read", { uri: "vault+note://own" }),
    world.post("acme-docs", "prompts/get", { name: "vault__greet" }),
    world.post("acme-docs", "acme/run", {}, { path: "/servers/vault/mcp" }),
    world.get("acme-docs", "/servers/vault/tools"),
  ];
  for (const { text, json } of await Promise.all(attempts)) {
    expect(json.result).toBeUndefined();
    expect(text).not.toContain(secret);
    expect(text).not.toContain(vault);
  }
  const { received } = [...world.servers.acme.received()].find(({ server }) => server === "docs") ?? {};
  expect(JSON.stringify(received)).not.toContain(`"secret"`);
});

test("Headers and body disagree: the difference is refused before a server hears of it (R8)", async () => {
  const hidden = { name: "docs__secret", arguments: {} };
  const credentials = world.credentials("acme-docs");
  for (const [params, headers] of [
    [hidden, { "mcp-name": "docs__look" }],
    [LOOK, { "mcp-name": "docs__secret" }],
    [LOOK, { "mcp-method": "tools/list" }],
    [LOOK, { "mcp-protocol-version": "2025-11-25" }],
  ] as const) {
    const { status, json } = await send(
      world.url(),
      modern("tools/call", { ...params }, { headers: { ...credentials, ...headers } }),
    );
    expect([status, json.error?.code]).toEqual([400, HEADER_MISMATCH]);
  }
});

test("Batches skipped authorization: each message of a batch is decided by itself, and other revisions take none (R8)", async () => {
  const calls = ["docs__look", "docs__secret", "vault__look"].map((name, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: {} },
  }));
  const post = async (caller: string, version: string) => {
    const session = (await world.openSession("acme-docs", "/mcp", version)) ?? "";
    return world.postLegacy(caller, calls, { headers: { "mcp-session-id": session } });
  };
  const { text, events, json } = await post("acme-docs", "2025-03-26");
  const answers = events.length > 0 ? events : (json as unknown as WireMessage[]);
  expect(answers.map(({ id, error }) => `${String(id)} ${error === undefined}`).toSorted()).toEqual([
    "0 true",
    "1 false",
    "2 false",
  ]);
  expect([...thingsIn(text)]).toEqual([{ tenant: "acme", server: "docs", kind: "tool", name: "look" }]);
  expect((await post("acme-all", "2025-03-26")).status).toBe(404);
  expect((await post("nobody", "2025-03-26")).status).toBe(401);
  for (const version of ["2025-06-18", "2025-11-25"]) expect((await post("acme-docs", version)).status).toBe(400);
});

test("Huge lines, deep JSON, endless streams, slow clients: the one request fails, and others are answered meanwhile (R8)", async () => {
  const headers = { ...world.credentials("acme-docs"), "content-type": "application/json" };
  const deep = "[".repeat(5_000) + "]".repeat(5_000);
  const post = (body: string, more: Record<string, string> = {}) =>
    send(world.url(), { headers: { ...headers, ...more }, body }).then(({ status }) => status);
  // A client that never ends its request.
  const slow = new OpenStream(world.url(), { headers: { ...headers, "content-length": "1000" }, body: "{" });
  expect(await post(JSON.stringify({ x: "x".repeat(200_000) }))).toBe(413);
  expect(await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${deep}}}`)).toBe(400);
  expect(await post("{}", { "x-long": "x".repeat(100_000) })).toBe(431);
  // A server whose answer is nested without end.
  const docs = world.servers.acme.get("docs");
  docs?.once("tools/call", () => ({ content: [], structuredContent: { x: JSON.parse(deep) as unknown } }));
  const nested = (await world.post("acme-docs", "tools/call", LOOK)).json;
  expect(nested.result?.["structuredContent"]).toBeUndefined();
  expect((await world.post("acme-docs", "tools/call", LOOK)).json.result).toBeDefined();
  expect(slow.ended).toBe(false);
  slow.leave();
});

test("X8: what is taken out of a set is neither used nor heard of, in sessions and streams that are open already", async () => {
  const path = "/sets/support/mcp";
  const uri = "vault+note://own";
  const vault = world.servers.beta.get("vault");
  const session = (await world.openSession("beta-support", path)) ?? "";
  const read = async (id: number) => {
    const message = { jsonrpc: "2.0", id, method: "resources/read", params: { uri } };
    return (await world.postLegacy("beta-support", message, { path, headers: { "mcp-session-id": session } })).json;
  };
  const stream = world.listen("beta-support", { resourceSubscriptions: [uri], resourcesListChanged: true }, { path });
  const heard = () => stream.events.map(({ method, params }) => params?.["uri"] ?? method);
  await expect.poll(() => stream.events.length).toBe(1);
  expect((await read(1)).result).toBeDefined();
  await expect
    .poll(() => {
      vault?.notify("notifications/resources/updated", { uri: "note://own" });
      return heard();
    })
    .toContain(uri);

  const { support } = setsOf("beta");
  world.sets.replace({ support: { ...support, allow: ["docs.look"] } }, "beta");
  expect((await read(2)).error).toBeDefined();
  await expect.poll(heard).toContain("notifications/resources/list_changed");
  const before = heard().filter((each) => each === uri).length;
  vault?.notify("notifications/resources/updated", { uri: "note://own" });
  // Whatever it would say is said before the answer to a later call.
  for (let count = 0; count < 5; count++) await world.post("beta-support", "tools/list", {}, { path });
  expect(heard().filter((each) => each === uri)).toHaveLength(before);
  world.sets.replace({}, "beta");
  expect((await world.post("beta-support", "tools/list", {}, { path })).status).toBe(404);
  expect((await world.postLegacy("beta-support", PING, { path, headers: { "mcp-session-id": session } })).status).toBe(
    404,
  );
  world.sets.replace(setsOf("beta"), "beta");
  stream.leave();
});
