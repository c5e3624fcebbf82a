import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host, InputProvider } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { askingServer } from "../fixtures/servers/asking-server.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { HostWorld, textOf } from "./world.ts";

let world: HostWorld;
beforeEach(async () => {
  world = await HostWorld.open();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const SCRIPT = { tools: [{ name: "roots" }, { name: "heard" }], asks: { roots: [{ method: "roots/list" }] } };
const rootsOf = async (host: Host, server: string, input?: InputProvider) =>
  textOf(await host.callTool(`${server}.roots`, {}, input ? { input } : {}));
const asked = (...uris: string[]) => `answers: ${JSON.stringify([{ roots: uris.map((uri) => ({ uri })) }])}`;
const FIRST = "file:///first";

describe.each([
  ["legacy", false],
  ["modern", true],
])("R4: the roots of a %s server", (_era, modern) => {
  test("are those of its entry, and others after setRoots, on the same connection", async () => {
    await using host = await world.host({ s: askingServer({ ...SCRIPT, modern }, { roots: [FIRST] }) });
    await host.ready();
    using before = await host.lease("s");
    expect(await rootsOf(host, "s")).toBe(asked(FIRST));
    await host.setRoots(["file:///second", world.folder], "s");
    expect(await rootsOf(host, "s")).toBe(asked("file:///second", pathToFileURL(world.folder).href));
    using after = await host.lease("s");
    expect(after.client).toBe(before.client);
    const heard = JSON.parse(textOf(await host.callTool("s.heard"))) as string[];
    expect(heard.filter((method) => method === "notifications/roots/list_changed")).toHaveLength(modern ? 0 : 1);
  });

  test("can be set for a server that was connected without any", async () => {
    await using host = await world.host({ s: askingServer({ ...SCRIPT, modern }) });
    await host.ready();
    await host.setRoots([{ uri: FIRST }]);
    expect(await rootsOf(host, "s")).toBe(asked(FIRST));
  });

  test("reach callers that answer other questions themselves", async () => {
    const input: InputProvider = { capabilities: { elicitation: { form: {} } }, handle: () => ({ action: "decline" }) };
    await using host = await world.host({ s: askingServer({ ...SCRIPT, modern }, { roots: [FIRST] }) });
    await host.ready();
    expect(await rootsOf(host, "s", input)).toBe(asked(FIRST));
    await host.setRoots(["file:///second"], "s");
    expect(await rootsOf(host, "s", input)).toBe(asked("file:///second"));
  });
});

test("R4: setRoots without a server is for all, also for servers that start later; with one it is for that one", async () => {
  const [one, other] = [askingServer(SCRIPT), askingServer({ ...SCRIPT, modern: true }, { roots: [FIRST] })];
  await using host = await world.host({ one, other: { ...other, auto_start: false } });
  await host.setRoots(["file:///all"]);
  await host.setRoots(["file:///own"], "one");
  expect(await rootsOf(host, "one")).toBe(asked("file:///own"));
  expect(await rootsOf(host, "other")).toBe(asked("file:///all"));
  await host.setRoots([]);
  expect(await rootsOf(host, "one")).toBe(asked());
  expect(await failure(host.setRoots([], "unknown"))).toMatchObject({ code: "NAME_UNKNOWN" });
});

test("R4: a connection without roots that is in use is replaced when its calls have ended, and none is lost", async () => {
  await using host = await world.host({ s: askingServer(SCRIPT) });
  await host.ready();
  const lease = await host.lease("s");
  await host.setRoots([FIRST]);
  expect(lease.client.lost).toBeUndefined();
  expect(textOf(await lease.client.callTool("heard"))).toContain("initialized");
  lease.release();
  await expect.poll(() => rootsOf(host, "s")).toBe(asked(FIRST));
});

describe("R8: a server that is shared with some agents", () => {
  const servers = { open: stdioFixture(), own: { ...stdioFixture(), agents: ["chat", "coder"] } };

  test("is visible to them only, and others cannot use it", async () => {
    await using host = await world.host(servers);
    await host.ready();
    const seen = (agent?: string) => [...new Set(host.tools({ agent }).map(({ server }) => server))];
    expect(seen("chat")).toEqual(["open", "own"]);
    expect(seen("other")).toEqual(["open"]);
    expect(seen()).toEqual(["open"]);
    expect(await host.callTool("own.echo", { text: "hi" }, { agent: "coder" })).toMatchObject({
      content: [{ text: "hi" }],
    });
    expect(await failure(host.callTool("own.echo", { text: "hi" }, { agent: "other" }))).toMatchObject({
      code: "DENIED",
    });
    expect(await failure(host.readResource("own", "test://static-text"))).toMatchObject({ code: "DENIED" });
  });

  test("changes its agents without a new connection", async () => {
    await using host = await world.host(servers);
    await host.ready();
    using before = await host.lease("own");
    const told: string[] = [];
    host.on((event) => void (event.kind === "lists" && told.push(event.server)));
    await host.setServers({ ...servers, own: { ...stdioFixture(), agents: ["other"] } });
    using after = await host.lease("own");
    expect(after.client).toBe(before.client);
    expect(told).toContain("own");
    expect(host.tools({ agent: "chat" }).some(({ server }) => server === "own")).toBe(false);
    expect(host.tools({ agent: "other" }).some(({ server }) => server === "own")).toBe(true);
  });

  test("with an invalid list is shared with no agent", async () => {
    const agents = "chat" as unknown as string[];
    await using host = await world.host({ own: { ...stdioFixture(), agents } });
    await host.ready();
    expect(host.find("own")?.definition).toMatchObject({ agents: [] });
    expect(host.find("own")?.state).toMatchObject({ kind: "failed" });
    expect(host.find("own")?.definition.problem?.message).toContain(`"agents" must be a list, not text`);
  });
});
