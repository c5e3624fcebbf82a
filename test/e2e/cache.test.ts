import { expect, test } from "vitest";
import { connect, MemoryCache, type CacheStore } from "../../src/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";

function caching(ttlMs: number, cacheScope?: string) {
  const scope = cacheScope ? { cacheScope } : {};
  return new ScriptedServer({ era: "modern", capabilities: { tools: { listChanged: true }, resources: {} } })
    .on("tools/list", (params) => {
      const more = params?.["cursor"] === undefined ? { nextCursor: "2" } : {};
      return {
        tools: [{ name: `t${JSON.stringify(params?.["cursor"] ?? 1)}`, inputSchema: {} }],
        ttlMs,
        ...scope,
        ...more,
      };
    })
    .on("resources/read", (params) => ({ contents: [{ uri: params?.["uri"], text: "x" }], ttlMs, ...scope }));
}

const count = (server: ScriptedServer, method: string) => server.methods.filter((each) => each === method).length;

test("answers that stay good are not asked for again, page by page, until something changes", async () => {
  const server = caching(60_000);
  await using client = await connect(server.transport);
  const first = await client.listTools();
  expect(await client.listTools()).toEqual(first);
  expect(count(server, "tools/list")).toBe(2);
  await client.listTools({ fresh: true });
  expect(count(server, "tools/list")).toBe(4);

  server.notify("notifications/tools/list_changed");
  await client.ping();
  await client.listTools();
  expect(count(server, "tools/list")).toBe(6);
});

test("reads are kept by URI and dropped when one is updated", async () => {
  const server = caching(60_000);
  await using client = await connect(server.transport);
  for (const uri of ["a:1", "a:2", "a:1", "a:2"]) await client.readResource(uri);
  expect(count(server, "resources/read")).toBe(2);
  server.notify("notifications/resources/updated", { uri: "a:1" });
  await client.ping();
  await client.readResource("a:1");
  expect(count(server, "resources/read")).toBe(3);
});

test.each([0, -5])("a ttlMs of %d keeps nothing", async (ttlMs) => {
  const server = caching(ttlMs);
  await using client = await connect(server.transport);
  await client.readResource("a:1");
  await client.readResource("a:1");
  expect(count(server, "resources/read")).toBe(2);
});

test("an answer that was on its way when something changed is not kept", async () => {
  const server = caching(60_000);
  await using client = await connect(server.transport);
  const release = server.holdNext("resources/read");
  const reading = client.readResource("a:1");
  await server.receive("resources/read");
  server.notify("notifications/resources/updated", { uri: "a:1" });
  await client.ping();
  release();
  await reading;
  await client.readResource("a:1");
  expect(count(server, "resources/read")).toBe(2);
});

test("a result that took questions is never kept", async () => {
  const server = new ScriptedServer({ era: "modern", capabilities: { resources: {} } }).on(
    "resources/read",
    async (params, { ask }) => {
      await ask("elicitation/create", { mode: "form", message: "May I?", requestedSchema: {} });
      return { contents: [{ uri: params?.["uri"], text: "x" }], ttlMs: 60_000, cacheScope: "public" };
    },
  );
  const input = {
    capabilities: { elicitation: { form: {} } },
    handle: () => ({ action: "accept" as const, content: {} }),
  };
  await using client = await connect(server.transport, { input });
  await client.readResource("a:1");
  await client.readResource("a:1");
  expect(count(server, "resources/read")).toBe(4);
});

test("a shared store gives public answers to everybody, and private ones to nobody else", async () => {
  for (const [scope, asked] of [
    ["public", 1],
    ["private", 2],
    [undefined, 2],
  ] as const) {
    const server = caching(60_000, scope);
    const cache = new MemoryCache();
    for (const principal of ["ada", "bob", "ada"]) {
      await using client = await connect(server.transport, { cache, principal, server: "same" });
      await client.readResource("a:1");
    }
    expect(count(server, "resources/read")).toBe(asked);
  }
});

test.each([
  ["its own store", {}],
  ["a given store", { cache: new MemoryCache() }],
])(
  "security.md: private answers in %s are not those of another login on the same connection",
  async (_what, options) => {
    const server = caching(60_000);
    const { transport } = server;
    let login = "ada";
    Object.defineProperty(transport, "loginName", { get: () => login });
    await using client = await connect(transport, options);
    await client.readResource("a:1");
    await client.readResource("a:1");
    expect(count(server, "resources/read")).toBe(1);

    login = "bob";
    const release = server.holdNext("resources/read");
    const reading = client.readResource("a:1");
    await server.receive("resources/read", 2);
    login = "eve";
    release();
    await reading;
    await client.readResource("a:1");
    expect(count(server, "resources/read")).toBe(3);
  },
);

test("the store in memory is bounded, and another can be given", async () => {
  const store = new MemoryCache({ maxAnswers: 2 });
  const expiresAt = Date.now() + 60_000;
  for (const key of ["a", "b", "c"]) store.set(key, { result: { key }, expiresAt });
  store.get("b");
  store.set("d", { result: {}, expiresAt });
  expect(["a", "b", "c", "d"].filter((key) => store.get(key))).toEqual(["b", "d"]);
  store.set("old", { result: {}, expiresAt: Date.now() - 1 });
  expect(store.get("old")).toBeUndefined();

  const kept = new Map<string, unknown>();
  const own: CacheStore = {
    get: async () => undefined,
    set: async (key, answer) => void kept.set(key, answer),
    forget: async () => {},
  };
  const server = caching(60_000);
  await using client = await connect(server.transport, { cache: own });
  await client.readResource("a:1");
  expect(kept.size).toBe(1);
});

test("people with other credentials are other people, without being told so", async () => {
  const { startHttpFixture } = await import("../fixtures/servers/http-fixture.ts");
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const cache = new MemoryCache();
  const keys: string[] = [];
  const noting: CacheStore = {
    get: (key) => (keys.push(key), cache.get(key)),
    set: (key, answer) => cache.set(key, answer),
    forget: (prefix) => cache.forget(prefix),
  };
  for (const [query, authorization] of [
    ["", "Bearer a"],
    ["", "Bearer b"],
    ["?key=c", "Bearer a"],
  ]) {
    const entry = { url: server.url + (query ?? ""), headers: { Authorization: authorization ?? "" } };
    await using client = await connect(entry, { cache: noting });
    await client.readResource("test://static-text");
  }
  const asPrivate = keys.filter(
    (key) => key.includes("resources/read") && JSON.parse(key.slice(0, key.indexOf("]") + 1)).length === 3,
  );
  expect(new Set(asPrivate).size).toBe(3);
  expect(keys.join()).not.toContain("Bearer");
});

test("what callers do to an answer does not reach the next, and a store that fails is only a miss", async () => {
  const server = caching(60_000);
  await using client = await connect(server.transport);
  const first = await client.listTools();
  for (const tool of first) tool.name = "changed";
  expect((await client.listTools()).map(({ name }) => name)).toEqual(["t1", `t"2"`]);

  const failing = () => Promise.reject(new Error("the store is down"));
  const broken: CacheStore = { get: failing, set: failing, forget: failing };
  const other = caching(60_000);
  await using lucky = await connect(other.transport, { cache: broken });
  expect(await lucky.readResource("a:1")).toMatchObject({ contents: [{ text: "x" }] });
  other.notify("notifications/resources/updated", { uri: "a:1" });
  await lucky.ping();
});
