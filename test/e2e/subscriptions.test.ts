import { describe, expect, test } from "vitest";
import { connect, type Change } from "../../src/index.ts";
import { ScriptedError, ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { reach, WAYS } from "../fixtures/reach.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";

const WATCHED = "test://watched-resource";

function collector() {
  const changes: Change[] = [];
  const told = () =>
    changes.map(({ kind, ...rest }) => [kind, "list" in rest ? rest.list : "uri" in rest ? rest.uri : undefined]);
  return { changes, told, listener: (change: Change) => changes.push(change) };
}

describe.each(WAYS)("over $transport, $revision", (way) => {
  test("changes of lists and resources arrive, those asked for and no others (R1, R2)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const { told, listener } = collector();
    await using subscription = await client.subscribe({ lists: ["tools", "prompts"], resources: [WATCHED] }, listener);
    expect(subscription.accepted).toMatchObject({ lists: ["tools", "prompts"], resources: [WATCHED] });

    await client.callTool("test_trigger_tool_change");
    await client.callTool("test_trigger_resource_change");
    await client.callTool("update_resource", { uri: "test://static-text" });
    await client.callTool("update_resource", { uri: WATCHED });
    await client.callTool("test_trigger_prompt_change");
    await expect.poll(told).toEqual([
      ["list-changed", "tools"],
      ["resource-updated", WATCHED],
      ["list-changed", "prompts"],
    ]);
  });

  test("interests can change while it runs, and nothing comes after it is closed (R1)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const { told, listener } = collector();
    const subscription = await client.subscribe({ lists: ["tools"] }, listener);
    await subscription.update({ resources: ["test://static-text", WATCHED] });
    await client.callTool("test_trigger_tool_change");
    await client.callTool("update_resource", { uri: WATCHED });
    await expect.poll(told).toEqual([["resource-updated", WATCHED]]);

    await subscription.update({ resources: ["test://static-text"] });
    await client.callTool("update_resource", { uri: WATCHED });
    await client.callTool("update_resource", { uri: "test://static-text" });
    await expect.poll(told).toEqual([
      ["resource-updated", WATCHED],
      ["resource-updated", "test://static-text"],
    ]);
    await subscription.close();
    await client.callTool("update_resource", { uri: "test://static-text" });
    await client.callTool("echo", { text: "later" });
    expect(told()).toHaveLength(2);
  });
});

test("no change is lost while one stream takes over from the other (R1)", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  await using client = await connect({ url: server.url });
  const { told, listener } = collector();
  await using subscription = await client.subscribe({ resources: [WATCHED] }, listener);
  let updates = 0;
  const switching = new AbortController();
  const updating = (async () => {
    while (!switching.signal.aborted) {
      await client.callTool("update_resource", { uri: WATCHED });
      updates++;
    }
  })();
  for (let turn = 0; turn < 20; turn++) await subscription.update({ resources: [WATCHED, `test://other/${turn}`] });
  switching.abort();
  await updating;
  // Told twice where both streams were open; never less than once.
  await expect.poll(() => told().length).toBeGreaterThanOrEqual(updates);
});

test.each(["stdio", "http"] as const)(
  "a subscription that the server ends is opened again, and says so, over %s (R1)",
  async (transport) => {
    await using reached = await reach({ transport, revision: "2026-07-28" });
    const { client } = reached;
    const { told, listener } = collector();
    await using _subscription = await client.subscribe({ lists: ["tools"] }, listener);
    await client.callTool("end_subscriptions");
    await expect.poll(told).toEqual([
      ["interrupted", undefined],
      ["restored", undefined],
    ]);
    await client.callTool("test_trigger_tool_change");
    await expect.poll(() => told().at(-1)).toEqual(["list-changed", "tools"]);
  },
);

test("subscriptions survive a session that the server forgot (R1, P1.8)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  const { told, listener } = collector();
  await using _subscription = await client.subscribe({ resources: [WATCHED] }, listener);
  server.forgetSessions();
  await client.callTool("echo", { text: "notice it" });
  await expect.poll(told).toEqual([["restored", undefined]]);
  await expect
    .poll(async () => {
      await client.callTool("update_resource", { uri: WATCHED });
      return told().length;
    })
    .toBeGreaterThan(1);
});

