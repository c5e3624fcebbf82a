import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  agentTools,
  aiSdkTools,
  contextBlocks,
  Host,
  promptCommands,
  type AgentTool,
  type CallToolResult,
  type HostOptions,
  type PolicySettings,
} from "../../src/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { NO_ENTRY_RULES, Policy, type ToolRules } from "../../src/host/directory/policy.ts";
import { modelName, resolveName } from "../../src/host/directory/names.ts";
import { failure } from "../fixtures/failure.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { cpuMsOf } from "../fixtures/cpu-time.ts";

const text = (value: string) => ({ type: "text", text: value });
const RESULTS: Record<string, CallToolResult> = {
  structured: { content: [text('{"sum": 5}')], structuredContent: { sum: 5 }, _meta: { trace: "x" } },
  both: { content: [text("Added.")], structuredContent: { sum: 5 } },
  failed: { content: [text("No such city")], isError: true },
  picture: { content: [text("A cat"), { type: "image", data: "AAAA", mimeType: "image/png" }] },
};

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-registry-"));
});
afterAll(async () => {
  await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
});

async function open(policy: PolicySettings = {}, more: HostOptions = {}): Promise<Host> {
  const host = await Host.open({ servers: { kit: stdioFixture() }, stateFolder, policy, ...more });
  await host.ready();
  return host;
}

