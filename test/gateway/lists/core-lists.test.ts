import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GatewayCoreOptions } from "../../../src/gateway/gateway-core.ts";
import type { View } from "../../../src/gateway/names/view.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import { callerErrorOf } from "../../../src/gateway/operation/caller-error.ts";
import type { Host, HostEntry, HostOptions, Params } from "../../../src/index.ts";
import { failure } from "../../fixtures/failure.ts";
import { bareServer } from "../../fixtures/servers/bare-server.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { ALL, exchangeOf, one, openCore, type CoreWorld } from "./core-world.ts";

const LEGACY = ["--revision", "2025-11-25"];
const MODERN = ["--revision", "2026-07-28"];

/** A server that went away stays away. */
const SLOW = { firstMs: 60_000, longestMs: 60_000 };

let stateFolder: string;
let shared: CoreWorld;
let http: HttpFixture;

beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-core-lists-"));
  http = await startHttpFixture({ revision: "2026-07-28", pageSize: 3 });
  shared = await world({
    web: { url: http.url },
    modern: { ...stdioFixture([...MODERN, "--page-size", "4"]), name: "The Modern One" },
    legacy: { ...stdioFixture(LEGACY), tools: { deny: ["crash", "test_*"] } },
  });
  await shared.host.ready();
});
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  await http.close();
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

function world(
  servers: Record<string, HostEntry>,
  options?: Partial<GatewayCoreOptions>,
  more?: HostOptions,
): Promise<CoreWorld> {
  return openCore({ servers, stateFolder, ...more }, options);
}

/** Ends the host's own process of a server, and waits until the host knows. */
async function endProcess(of: Host, server: string): Promise<void> {
  {
    using lease = await of.lease(server);
    process.kill(lease.client.pid ?? 0, "SIGKILL");
  }
  await expect.poll(() => of.servers().find(({ id }) => id === server)?.state.kind).toBe("failed");
}

const ask = (view: View, method: string, params?: Params) => shared.core.handle(exchangeOf(view, method, params));
const names = (items: unknown, member = "name") => (items as Params[]).map((item) => String(item[member]));

async function everyPage(view: View, method: string, member: string, of = shared.core): Promise<Params[]> {
  const items: Params[] = [];
  for (let cursor: unknown; ;) {
    const page = await of.handle(exchangeOf(view, method, cursor === undefined ? {} : { cursor }));
    items.push(...(page[member] as Params[]));
    if (page["nextCursor"] === undefined) return items;
    cursor = page["nextCursor"];
  }
}

