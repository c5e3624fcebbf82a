import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import type { GatewayCoreOptions } from "../../../src/gateway/gateway-core.ts";
import { MemorySets } from "../../../src/gateway/index.ts";
import { MemoryLedger, type HostOptions } from "../../../src/index.ts";
import type { Notification, Params } from "../../../src/protocol/json-rpc.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { GatedServers } from "../../fixtures/servers/gated-servers.ts";
import { ALL, exchangeOf, openCore, type CoreWorld } from "./core-world.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const LISTS = {
  tools: [tool("read", { annotations: { readOnlyHint: true } }), tool("write")],
  prompts: [{ name: "greet" }],
  resources: [{ uri: "note://1", name: "one" }],
  resourceTemplates: [{ uriTemplate: "note://{id}", name: "any" }],
};
const TOOLS = ["slow__read", "slow__write"];
const STARTING = { "dev.nexus/starting": [{ server: "slow", ageMs: expect.any(Number) as number }] };

let gate: GatedServers;
let stateFolder: string;
beforeEach(async () => {
  gate = await GatedServers.open();
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-cold-"));
});
afterEach(async () => {
  await gate[Symbol.asyncDispose]();
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

/** A gateway with the servers `slow` and `quick`, in this order. `quick` never waits. */
function open(host: HostOptions = {}, options: Partial<GatewayCoreOptions> = {}): Promise<CoreWorld> {
  gate.pass("quick", { tools: [tool("go")] });
  const servers = { slow: gate.entry("slow"), quick: gate.entry("quick") };
  return openCore({ servers, stateFolder, ...host }, { waitMs: 1, firstWaitMs: 60_000, ...options });
}

/** Starts it once, with the servers as they are, so that they are remembered. */
async function see(host: HostOptions = {}): Promise<void> {
  gate.pass("slow", LISTS);
  const world = await open(host);
  await world.host.ready();
  await world[Symbol.asyncDispose]();
  gate.hold("slow");
}

const ask = (world: CoreWorld, method: string, view = ALL) => world.core.handle(exchangeOf(view, method));
const names = (items: unknown) => (items as Params[]).map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name);

describe("a server that was never seen", () => {
  test("is waited for if the caller cannot be told later", async () => {
    await using world = await open();
    const listing = ask(world, "tools/list");
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    gate.pass("slow", LISTS);
    const { tools, _meta } = await listing;
    expect(names(tools)).toEqual([...TOOLS, "quick__go"]);
    expect(_meta).toBeUndefined();
  });

  test.each<[string, Partial<GatewayCoreOptions>, () => boolean]>([
    ["has a stream open", {}, () => true],
    ["has none, and waiting longer is switched off", { firstWaitMs: 0 }, () => false],
  ])("is missing for a legacy caller that %s", async (_caller, options, hearsChanges) => {
    await using world = await open({}, options);
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    const caller = { era: "legacy" as const, hearsChanges };
    await expect
      .poll(async () => (await world.core.handle(exchangeOf(ALL, "tools/list", {}, caller)))["tools"])
      .toMatchObject([{ name: "quick__go" }]);
    const { _meta, ttlMs } = await world.core.handle(exchangeOf(ALL, "tools/list", {}, caller));
    expect(_meta).toMatchObject({ "dev.nexus/unavailable": [{ server: "slow", code: "TIMEOUT" }] });
    expect(ttlMs).toBe(0);
    gate.pass("slow", LISTS);
  });

  test("is missing for a caller of the newest revision that listens under the same name", async () => {
    await using world = await open();
    const client = { name: "listener", version: "1" };
    const asked = {
      params: {},
      correlationId: "1",
      traceId: "1",
      caller: { era: "modern", version: "", client },
    } as const;
    const request = { principal: ANYBODY, owner: "me", capabilities: {}, asked, onChange: () => {} };
    await world.core.listen({ ...request, view: ALL, interests: { lists: ["tools"] } });
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    const listed = async (method: string, by: typeof client) =>
      (await world.core.handle(exchangeOf(ALL, method, {}, { client: by })))._meta;
    expect(await listed("tools/list", client)).toMatchObject({ "dev.nexus/unavailable": [{ server: "slow" }] });
    const others = [listed("prompts/list", client), listed("tools/list", { name: "other", version: "1" })];
    gate.pass("slow", LISTS);
    expect(await Promise.all(others)).toEqual([undefined, undefined]);
  });
});

describe("a server that is starting", () => {
  test("is listed at once as it was the last time, with all its lists, and is called when it has started", async () => {
    await see();
    await using world = await open({}, { waitMs: 600_000 });
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    expect(world.host.find("slow")?.state.kind).toBe("starting");
    const { tools, _meta, ttlMs, cacheScope } = await ask(world, "tools/list");
    expect(names(tools)).toEqual([...TOOLS, "quick__go"]);
    expect({ _meta, ttlMs, cacheScope }).toEqual({ _meta: STARTING, ttlMs: 0, cacheScope: "private" });
    expect(names((await ask(world, "prompts/list"))["prompts"])).toEqual(["slow__greet"]);
    expect(names((await ask(world, "resources/list"))["resources"])).toEqual(["slow+note://1"]);
    expect(names((await ask(world, "resources/templates/list"))["resourceTemplates"])).toEqual(["slow+note://{id}"]);
    const call = world.core.handle(exchangeOf(ALL, "tools/call", { name: "slow__read", arguments: {} }));
    gate.pass("slow", LISTS);
    expect(await call).toMatchObject({ content: [{ text: "slow did read" }] });
    await world.host.ready();
    await expect.poll(async () => (await ask(world, "tools/list"))._meta).toBeUndefined();
  });

  test("reports a change if it lists something else, and the call of a tool that is gone is an error that says so", async () => {
    await see();
    await using world = await open();
    const changes: Notification[] = [];
    const onChange = (change: Notification) => changes.push(change);
    const request = { principal: ANYBODY, owner: "me", capabilities: {}, onChange };
    await world.core.listen({ ...request, view: ALL, interests: { lists: ["tools"] } });
    expect(names((await ask(world, "tools/list"))["tools"])).toEqual(expect.arrayContaining(TOOLS));
    changes.length = 0;
    const call = world.core.handle(exchangeOf(ALL, "tools/call", { name: "slow__write", arguments: {} }));
    gate.pass("slow", { tools: [tool("read")] });
    await expect(call).rejects.toThrow("Unknown tool: write");
    await expect.poll(() => changes.map(({ method }) => method)).toContain("notifications/tools/list_changed");
    await expect
      .poll(async () => names((await ask(world, "tools/list"))["tools"]))
      .toEqual(["slow__read", "quick__go"]);
  });

  test("is listed as it is now if it has started while the list waited for another server", async () => {
    await see();
    const servers = { slow: gate.entry("slow"), quick: gate.entry("quick"), unseen: gate.entry("unseen") };
    await using world = await open({ servers });
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    const listing = ask(world, "tools/list");
    gate.pass("slow", { tools: [tool("read"), tool("added")] });
    // This caller does not wait for a server that was never seen.
    const caller = { era: "legacy" as const, hearsChanges: () => true };
    await expect
      .poll(async () => names((await world.core.handle(exchangeOf(ALL, "tools/list", {}, caller)))["tools"]))
      .toContain("slow__added");
    gate.pass("unseen", { tools: [tool("go")] });
    const { tools, _meta } = await listing;
    expect(names(tools)).toEqual(["slow__read", "slow__added", "quick__go", "unseen__go"]);
    expect(_meta).toBeUndefined();
  });

  test("is not listed any more when its start has failed, and callers that listen are told", async () => {
    await see();
    await using world = await open({ backoff: { firstMs: 600_000, longestMs: 600_000 } });
    const changes: Notification[] = [];
    const onChange = (change: Notification) => changes.push(change);
    const request = { principal: ANYBODY, owner: "me", capabilities: {}, onChange };
    await world.core.listen({ ...request, view: ALL, interests: { lists: ["tools"] } });
    await expect.poll(() => world.host.find("quick")?.state.kind).toBe("ready");
    await expect.poll(() => changes.length).toBe(1);
    expect(names((await ask(world, "tools/list"))["tools"])).toEqual([...TOOLS, "quick__go"]);
    gate.pass("slow", null);
    await expect.poll(() => world.host.find("slow")?.state.kind).toBe("failed");
    await expect.poll(() => changes.length).toBe(2);
    const { tools, _meta } = await ask(world, "tools/list");
    expect(names(tools)).toEqual(["quick__go"]);
    expect(_meta).toMatchObject({ "dev.nexus/unavailable": [{ server: "slow", code: "SERVER_EXITED" }] });
  });

  test("with a changed entry is another server, of which nothing is remembered", async () => {
    await see();
    const slow = { ...gate.entry("slow"), env: { MODE: "other" } };
    await using world = await open({ servers: { slow } }, { firstWaitMs: 0 });
    expect((await ask(world, "tools/list"))["tools"]).toEqual([]);
    gate.pass("slow", LISTS);
  });

  test("is not listed as another tenant saw it with its own login, also where both have one state folder", async () => {
    await see({ tenant: "shop" });
    await using world = await open({ tenant: "bank", servers: { slow: gate.entry("slow") } }, { firstWaitMs: 0 });
    expect((await ask(world, "tools/list"))["tools"]).toEqual([]);
    gate.pass("slow", LISTS);
  });

  test("shows only what the caller may see, in sets as well", async () => {
    await see();
    const sets = new MemorySets({ reading: { allow: ["slow"], tools: { "slow.read": { name: "look" } } } });
    const decide: GatewayCoreOptions["decide"] = (_principal, _operation, { name }) =>
      name === "write" ? { kind: "denied", reason: "no" } : { kind: "allowed" };
    await using world = await open({}, { decide, sets: { source: sets, tenant: "default" } });
    expect(names((await ask(world, "tools/list"))["tools"])).toEqual(expect.arrayContaining(["slow__read"]));
    expect(names((await ask(world, "tools/list"))["tools"])).not.toContain("slow__write");
    const { tools, _meta } = await ask(world, "tools/list", { kind: "set", name: "reading" });
    expect(names(tools)).toEqual(["look"]);
    expect(_meta).toEqual(STARTING);
    gate.pass("slow", LISTS);
  });

  test("shows pinned definitions only where it is known that they were accepted", async () => {
    await see();
    const servers = { slow: { ...gate.entry("slow"), pin: true } };
    await using world = await open({ servers, definitions: new MemoryLedger() });
    expect((await ask(world, "tools/list"))["tools"]).toEqual([]);
    gate.pass("slow", LISTS);
    await world.host.ready();
    await expect.poll(async () => names((await ask(world, "tools/list"))["tools"])).toEqual(TOOLS);
  });
});

describe("what is remembered of servers", () => {
  test("is in files that only their owner can read, and not kept if it repeats a secret", async () => {
    const servers = {
      open: { ...gate.entry("open"), env: { API_TOKEN: "not-to-be-kept" } },
      telling: { ...gate.entry("telling"), env: { API_TOKEN: "not-to-be-kept" } },
    };
    gate.pass("open", LISTS);
    gate.pass("telling", { tools: [tool("who", { description: "Uses not-to-be-kept" })] });
    const world = await openCore({ servers, stateFolder });
    await world.host.ready();
    await world[Symbol.asyncDispose]();
    const folder = join(stateFolder, "lists");
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    const file = join(folder, files[0] ?? "");
    const text = await readFile(file, "utf8");
    expect(JSON.parse(text)).toMatchObject({ lists: LISTS });
    expect(text).not.toContain("not-to-be-kept");
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

describe("nexus serve --stdio", () => {
  let world: NexusWorld;
  beforeAll(async () => {
    world = await NexusWorld.open();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a client of the official SDK gets everything at its first list, and at once after a restart", async () => {
    gate.pass("quick", { tools: [tool("go")] });
    await world.configure({ slow: gate.entry("slow"), quick: gate.entry("quick") });
    const env = { PATH: process.env["PATH"] ?? "", HOME: world.home, USERPROFILE: world.home };
    const args = [PROGRAM, "serve", "--stdio"];
    const connect = async () => {
      const client = new Client({ name: "once", version: "1" });
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, env, cwd: world.project, stderr: "ignore" }),
      );
      return client;
    };
    const first = await connect();
    const listing = first.listTools();
    gate.pass("slow", LISTS);
    // In the order of the names, as files of the user are read.
    expect(names((await listing).tools)).toEqual(["quick__go", ...TOOLS]);
    await first.close();
    gate.hold("slow");
    const second = await connect();
    const { tools, _meta } = await second.listTools();
    expect(names(tools)).toEqual(["quick__go", ...TOOLS]);
    expect(_meta?.["dev.nexus/starting"]).toEqual(expect.arrayContaining(STARTING["dev.nexus/starting"]));
    const call = second.callTool({ name: "slow__read", arguments: {} });
    gate.pass("slow", LISTS);
    expect(await call).toMatchObject({ content: [{ text: "slow did read" }] });
    await second.close();
  });
});