test("names for models are short, plain, and depend on server and tool alone (G2)", () => {
  expect(modelName("github", "search")).toBe("mcp__github__search");
  for (const name of ["a.b", "a_b", "a b", "ä", "x".repeat(100)]) {
    expect(modelName("s", name)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  }
  expect(new Set(["a.b", "a_b", "a b", "a/b"].map((name) => modelName("s", name))).size).toBe(4);
});

test("a name is looked up, never split; one that fits two lists both", () => {
  const tools = [
    { server: "a", name: "b.c" },
    { server: "a", name: "x" },
    { server: "b", name: "x" },
  ];
  expect(resolveName("a.b.c", tools, "tool")).toBe(tools[0]);
  expect(resolveName("mcp:a.b.c", tools, "tool")).toBe(tools[0]);
  expect(resolveName(modelName("b", "x"), tools, "tool")).toBe(tools[2]);
  expect(() => resolveName("a.y", tools, "tool")).toThrow(`There is no tool "a.y"`);
  const twins = [
    { server: "a-b", name: "search" },
    { server: "a", name: "x" },
  ];
  const hint = `Did you mean "a-b.search"?`;
  expect(() => resolveName("a-b.serach", twins, "tool")).toThrow(expect.objectContaining({ hint }));
});

test("every tool is native to the agent, with its schema and annotations, and executes (N10, G2)", async () => {
  await using host = await open();
  const tools = agentTools(host);
  const add = tools.find(({ name }) => name === "mcp__kit__add_numbers");
  expect(add).toMatchObject({
    description: "Adds two numbers",
    inputSchema: { required: ["a", "b"] },
    annotations: { readOnlyHint: true },
  });
  expect(await add?.execute({ a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } });
  const error = await failure(Promise.resolve(add?.execute({ a: "2", bb: 3 })));
  expect(error).toMatchObject({ code: "ARGUMENTS_INVALID", details: { mayHaveReached: false } });
  expect(error.message).toMatch(/: missing property b \(number\); a: expected number, got string "2"$/);
});

test("an agent gets read-only tools where nobody has said more, and its developer is told once (R8)", async () => {
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
  await using host = await open({}, { logger });
  const names = (tools: AgentTool[]) => tools.map(({ name }) => name);
  for (const tools of [agentTools(host), agentTools(host)]) {
    expect(names(tools)).toContain("mcp__kit__add_numbers");
    expect(names(tools)).not.toContain("mcp__kit__sleep");
  }
  expect(warnings.filter((text) => text.startsWith("agentTools"))).toEqual([
    expect.stringMatching(/^agentTools lists \d+ of \d+ tools, .* Left out: mcp__kit__.*policy: "allow-all"\.$/),
  ]);
  expect(names(agentTools(host, { policy: "allow-all" }))).toContain("mcp__kit__sleep");
});

test("rules of the host, or of a server's entry, are a policy, and so is allow-all (R8)", async () => {
  const opened = [
    open({ allow: ["kit.sleep"] }),
    open({ consent: () => true }),
    open({}, { policy: "allow-all" }),
    open({}, { servers: { kit: { ...stdioFixture(), tools: { allow: ["sleep"] } } } }),
  ];
  for (const opening of opened) {
    await using host = await opening;
    expect(agentTools(host).map(({ name }) => name)).toContain("mcp__kit__sleep");
  }
});

test("what an agent gets of a result has no _meta of Nexus, and has that of the server", async () => {
  const _meta = { "dev.nexus/correlationId": "c-1", "shop.example/page": 2 };
  const server = new ScriptedServer({
    tools: { look: () => ({ content: [{ type: "text", text: "seen" }], _meta }) },
  });
  await using host = await Host.open({ servers: { kit: server.transport }, stateFolder, policy: "allow-all" });
  await host.ready();
  const result = await agentTools(host)[0]?.execute({});
  expect(result).toMatchObject({ _meta: { "shop.example/page": 2 } });
  expect(JSON.stringify(result)).not.toContain("dev.nexus/");
});

test("resources are found and read with tools, and the important ones become context (G3, N11)", async () => {
  await using host = await open();
  const [list, read] = ["ListMcpResources", "ReadMcpResource"].map((name) =>
    agentTools(host).find((tool) => tool.name === name),
  );
  const listed = await list?.execute({});
  expect(listed?.content[0]?.text).toContain("test://static-text");
  expect(await read?.execute({ server: "kit", uri: "test://static-text" })).toMatchObject({
    content: [{ type: "resource", resource: { text: expect.any(String) as string } }],
  });
  const blocks = await contextBlocks(host, { budget: 10_000, minPriority: 0 });
  expect(blocks.length).toBeGreaterThan(0);
  expect(await contextBlocks(host, { budget: 3, minPriority: 0 })).toEqual([]);
});

test("one decision hides a tool and refuses its call (R8)", async () => {
  await using host = await open({ deny: ["kit.echo"], readOnly: true });
  const names = host.tools().map(({ tool }) => tool.name);
  expect(names).not.toContain("echo");
  expect(names).toContain("add_numbers");
  expect(names).not.toContain("sleep");
  for (const name of ["kit.echo", "kit.sleep"])
    expect(await failure(host.callTool(name, {}))).toMatchObject({ code: "DENIED" });
});

test("a server's own allow list, deny by default, and visibility per agent narrow further (R8)", async () => {
  const servers = { kit: { ...stdioFixture(), tools: { allow: ["add_*", "echo"] } } };
  await using host = await open({ visibleTo: { kit: ["ada"] } }, { servers });
  expect(host.tools({ agent: "ada" }).map(({ tool }) => tool.name)).toEqual(["echo", "add_numbers"]);
  expect(host.tools({ agent: "bob" })).toEqual([]);
  expect(await failure(host.callTool("kit.echo", { text: "x" }, { agent: "bob" }))).toMatchObject({ code: "DENIED" });
  expect(await host.callTool("kit.echo", { text: "x" }, { agent: "ada" })).toMatchObject({ content: [{ text: "x" }] });
});

test("a forged tool object gains nothing, and hidden servers hide their resources and prompts too (R8)", async () => {
  await using host = await open({ readOnly: true, visibleTo: { kit: ["ada"] } });
  const tool = { name: "sleep", inputSchema: {}, annotations: { readOnlyHint: true } };
  const forged = { name: "mcp__kit__sleep", server: "kit", tool };
  expect(await failure(host.callTool(forged, { ms: 1 }, { agent: "ada" }))).toMatchObject({ code: "DENIED" });
  expect([host.resources({ agent: "bob" }), host.templates({ agent: "bob" }), host.prompts({ agent: "bob" })]).toEqual([
    [],
    [],
    [],
  ]);
  expect(await failure(host.readResource("kit", "test://static-text", { agent: "bob" }))).toMatchObject({
    code: "DENIED",
  });
  expect(agentTools(host, { agent: "bob" })).toEqual([]);
  expect(await host.readResource("kit", "test://static-text", { agent: "ada" })).toMatchObject({ contents: [{}] });
});

/** How a policy decides about a tool. */
function decided(settings: PolicySettings, name: string, own: ToolRules = {}, server = "s"): string {
  return new Policy(settings, { ...NO_ENTRY_RULES, toolsOf: () => own }).decide(undefined, {
    kind: "tool",
    server,
    name,
  }).kind;
}

test("no name of a tool slips past a pattern (R8)", () => {
  for (const name of ["a", "a\nb", "\r\n", "a\u2028b"]) {
    for (const pattern of ["*", "s", "s.*", "*.*", "s*"]) expect(decided({ deny: [pattern] }, name)).toBe("denied");
    expect(decided({ deny: [`s.${name}`] }, name)).toBe("denied");
    expect(decided({}, name, { deny: ["*"] })).toBe("denied");
  }
  expect(decided({ visibleTo: {} }, "x", {}, "constructor")).toBe("allowed");
});

test("patterns mean what they say, and a long name takes no time (R8)", async () => {
  const isDenied = (pattern: string, tool: string) => decided({}, tool, { deny: [pattern] }) === "denied";
  const matching = ["a", "a*", "*a", "*a*", "**", "a**", "*"];
  expect(matching.filter((pattern) => isDenied(pattern, "a"))).toEqual(matching);
  expect(isDenied("get_*_by_*", "get_user_by_id")).toBe(true);
  expect(isDenied("ab*ba", "aba")).toBe(false);
  expect(isDenied("a*b*a", "aXa")).toBe(false);
  expect(isDenied("a.c", "abc")).toBe(false);
  expect(isDenied("a", "ab")).toBe(false);
  expect(await cpuMsOf(() => expect(isDenied("*a*a*a*a*a*b", "a".repeat(100_000))).toBe(false))).toBeLessThan(500);
});

test("tools with effects ask for consent, read-only ones do not", async () => {
  const asked: unknown[] = [];
  await using host = await open({
    consent: (request) => {
      asked.push([request.tool, request.arguments]);
      return request.tool !== "sleep";
    },
  });
  await host.callTool("kit.echo", { text: "x" });
  expect(await failure(host.callTool("kit.sleep", { ms: 1 }))).toMatchObject({ code: "DENIED" });
  expect(asked).toEqual([["sleep", { ms: 1 }]]);
});

test("interrupting the agent cancels the call down to the server (G6)", async () => {
  await using host = await open();
  const sleep = agentTools(host, { policy: "allow-all" }).find(({ name }) => name === "mcp__kit__sleep");
  const abort = new AbortController();
  const call = failure(Promise.resolve(sleep?.execute({ ms: 60_000 }, { signal: abort.signal })));
  await host.callTool("kit.echo", { text: "under way" });
  abort.abort();
  expect((await call).code).toBe("CANCELLED");
  await expect.poll(async () => (await host.callTool("kit.recorded_cancellations")).content[0]?.text).not.toBe("[]");
});

test("the tools take the shape of the AI SDK (N10)", async () => {
  await using host = await open();
  const tools = aiSdkTools(agentTools(host, { policy: "allow-all" }), {
    jsonSchema: (schema) => ({ wrapped: schema }),
  });
  const echo = tools["mcp__kit__echo"];
  expect(echo).toMatchObject({ inputSchema: { wrapped: { required: ["text"] } } });
  expect(await echo?.execute({ text: "hi" }, {})).toMatchObject({ content: [{ text: "hi" }] });
});

test("the AI SDK shows a model the data once, images as media and failures as failures (N10)", async () => {
  const server = new ScriptedServer({ tools: { show: ({ what }) => RESULTS[String(what)] ?? "" } });
  await using host = await Host.open({ servers: { kit: server.transport }, stateFolder, policy: "allow-all" });
  await host.ready();
  const tool = aiSdkTools(agentTools(host), { jsonSchema: (schema) => schema })["mcp__kit__show"];
  const shown = async (what: string) => tool?.toModelOutput({ output: await tool.execute({ what }, {}) });
  expect(await shown("structured")).toEqual({ type: "text", value: '{"sum": 5}' });
  expect(await shown("both")).toEqual({ type: "text", value: 'Added.\n{"sum":5}' });
  expect(await shown("failed")).toEqual({ type: "error-text", value: "No such city" });
  expect(await shown("picture")).toEqual({
    type: "content",
    value: [
      { type: "text", text: "A cat" },
      { type: "media", data: "AAAA", mediaType: "image/png" },
    ],
  });
});

test("prompts are commands, with values by name or in order (R2)", async () => {
  await using host = await open();
  const command = promptCommands(host).find(({ name }) => name === "kit:test_prompt_with_arguments");
  const text = "Prompt with arguments: arg1='a', arg2='b'";
  for (const values of [["a", "b"], { arg1: "a", arg2: "b" }]) {
    expect(await command?.expand(values)).toMatchObject({ messages: [{ content: { text } }] });
  }
  expect(await failure(Promise.resolve(command?.expand(["a"])))).toMatchObject({
    code: "ARGUMENTS_INVALID",
    message: expect.stringContaining("arg2") as string,
  });
});

test("an allow list leaves no resources and prompts that it does not name, for listing and using alike (R8)", async () => {
  await using host = await open({ allow: ["kit.echo", "kit/prompts"] });
  expect([host.resources(), host.templates()]).toEqual([[], []]);
  expect(host.prompts()).not.toEqual([]);
  expect(await failure(host.readResource("kit", "test://static-text"))).toMatchObject({ code: "DENIED" });
  expect(await host.getPrompt("kit.test_simple_prompt")).toMatchObject({ messages: [{}] });
  expect(agentTools(host).map(({ name }) => name)).toEqual(["mcp__kit__echo"]);
  expect(await contextBlocks(host, { budget: 10_000, minPriority: 0 })).toEqual([]);
});

test("prompts that are denied are refused as denied, and are no commands (R8)", async () => {
  await using host = await open({ deny: ["kit/prompts"] });
  expect([host.prompts(), promptCommands(host)]).toEqual([[], []]);
  expect(await failure(host.getPrompt("kit.test_simple_prompt"))).toMatchObject({
    code: "DENIED",
    message: `Prompt "test_simple_prompt" of server "kit" is not allowed: it is on the deny list`,
  });
  expect(await failure(host.getPrompt("kit.no_such_prompt"))).toMatchObject({ code: "NAME_UNKNOWN" });
});

test("commands and context are those of the agent for which they are asked (R8)", async () => {
  await using host = await open({ visibleTo: { kit: ["ada"] } });
  expect([promptCommands(host), await contextBlocks(host, { budget: 10_000, minPriority: 0 })]).toEqual([[], []]);
  const [command] = promptCommands(host, { agent: "ada" });
  expect(await command?.expand()).toMatchObject({ messages: [{}] });
  expect(await contextBlocks(host, { budget: 10_000, minPriority: 0, agent: "ada" })).not.toEqual([]);
});

test("a tool object of a server that has not started yet is judged by what the server lists (R8)", async () => {
  const servers = { kit: { ...stdioFixture(), auto_start: false } };
  const tool = (name: string) => ({ name: `mcp__kit__${name}`, server: "kit", tool: { name, inputSchema: {} } });
  await using host = await open({ readOnly: true }, { servers });
  expect(await host.callTool(tool("echo"), { text: "x" })).toMatchObject({ content: [{ text: "x" }] });
  await using other = await open({ readOnly: true }, { servers });
  expect(await failure(other.callTool(tool("sleep"), { ms: 1 }))).toMatchObject({ code: "DENIED" });
});

test("a server that is named as in its file is under the same rules as by its id (R8)", async () => {
  const servers = { My_Kit: stdioFixture() };
  await using host = await open({ deny: ["my-kit.echo", "my-kit/resources"] }, { servers });
  const tool = { name: "echo", inputSchema: {} };
  for (const attempt of [
    host.callTool("My_Kit.echo", { text: "x" }),
    host.callTool({ name: "mcp__my-kit__echo", server: "My_Kit", tool }, { text: "x" }),
    host.readResource("My_Kit", "test://static-text"),
  ]) {
    expect(await failure(attempt)).toMatchObject({ code: "DENIED" });
  }
  await using shared = await open({ visibleTo: { My_Kit: ["ada"] } }, { servers });
  expect(shared.tools({ agent: "bob" })).toEqual([]);
  expect(await failure(shared.readResource("My_Kit", "test://static-text"))).toMatchObject({ code: "DENIED" });
  expect(shared.tools({ agent: "ada" })).not.toEqual([]);
});

test("a host with a rule that cannot be understood does not open", async () => {
  expect(await failure(open({ deny: ["*delete*"] }))).toMatchObject({ code: "CONFIG_INVALID" });
});