describe("all servers together", () => {
  test("are listed in the order of the configuration, each name with its server (X1, G2)", async () => {
    const { tools, resultType } = await ask(ALL, "tools/list");
    expect(resultType).toBe("complete");
    const listed = names(tools);
    expect(listed).toContain("web__echo");
    expect([...new Set(listed.map((name) => name.split("__")[0]))]).toEqual(["web", "modern", "legacy"]);
    expect(names((await ask(ALL, "prompts/list"))["prompts"])).toContain("modern__test_simple_prompt");
    expect(names((await ask(ALL, "resources/list"))["resources"], "uri")).toContain("legacy+test://static-text");
    const { resourceTemplates } = await ask(ALL, "resources/templates/list");
    expect(names(resourceTemplates, "uriTemplate")).toEqual([
      "web+test://template/{id}/data",
      "modern+test://template/{id}/data",
      "legacy+test://template/{id}/data",
    ]);
  });

  test("are as fresh as the least of them, and private if one is", async () => {
    expect(await ask(ALL, "tools/list")).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    await using only = await world({ web: { url: http.url } });
    await only.host.ready();
    expect(await only.core.handle(exchangeOf(ALL, "tools/list"))).toMatchObject({ ttlMs: 0, cacheScope: "public" });
  });

  test("come on pages of ours whose cursors are good for the same list alone", async () => {
    await using small = await world({ a: stdioFixture(LEGACY), b: stdioFixture(LEGACY) }, { pageSize: 7 });
    await small.host.ready();
    const all = await everyPage(ALL, "tools/list", "tools", small.core);
    expect(new Set(names(all)).size).toBe(all.length);
    expect(names(all)).toEqual(small.host.tools().map(({ server, tool }) => `${server}__${tool.name}`));
    const { nextCursor } = await small.core.handle(exchangeOf(ALL, "tools/list"));
    for (const [view, method, cursor] of [
      [ALL, "prompts/list", nextCursor],
      [one("a"), "tools/list", nextCursor],
      [ALL, "tools/list", `${String(nextCursor)}A`],
      [ALL, "tools/list", "2"],
      [ALL, "tools/list", 7],
    ] as const) {
      const error = await failure(small.core.handle(exchangeOf(view, method, { cursor })));
      expect(callerErrorOf(error)).toMatchObject({ code: -32602 });
    }
    const stranger = { ...exchangeOf(ALL, "tools/list", { cursor: nextCursor }), principal: { ...ANYBODY, id: "you" } };
    expect(callerErrorOf(await failure(small.core.handle(stranger)))).toMatchObject({ code: -32602 });
  });

  test("a cursor into a server that is gone says so", async () => {
    await using small = await world({ a: stdioFixture(LEGACY), b: stdioFixture(LEGACY) }, { pageSize: 7 });
    const { nextCursor } = await small.core.handle(exchangeOf(ALL, "tools/list"));
    await small.host.setServers({ b: stdioFixture(LEGACY) });
    const error = await failure(small.core.handle(exchangeOf(ALL, "tools/list", { cursor: nextCursor })));
    expect(callerErrorOf(error)).toMatchObject({
      code: -32602,
      message: expect.stringContaining("Start again") as string,
    });
  });

  test("one that failed is named with the reason, and the rest is there (N9)", async () => {
    await using partly = await world({
      dying: stdioFixture(["--misbehave", "die-at-start"]),
      good: stdioFixture(LEGACY),
    });
    await partly.host.ready();
    const { tools, ttlMs } = await partly.core.handle(exchangeOf(ALL, "tools/list"));
    expect(names(tools)).toContain("good__echo");
    expect(ttlMs).toBe(0);
    // While it is tried again, nobody knows when the next try is.
    const told = async () => (await partly.core.handle(exchangeOf(ALL, "tools/list")))["_meta"];
    await expect.poll(told).toEqual({
      "dev.nexus/unavailable": [
        {
          server: "dying",
          code: "SERVER_EXITED",
          reason: `Server "dying" stopped`,
          retryAfterMs: expect.any(Number) as number,
          correlationId: expect.any(String) as string,
        },
      ],
    });
  });

  test("a slow one is waited for no longer than agreed, once for everybody, and is there when it answers (N9)", async () => {
    const slow = stdioFixture([...LEGACY, "--misbehave", "slow-start", "--delay", "3000"]);
    await using partly = await world({ slow, good: stdioFixture(LEGACY) }, { waitMs: 300 });
    await expect.poll(() => partly.host.find("good")?.state.kind).toBe("ready");
    const { tools, _meta } = await partly.core.handle(exchangeOf(ALL, "tools/list"));
    expect(names(tools).some((name) => name.startsWith("slow__"))).toBe(false);
    expect(_meta).toEqual({
      "dev.nexus/unavailable": [
        {
          server: "slow",
          code: "TIMEOUT",
          reason: `Server "slow" did not answer in time`,
          correlationId: expect.any(String) as string,
        },
      ],
    });
    await partly.host.ready();
    await expect
      .poll(async () => names((await partly.core.handle(exchangeOf(ALL, "tools/list")))["tools"]))
      .toContain("slow__echo");
  });

  test("the last list of one that went away is shown with its age (N9)", async () => {
    await using partly = await world({ kit: stdioFixture(LEGACY) }, {}, { backoff: SLOW });
    await partly.host.ready();
    const before = await partly.core.handle(exchangeOf(ALL, "tools/list"));
    expect(before._meta).toBeUndefined();
    await endProcess(partly.host, "kit");
    const { tools, ttlMs, _meta } = await partly.core.handle(exchangeOf(ALL, "tools/list"));
    expect(tools).toEqual(before["tools"]);
    expect(ttlMs).toBe(0);
    expect(_meta).toEqual({
      "dev.nexus/unavailable": [
        {
          server: "kit",
          code: "SERVER_EXITED",
          reason: `Server "kit" stopped`,
          ageMs: expect.any(Number) as number,
          retryAfterMs: expect.any(Number) as number,
          correlationId: expect.any(String) as string,
        },
      ],
    });
  });

  test("one that is switched off is not there, and nothing is said to be missing", async () => {
    await using partly = await world({ off: { ...stdioFixture(LEGACY), enabled: false }, on: stdioFixture(LEGACY) });
    await partly.host.ready();
    const { tools, _meta } = await partly.core.handle(exchangeOf(ALL, "tools/list"));
    expect(names(tools).every((name) => name.startsWith("on__"))).toBe(true);
    expect(_meta).toBeUndefined();
  });

  test("one without a list is not asked for it", async () => {
    const script = join(stateFolder, "bare.mjs");
    const valid = { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } };
    const broken = { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } };
    const tools = [
      { name: "good", inputSchema: valid },
      { name: "broken", inputSchema: broken },
      { name: "good", inputSchema: {} },
      { inputSchema: {} },
    ];
    await writeFile(script, bareServer(tools));
    await using bare = await world({ bare: { command: process.execPath, args: [script] } });
    await bare.host.ready();
    const { prompts, _meta, ttlMs } = await bare.core.handle(exchangeOf(ALL, "prompts/list"));
    expect([prompts, _meta, ttlMs]).toEqual([[], undefined, 0]);
    // Tools whose header annotations break the rules are left out; of two with one name the first one is used.
    for (const [view, prefix] of [
      [ALL, "bare__"],
      [one("bare"), ""],
    ] as const) {
      const listed = await bare.core.handle(exchangeOf(view, "tools/list"));
      expect(names(listed["tools"])).toEqual([`${prefix}good`]);
      expect(await bare.core.paramHeaders(exchangeOf(view, "tools/call", { name: `${prefix}good` }))).toEqual([
        { header: "Mcp-Param-A", path: ["a"], type: "string" },
      ]);
      expect(await bare.core.paramHeaders(exchangeOf(view, "tools/call", { name: `${prefix}broken` }))).toEqual([]);
    }
    expect(callerErrorOf(await failure(bare.core.handle(exchangeOf(one("bare"), "prompts/list"))))).toMatchObject({
      code: -32601,
    });
  });
});