test("two subscriptions of a legacy session share what the server knows (R1)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  const [one, two] = [collector(), collector()];
  const first = await client.subscribe({ resources: [WATCHED] }, one.listener);
  await using _second = await client.subscribe({ resources: [WATCHED] }, two.listener);
  await first.close();
  await client.callTool("update_resource", { uri: WATCHED });
  await expect.poll(two.told).toEqual([["resource-updated", WATCHED]]);
  expect(one.told()).toEqual([]);
  const sent = server.transcript.messages("in").map((message) => (message as { method?: string }).method ?? "");
  expect(sent.filter((method) => method.includes("subscribe"))).toEqual(["resources/subscribe"]);
});

test("what a server does not tell is not accepted, and one without the method is an error", async () => {
  const legacy = new ScriptedServer({ era: "legacy", capabilities: { tools: {} }, tools: {} });
  await using client = await connect(legacy.transport);
  const subscription = await client.subscribe({ lists: ["tools", "prompts"], resources: ["a:b"] }, () => {});
  expect(subscription.accepted).toEqual({ lists: [], resources: [], tasks: [] });

  const modern = new ScriptedServer({ era: "modern" }).failNext(
    "subscriptions/listen",
    new ScriptedError(-32601, "no"),
  );
  await using other = await connect(modern.transport);
  expect(await failure(other.subscribe({ lists: ["tools"] }, () => {}))).toMatchObject({
    code: "SERVER_ERROR",
    details: { rpc: { code: -32601 } },
  });
});

test("a subscription that is never acknowledged times out", async () => {
  const server = new ScriptedServer({ era: "modern" }).on("subscriptions/listen", () => undefined);
  await using client = await connect(server.transport, { timeoutMs: 50 });
  expect(await failure(client.subscribe({ lists: ["tools"] }, () => {}))).toMatchObject({ code: "TIMEOUT" });
});

test("a list read inside the listener is the new one, however long the old one was good (R1)", async () => {
  for (const cacheScope of ["private", "public"]) {
    let version = 1;
    const server = new ScriptedServer({ era: "modern", capabilities: { tools: { listChanged: true } } }).on(
      "tools/list",
      () => {
        return { tools: [{ name: `v${version}`, inputSchema: {} }], ttlMs: 60_000, cacheScope };
      },
    );
    await using client = await connect(server.transport);
    await client.listTools();
    const reread = new Promise<string | undefined>((resolve) => {
      void client
        .subscribe({ lists: ["tools"] }, () => void client.listTools().then(([tool]) => resolve(tool?.name)))
        .then(() => {
          version = 2;
          server.notify("notifications/tools/list_changed");
        });
    });
    expect(await reread).toBe("v2");
  }
});

test("closing during an update, and updating after closing, end at once (R1)", async () => {
  const server = new ScriptedServer({ era: "modern", capabilities: { tools: { listChanged: true } } });
  await using client = await connect(server.transport, { timeoutMs: 5_000 });
  const subscription = await client.subscribe({ lists: ["tools"] }, () => {});
  server.on("subscriptions/listen", () => undefined);
  const updating = failure(subscription.update({ lists: ["prompts"] }));
  await server.receive("subscriptions/listen", 2);
  await subscription.close();
  expect((await updating).code).toBe("CLOSED");
  expect(await failure(subscription.update({ lists: ["tools"] }))).toMatchObject({ code: "CLOSED" });
});

test.each(["modern", "legacy"] as const)(
  "a lost connection is told to those who listen, in the %s era",
  async (era) => {
    const server = new ScriptedServer({ era, capabilities: { tools: { listChanged: true } }, tools: {} });
    await using client = await connect(server.transport);
    const { told, listener } = collector();
    await client.subscribe({ lists: ["tools"] }, listener);
    server.disconnect();
    await client.closed;
    await expect.poll(told).toContainEqual(["ended", undefined]);
  },
);

test("an update of one resource is no update of another whose name begins the same", async () => {
  const server = new ScriptedServer({ era: "legacy", capabilities: { resources: { subscribe: true } } })
    .on("resources/subscribe", () => ({}))
    .on("resources/unsubscribe", () => ({}));
  await using client = await connect(server.transport);
  const { told, listener } = collector();
  await client.subscribe({ resources: ["notes/1"] }, listener);
  for (const uri of ["notes/10", "notes/1/part", "notes/1#a", "notes/1"])
    server.notify("notifications/resources/updated", { uri });
  await client.ping();
  expect(told().map(([, uri]) => uri)).toEqual(["notes/1/part", "notes/1#a", "notes/1"]);
});
