import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GatewayCore } from "../../../src/gateway/gateway-core.ts";
import type { GatewayListenRequest, View } from "../../../src/gateway/names/view.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import type { HostEntry, Interests, Notification, Params } from "../../../src/index.ts";
import { failure } from "../../fixtures/failure.ts";
import { childrenOf } from "../../fixtures/processes.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { ALL, exchangeOf, one, openCore } from "./core-world.ts";

const LEGACY = ["--revision", "2025-11-25"];
const MODERN = ["--revision", "2026-07-28"];
const LISTS = ["tools", "prompts", "resources"] as const;

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-core-listening-"));
});
afterAll(async () => {
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

async function world(servers: Record<string, HostEntry>) {
  const opened = await openCore({ servers, stateFolder });
  await opened.host.ready();
  const call = (view: View, name: string, args: Params = {}) =>
    opened.core.handle(exchangeOf(view, "tools/call", { name, arguments: args }));
  return { ...opened, call };
}

/** Listens, and keeps what it heard. */
async function listen(core: GatewayCore, view: View, interests: Interests, more: Partial<GatewayListenRequest> = {}) {
  const heard: Notification[] = [];
  const listening = await core.listen({
    view,
    principal: ANYBODY,
    owner: "me",
    capabilities: {},
    interests,
    onChange: (notification) => heard.push(notification),
    ...more,
  });
  return {
    heard,
    listening,
    methods: () => heard.map(({ method }) => method),
    uris: () => heard.flatMap(({ params }) => params?.["uri"] ?? []),
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

const everyServer = async (run: (servers: Record<string, HostEntry>) => Promise<void>) => {
  await using http = await startHttpFixture({ revision: "2026-07-28" });
  await using legacyHttp = await startHttpFixture({ revision: "2025-11-25" });
  await run({
    web: { url: http.url },
    oldweb: { url: legacyHttp.url },
    modern: stdioFixture(MODERN),
    legacy: stdioFixture(LEGACY),
  });
};

describe("changes of lists", () => {
  test("of every server are told, and the new list is there by then (X2)", async () => {
    await everyServer(async (servers) => {
      await using it = await world(servers);
      await using all = await listen(it.core, ALL, { lists: LISTS });
      expect(all.listening.accepted).toEqual({ lists: LISTS, resources: [], tasks: [] });
      for (const server of ["web", "oldweb"]) {
        const { heard } = all;
        heard.length = 0;
        await it.core.handle(exchangeOf(ALL, "tools/list"));
        await it.call(ALL, `${server}__test_trigger_tool_change`);
        // Two connections may tell of it, and on a busy machine not at the same time.
        const told = () => [...new Set(all.methods())];
        await expect.poll(told).toEqual(["notifications/tools/list_changed"]);
        const { tools } = await it.core.handle(exchangeOf(ALL, "tools/list"));
        expect((tools as Params[]).map(({ name }) => name)).toContain(`${server}__extra_tool`);
        await it.call(ALL, `${server}__test_trigger_prompt_change`);
        await expect.poll(told).toEqual(["notifications/tools/list_changed", "notifications/prompts/list_changed"]);
      }
    });
  });

  test("that a caller's own process tells are told to that caller alone, from its first call on (X2)", async () => {
    await using it = await world({ modern: stdioFixture(MODERN), legacy: stdioFixture(LEGACY) });
    for (const server of ["modern", "legacy"]) {
      await using mine = await listen(it.core, one(server), { lists: LISTS });
      await using all = await listen(it.core, ALL, { lists: LISTS });
      await using other = await listen(it.core, ALL, { lists: LISTS }, { owner: "you" });
      await it.call(one(server), "test_trigger_prompt_change");
      await expect.poll(mine.methods).toEqual(["notifications/prompts/list_changed"]);
      await expect.poll(all.methods).toEqual(["notifications/prompts/list_changed"]);
      expect(other.heard).toEqual([]);
      const { prompts } = await it.core.handle(exchangeOf(one(server), "prompts/list"));
      expect((prompts as Params[]).map(({ name }) => name)).toContain("extra_prompt");
    }
  });

  test("that a caller's own process told are in the list of all, for that caller alone, until it ends (X2)", async () => {
    await using it = await world({ modern: stdioFixture(MODERN), legacy: stdioFixture(LEGACY) });
    const promptsOf = async (owner: string) => {
      const list = await it.core.handle(exchangeOf(ALL, "prompts/list", {}, { owner }));
      return { names: (list["prompts"] as Params[]).map(({ name }) => name), list };
    };
    for (const server of ["modern", "legacy"]) {
      await using mine = await listen(it.core, ALL, { lists: LISTS });
      await it.call(ALL, `${server}__test_trigger_prompt_change`);
      await expect.poll(mine.methods).toEqual(["notifications/prompts/list_changed"]);
      const own = await promptsOf("me");
      expect(own.names).toContain(`${server}__extra_prompt`);
      expect(own.list).toMatchObject({ cacheScope: "private" });
      expect((await promptsOf("you")).names).not.toContain(`${server}__extra_prompt`);
      await failure(it.call(ALL, `${server}__crash`));
      expect((await promptsOf("me")).names).not.toContain(`${server}__extra_prompt`);
    }
  });

  test("are told as far as they were asked for", async () => {
    await using http = await startHttpFixture({ revision: "2026-07-28" });
    await using it = await world({ web: { url: http.url }, other: stdioFixture(LEGACY) });
    await using tools = await listen(it.core, ALL, { lists: ["tools"] });
    await using other = await listen(it.core, one("other"), { lists: LISTS });
    await it.call(ALL, "web__test_trigger_prompt_change");
    await it.call(ALL, "web__test_trigger_resource_change");
    await it.call(ALL, "web__test_trigger_tool_change");
    await expect.poll(tools.methods).toEqual(["notifications/tools/list_changed"]);
    expect(other.heard).toEqual([]);
    await tools.listening.update({ lists: ["prompts"] });
    await it.call(ALL, "web__test_trigger_tool_change");
    await it.call(ALL, "web__test_trigger_prompt_change");
    await expect.poll(tools.methods).toContain("notifications/prompts/list_changed");
    expect(tools.heard).toHaveLength(2);
  });

  test("a server that comes, goes, or is started anew changes the lists of all (N9)", async () => {
    await using it = await world({ kit: stdioFixture(LEGACY) });
    await using all = await listen(it.core, ALL, { lists: LISTS });
    const changed = LISTS.map((list) => `notifications/${list}/list_changed`);
    const toldAll = async () => {
      await expect.poll(() => all.methods().sort()).toEqual([...changed].sort());
      all.heard.length = 0;
    };
    await it.host.setServers({ kit: stdioFixture(LEGACY), more: stdioFixture(LEGACY) });
    await toldAll();
    await it.host.setServers({ kit: stdioFixture(LEGACY) });
    await toldAll();
    await it.host.toggle("kit", false);
    await toldAll();
    await it.host.toggle("kit", true);
    await toldAll();
    using lease = await it.host.lease("kit");
    process.kill(lease.client.pid ?? 0, "SIGKILL");
    await toldAll();
  });
});

describe("updates of resources", () => {
  test("keep no process of a server that the configuration disables, and come again when it is enabled", async () => {
    const servers = { modern: stdioFixture(MODERN), legacy: stdioFixture(LEGACY) };
    const before = childrenOf(process.pid);
    await using it = await world(servers);
    const started = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
    const resources = ["modern", "legacy"].map((id) => `${id}+test://watched-resource`);
    await using all = await listen(it.core, ALL, { resources });
    expect(all.listening.accepted.resources).toEqual(resources);
    const off = Object.entries(servers).map(([id, entry]) => [id, { ...entry, enabled: false }]);
    await it.host.setServers(Object.fromEntries(off) as Record<string, HostEntry>);
    await expect.poll(started).toEqual([]);
    await it.host.setServers(servers);
    // What may have changed meanwhile is told once.
    await expect.poll(() => all.uris().map(String).sort()).toEqual([...resources].sort());
    for (const id of Object.keys(servers))
      await it.call(ALL, `${id}__update_resource`, { uri: "test://watched-resource" });
    await expect.poll(() => all.uris().map(String).sort()).toEqual([...resources, ...resources].sort());
  });

  test("come from every server in the caller's names, once (X2)", async () => {
    await everyServer(async (servers) => {
      await using it = await world(servers);
      const ids = Object.keys(servers);
      const resources = ids.map((id) => `${id}+test://watched-resource`);
      await using all = await listen(it.core, ALL, { resources: [...resources, "nobody+test://x", "test://x"] });
      expect(all.listening.accepted.resources).toEqual(resources);
      for (const id of ids) await it.call(ALL, `${id}__update_resource`, { uri: "test://watched-resource" });
      await expect.poll(() => all.uris().map(String).sort()).toEqual([...resources].sort());
      for (const { params } of all.heard) expect(params).not.toHaveProperty("_meta");
      await using mine = await listen(it.core, one("legacy"), { resources: ["test://watched-resource"] });
      expect(mine.listening.accepted.resources).toEqual(["test://watched-resource"]);
      await it.call(one("legacy"), "update_resource", { uri: "test://watched-resource" });
      await expect.poll(mine.uris).toEqual(["test://watched-resource"]);
    });
  });

  test("of a caller's own process are nobody else's", async () => {
    await using it = await world({ legacy: stdioFixture(LEGACY) });
    const resources = ["legacy+test://watched-resource"];
    await using mine = await listen(it.core, ALL, { resources });
    await using yours = await listen(it.core, ALL, { resources }, { owner: "you" });
    await it.call(ALL, "legacy__update_resource", { uri: "test://watched-resource" });
    await expect.poll(mine.uris).toEqual(resources);
    expect(yours.heard).toEqual([]);
  });

  test("that somebody may not read are not told to that one either (R8)", async () => {
    const servers = { legacy: stdioFixture(LEGACY) };
    await using it = await openCore(
      { servers, stateFolder },
      {
        decide: (_, __, { name }) =>
          name === "test://static-text" ? { kind: "denied", reason: "secret" } : { kind: "allowed" },
      },
    );
    const resources = ["legacy+test://static-text", "legacy+test://watched-resource"];
    await using all = await listen(it.core, ALL, { resources });
    expect(all.listening.accepted.resources).toEqual(["legacy+test://watched-resource"]);
    await using own = await listen(it.core, one("legacy"), { resources: ["test://static-text"] });
    expect(own.listening.accepted.resources).toEqual([]);
  });

  test("are told to each who listens, until the last of them has stopped", async () => {
    await using it = await world({ legacy: stdioFixture(LEGACY) });
    const resources = ["legacy+test://watched-resource"];
    const update = () => it.call(ALL, "legacy__update_resource", { uri: "test://watched-resource" });
    await using first = await listen(it.core, ALL, { resources });
    await using second = await listen(it.core, ALL, { resources });
    await update();
    await expect.poll(() => [first.uris(), second.uris()]).toEqual([resources, resources]);
    await first.listening.close();
    await update();
    await expect.poll(second.uris).toEqual([...resources, ...resources]);
    expect(first.uris()).toEqual(resources);
  });

  test("interests can change, and end with the listening", async () => {
    await using it = await world({ legacy: stdioFixture(LEGACY) });
    await using all = await listen(it.core, ALL, { resources: ["legacy+test://static-text"] });
    await all.listening.update({ resources: ["legacy+test://watched-resource"] });
    expect(all.listening.accepted.resources).toEqual(["legacy+test://watched-resource"]);
    await it.call(ALL, "legacy__update_resource", { uri: "test://static-text" });
    await it.call(ALL, "legacy__update_resource", { uri: "test://watched-resource" });
    await expect.poll(all.uris).toEqual(["legacy+test://watched-resource"]);
    await all.listening.close();
    await it.call(ALL, "legacy__update_resource", { uri: "test://watched-resource" });
    expect(all.heard).toHaveLength(1);
  });

  test("go on after the server died, and what may have been missed is told (N9)", async () => {
    await using it = await world({ legacy: stdioFixture(LEGACY), modern: stdioFixture(MODERN) });
    for (const server of ["legacy", "modern"]) {
      const uri = `${server}+test://watched-resource`;
      await using all = await listen(it.core, ALL, { resources: [uri] });
      await failure(it.call(ALL, `${server}__crash`));
      await expect.poll(all.uris).toEqual([uri]);
      await it.call(ALL, `${server}__update_resource`, { uri: "test://watched-resource" });
      await expect.poll(all.uris).toEqual([uri, uri]);
    }
  });

  test("of a server that is away are not agreed to; alone it says why", async () => {
    await using it = await world({ gone: { command: "nexus-no-such-command" } });
    await using all = await listen(it.core, ALL, { lists: ["tools"], resources: ["gone+test://x"] });
    expect(all.listening.accepted).toEqual({ lists: ["tools"], resources: [], tasks: [] });
    const request = listen(it.core, one("gone"), { lists: ["tools"] });
    expect(await failure(request)).toMatchObject({ code: "COMMAND_NOT_FOUND" });
    expect(await failure(listen(it.core, one("nobody"), {}))).toMatchObject({ code: "NAME_UNKNOWN" });
  });
});

describe("changes of tasks", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: { form: {} } };

  test("are told under the id that the caller knows, and of its own tasks alone (X2)", async () => {
    await using http = await startHttpFixture({ revision: "2026-07-28" });
    await using it = await world({ web: { url: http.url }, modern: stdioFixture(MODERN) });
    for (const server of ["web", "modern"]) {
      const ask = (method: string, params: Params) => it.core.handle(exchangeOf(ALL, method, params, { capabilities }));
      const { resultType, taskId } = await ask("tools/call", { name: `${server}__confirm_delete`, arguments: {} });
      expect(resultType).toBe("task");
      const tasks = [String(taskId)];
      await using mine = await listen(it.core, ALL, { tasks }, { capabilities });
      expect(mine.listening.accepted.tasks).toEqual(tasks);
      const stranger = { capabilities, principal: { ...ANYBODY, id: "you" } };
      await using yours = await listen(it.core, ALL, { tasks: [...tasks, "no-such"] }, stranger);
      expect(yours.listening.accepted.tasks).toEqual([]);
      await expect.poll(() => ask("tasks/get", { taskId })).toMatchObject({ status: "input_required" });
      const { inputRequests } = await ask("tasks/get", { taskId });
      const keys = Object.keys(inputRequests as Params);
      const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: { ok: true } }]));
      await ask("tasks/update", { taskId, inputResponses });
      await expect
        .poll(() => mine.heard.at(-1))
        .toMatchObject({
          method: "notifications/tasks",
          params: { taskId, status: "completed", result: { content: [{ text: "Deleted." }] } },
        });
      expect(yours.heard).toEqual([]);
      const error = await failure(it.core.handle(exchangeOf(one("nobody"), "tasks/get", { taskId }, { capabilities })));
      expect(error).toMatchObject({ code: "NAME_UNKNOWN" });
    }
  });
});