test("a page that ended in a server that has less by now goes on with the next one, and skips nothing", async () => {
  const servers = { a: stdioFixture(LEGACY), b: stdioFixture(LEGACY) };
  await using it = await world(servers, { pageSize: 7 });
  await it.host.ready();
  const { nextCursor } = await it.core.handle(exchangeOf(ALL, "tools/list"));
  const script = join(stateFolder, "less.mjs");
  await writeFile(script, bareServer([{ name: "only", inputSchema: { type: "object" } }]));
  await it.host.setServers({ ...servers, a: { command: process.execPath, args: [script] } });
  const { tools } = await it.core.handle(exchangeOf(ALL, "tools/list", { cursor: nextCursor }));
  const ofB = it.host.tools().filter(({ server }) => server === "b");
  expect(names(tools)).toEqual(ofB.slice(0, 7).map(({ tool }) => `b__${tool.name}`));
});

describe("one server", () => {
  test("lists what it has under its own names, page by page, with cursors of ours", async () => {
    const first = await ask(one("modern"), "tools/list");
    expect(first).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "public" });
    expect(first["tools"]).toHaveLength(4);
    expect(first["nextCursor"]).not.toBe("");
    const listed = names(await everyPage(one("modern"), "tools/list", "tools"));
    const { tools } = await ask(ALL, "tools/list");
    expect(listed.map((name) => `modern__${name}`)).toEqual(names(tools).filter((name) => name.startsWith("modern__")));
  });

  test("a legacy one's lists come in the form of the newest specification", async () => {
    const { tools, ...rest } = await ask(one("legacy"), "tools/list");
    expect(rest).toEqual({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
    expect((tools as Params[]).some((tool) => "execution" in tool)).toBe(false);
  });

  test("that does not exist is said not to", async () => {
    for (const method of ["tools/list", "tools/call", "skills/list"]) {
      const error = await failure(ask(one("legcay"), method, { name: "x" }));
      expect(callerErrorOf(error)).toMatchObject({
        code: -32602,
        message: `There is no server "legcay". Did you mean "legacy"?`,
      });
    }
  });
});

describe("what an entry denies", () => {
  test("is neither listed nor called, on either endpoint (R8)", async () => {
    for (const [view, prefix] of [
      [ALL, "legacy__"],
      [one("legacy"), ""],
    ] as const) {
      const listed = names((await ask(view, "tools/list"))["tools"]).filter((name) => name.startsWith(prefix));
      expect(listed).toContain(`${prefix}echo`);
      expect(listed.filter((name) => /^(legacy__)?(test_|crash)/.test(name))).toEqual([]);
      const error = await failure(ask(view, "tools/call", { name: `${prefix}crash` }));
      expect(error).toMatchObject({ code: "NAME_UNKNOWN" });
    }
  });

  test("somebody may be allowed less than others, for listing and using alike (R8)", async () => {
    await using narrow = await world(
      { kit: stdioFixture(LEGACY) },
      {
        decide: (_principal, _operation, { kind, name }) =>
          kind === "tool" && name !== "echo" ? { kind: "denied", reason: "not for you" } : { kind: "allowed" },
      },
    );
    const listed = await narrow.core.handle(exchangeOf(ALL, "tools/list"));
    expect(listed).toMatchObject({ tools: [{ name: "kit__echo" }], cacheScope: "private" });
    const error = await failure(narrow.core.handle(exchangeOf(ALL, "tools/call", { name: "kit__add_numbers" })));
    expect(error.message).toBe(`There is no tool "kit__add_numbers"`);
    expect(names((await narrow.core.handle(exchangeOf(one("kit"), "prompts/list")))["prompts"])).not.toEqual([]);
  });
});

describe("names", () => {
  const call = (name: string, args: Params = {}) => ask(ALL, "tools/call", { name, arguments: args });

  test("lead to their server, and results come back with full names (X1)", async () => {
    for (const server of ["web", "modern", "legacy"]) {
      expect(await call(`${server}__echo`, { text: server })).toMatchObject({ content: [{ text: server }] });
      const read = await ask(ALL, "resources/read", { uri: `${server}+test://static-text` });
      expect(read).toMatchObject({ contents: [{ uri: `${server}+test://static-text` }] });
      const prompt = { name: `${server}__test_prompt_with_embedded_resource`, arguments: { resourceUri: "test://x" } };
      expect(await ask(ALL, "prompts/get", prompt)).toMatchObject({
        messages: [{ content: { resource: { uri: `${server}+test://x` } } }, {}],
      });
      const argument = { name: "id", value: "12" };
      const ref = { type: "ref/resource", uri: `${server}+test://template/{id}/data` };
      expect(await ask(ALL, "completion/complete", { ref, argument })).toMatchObject({
        completion: { values: ["123", "124"] },
      });
      const promptRef = { type: "ref/prompt", name: `${server}__test_prompt_with_arguments` };
      const promptArgument = { name: "arg1", value: "tes" };
      expect(await ask(ALL, "completion/complete", { ref: promptRef, argument: promptArgument })).toMatchObject({
        completion: { values: ["test", "testing"] },
      });
    }
    expect(await call("web__test_embedded_resource")).toMatchObject({
      content: [{ resource: { uri: "web+test://embedded-resource" } }],
    });
    expect(await ask(one("web"), "tools/call", { name: "test_embedded_resource" })).toMatchObject({
      content: [{ resource: { uri: "test://embedded-resource" } }],
    });
  });

  test("that mean nothing are answered with what may have been meant (P1.9)", async () => {
    await ask(ALL, "tools/list");
    await ask(ALL, "resources/list");
    for (const [method, params, message] of [
      ["tools/call", { name: "wb__echo" }, `There is no tool "wb__echo". Did you mean "web__echo"?`],
      ["tools/call", { name: "echo" }, `There is no tool "echo"`],
      ["tools/call", {}, `"name" must be a string`],
      ["prompts/get", { name: "nothing__like_it_at_all" }, `There is no prompt "nothing__like_it_at_all"`],
      [
        "resources/read",
        { uri: "weg+test://static-text" },
        `There is no resource "weg+test://static-text". Did you mean "web+test://static-text"?`,
      ],
      ["completion/complete", { ref: { type: "ref/other" } }, `"ref" is not a prompt or a resource`],
    ] as const) {
      const error = callerErrorOf(await failure(ask(ALL, method, params)));
      expect(error).toMatchObject({ code: -32602, message });
    }
  });

  test("methods of extensions go to a server's own endpoint, and never what is between neighbours", async () => {
    expect(await ask(one("web"), "skills/list")).toMatchObject({ resultType: "complete" });
    expect(callerErrorOf(await failure(ask(ALL, "skills/list")))).toMatchObject({ code: -32601 });
    for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe", "server/discover"]) {
      expect(callerErrorOf(await failure(ask(one("legacy"), method)))).toMatchObject({ code: -32601 });
    }
  });

  test("arguments that travel as headers are known before the first call", async () => {
    const headers = await shared.core.paramHeaders(exchangeOf(ALL, "tools/call", { name: "web__test_param_headers" }));
    expect(headers.map(({ header }) => header)).toContain("Mcp-Param-Region");
    expect(
      await shared.core.paramHeaders(exchangeOf(one("modern"), "tools/call", { name: "test_param_headers" })),
    ).toEqual(headers);
    expect(await shared.core.paramHeaders(exchangeOf(ALL, "tools/call", { name: "web__echo" }))).toEqual([]);
    expect(await shared.core.paramHeaders(exchangeOf(ALL, "tools/call", { name: "nobody__echo" }))).toEqual([]);
  });
});

describe("arguments that travel as headers", () => {
  test("are refused to be guessed: where the tools cannot be read, it is told why", async () => {
    await using it = await world({ gone: { command: "nexus-no-such-command" } });
    const asked = async () => it.core.paramHeaders(exchangeOf(one("gone"), "tools/call", { name: "search" }));
    expect(await failure(asked())).toMatchObject({ code: "COMMAND_NOT_FOUND" });
  });

  test("stay known while the server is away", async () => {
    await using it = await world({ kit: stdioFixture(MODERN) }, {}, { backoff: SLOW });
    await it.host.ready();
    const asked = async () => it.core.paramHeaders(exchangeOf(ALL, "tools/call", { name: "kit__test_param_headers" }));
    const before = await asked();
    expect(before.length).toBeGreaterThan(0);
    await endProcess(it.host, "kit");
    await it.host.toggle("kit", false);
    expect(await asked()).toEqual(before);
  });
});

describe("what is offered", () => {
  test("by all servers is always the same, with the extensions that one of them has", async () => {
    const offer = await shared.core.offer(ALL, ANYBODY);
    expect(offer).toMatchObject({
      serverInfo: { name: "nexus" },
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
      ttlMs: 0,
      cacheScope: "private",
    });
    expect(offer.instructions).toContain("web, modern (The Modern One), legacy");
    await using empty = await world({});
    const { capabilities, instructions } = await empty.core.offer(ALL, ANYBODY);
    expect([capabilities["extensions"], instructions]).toEqual([undefined, undefined]);
  });

  test("by one server is its own, in the form of the newest specification", async () => {
    const { capabilities, instructions, serverInfo } = await shared.core.offer(one("legacy"), ANYBODY);
    expect(capabilities).toMatchObject({ extensions: { "io.modelcontextprotocol/tasks": {} }, completions: {} });
    expect(capabilities).not.toHaveProperty("tasks");
    expect(instructions).toContain("A server for tests");
    expect(serverInfo).toEqual({ name: "everything", title: "Everything", version: "1.0.0" });
    expect(await shared.core.offer(one("web"), ANYBODY)).toMatchObject({
      capabilities: { extensions: { "io.modelcontextprotocol/skills": {} } },
    });
  });

  test("of a server with a process for each call is read with one process, not one for each question", async () => {
    const transcript = join(stateFolder, "per-call.jsonl");
    const kit = { ...stdioFixture([...LEGACY, "--transcript", transcript]), isolation: "call" as const };
    await using perCall = await world({ kit });
    await perCall.host.ready();
    const starts = async () => (await readFile(transcript, "utf8")).split(`"method":"initialize"`).length - 1;
    expect(names((await perCall.core.handle(exchangeOf(ALL, "tools/list")))["tools"])).toContain("kit__echo");
    const before = await starts();
    for (let i = 0; i < 3; i++) {
      await perCall.core.offer(one("kit"), ANYBODY);
      await perCall.core.offer(ALL, ANYBODY);
      await perCall.core.handle(exchangeOf(ALL, "tools/list"));
      await perCall.core.paramHeaders(exchangeOf(ALL, "tools/call", { name: "kit__echo" }));
    }
    expect(await starts()).toBe(before);
  });

  test("by one that cannot be reached is its error, with the cause", async () => {
    await using away = await world({ gone: { command: "nexus-no-such-command" } });
    expect(await failure(away.core.offer(one("gone"), ANYBODY))).toMatchObject({ code: "COMMAND_NOT_FOUND" });
    await shared.core.offer(one("modern"), ANYBODY);
    await shared.host.toggle("modern", false);
    expect(await failure(shared.core.offer(one("modern"), ANYBODY))).toMatchObject({ code: "DENIED" });
    await shared.host.toggle("modern", true);
    expect(await shared.core.offer(one("modern"), ANYBODY)).toMatchObject({ serverInfo: { title: "Everything" } });
    const error = await failure(away.core.handle(exchangeOf(ALL, "tools/call", { name: "gone__x" })));
    expect(error).toMatchObject({ code: "COMMAND_NOT_FOUND" });
  });
});
