import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MemorySets, type AuditRecord, type SetDefinition } from "../../../src/gateway/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { SILENT } from "../../../src/text/logger.ts";
import { cabinet, calledTools } from "../access/access-servers.ts";
import { AccessWorld, namesIn } from "../access/access-world.ts";

const text = { type: "string" };
const issue = {
  type: "object",
  properties: { repo: { ...text, "x-mcp-header": "Repo" }, title: { ...text, "x-mcp-header": "Title" } },
  required: ["repo", "title"],
};
const tricky = { type: "object", properties: { repo: text }, anyOf: [{ required: ["repo"] }, {}] };

const SUPPORT: SetDefinition = {
  description: "What the support desk needs",
  allow: [
    "hub.search",
    "hub.create_issue",
    "hub.tricky",
    "box.look",
    "box/prompts",
    "box/resources",
    "box.working",
    "sly.asking",
  ],
  deny: ["hub.destroy"],
  tools: {
    "hub.create_issue": { name: "file", description: "Reports a problem", arguments: { repo: "acme/desk" } },
    "hub.tricky": { arguments: { repo: "acme/desk" } },
  },
  prompts: { "box.greet": { name: "hello", description: "Says hello", arguments: { tone: "warm" } } },
};

const audited: AuditRecord[] = [];
const warnings: string[] = [];
let hub: ScriptedServer;
let box: ScriptedServer;
let sets: MemorySets;
let world: AccessWorld;

const IN_SET = { set: "support" };
const call = (name: string, args: Params = {}) => ({ name, arguments: args });

/** The arguments of the calls that reached a server. */
const argumentsOf = (server: ScriptedServer) =>
  server.received.flatMap((message) =>
    "method" in message && message.method === "tools/call" ? [message.params?.["arguments"]] : [],
  );

beforeAll(async () => {
  hub = new ScriptedServer({
    tools: {
      search: { annotations: { readOnlyHint: true }, run: () => "found" },
      create_issue: { inputSchema: issue, run: ({ repo, title }) => `${String(repo)}: ${String(title)}` },
      tricky: { inputSchema: tricky, run: () => "tricked" },
      destroy: () => "destroyed",
    },
    resources: { "note://hub": "hub" },
  });
  hub.on("prompts/list", () => ({ prompts: [] }));
  box = cabinet();
  const question = { method: "elicitation/create", params: { mode: "form", message: "Sure?", requestedSchema: {} } };
  const sly = new ScriptedServer({ era: "modern", tools: { asking: () => "" } }).on("tools/call", ({ requestState }) =>
    requestState === "asked"
      ? { content: [{ type: "text", text: "asked" }] }
      : { resultType: "input_required", inputRequests: { k: question }, requestState: "asked" },
  );
  box.on("prompts/list", () => ({
    prompts: [{ name: "greet", arguments: [{ name: "tone" }, { name: "who", required: true }] }, { name: "curse" }],
  }));
  sets = new MemorySets({
    support: SUPPORT,
    other: { allow: ["box", "sly"] },
    reading: { allow: ["*"], readOnly: true },
  });
  const logger = { ...SILENT, warn: (message: string) => void warnings.push(message) };
  const audit = (record: AuditRecord) => void audited.push(record);
  world = await AccessWorld.open({ hub, box, sly }, { sets, logger, audit });
});

afterAll(() => world[Symbol.asyncDispose]());

beforeEach(() => {
  sets.replace({ support: SUPPORT, other: { allow: ["box", "sly"] }, reading: { allow: ["*"], readOnly: true } });
  audited.length = 0;
});

test("a set lists what it contains of every server, under its own names and descriptions, without fixed arguments", async () => {
  const { result } = await world.ask("tools/list", {}, IN_SET);
  const tools = result?.["tools"] as Params[];
  // The set may be changed at any time.
  expect(Number(result?.["ttlMs"])).toBeLessThanOrEqual(1_000);
  expect(tools.map(({ name }) => name)).toEqual(["hub__search", "file", "box__look", "box__working", "sly__asking"]);
  expect(tools[1]).toMatchObject({
    description: "Reports a problem",
    inputSchema: { type: "object", properties: { title: issue.properties.title }, required: ["title"] },
  });
  expect(JSON.stringify(result)).not.toContain("repo");
  expect(namesIn(await world.ask("resources/list", {}, IN_SET))).toEqual(["box+note://open", "box+note://secret"]);
  expect(namesIn(await world.ask("resources/templates/list", {}, IN_SET))).toEqual(["box+note://{name}"]);
  const prompts = (await world.ask("prompts/list", {}, IN_SET)).result?.["prompts"];
  expect(prompts).toEqual([
    expect.objectContaining({ name: "hello", description: "Says hello", arguments: [{ name: "who", required: true }] }),
    expect.objectContaining({ name: "box__curse" }),
  ]);
  // The tool whose schema cannot be shown without the argument is missing, and the log says why.
  expect(warnings.filter((each) => each.includes(`"tricky" of "hub"`))).toHaveLength(1);
  expect(warnings.join()).toContain(`it is also named under "anyOf"`);
});

test("a set says its name and what it is for", async () => {
  const { result } = await world.ask("server/discover", {}, IN_SET);
  expect(result).toMatchObject({ instructions: "What the support desk needs" });
  expect(JSON.stringify(result)).toContain(`"name":"support"`);
  const { initialized } = await world.session(IN_SET);
  expect(initialized.result).toMatchObject({
    serverInfo: { name: "support" },
    instructions: "What the support desk needs",
  });
});

test("a call in a set reaches the server with the fixed arguments, under the server's own name", async () => {
  const before = argumentsOf(hub).length;
  const headers = { "mcp-param-title": "It burns" };
  const { result } = await world.ask("tools/call", call("file", { title: "It burns" }), { ...IN_SET, headers });
  expect(result).toMatchObject({ content: [{ text: "acme/desk: It burns" }] });
  expect(argumentsOf(hub).slice(before)).toEqual([{ title: "It burns", repo: "acme/desk" }]);
  expect(audited).toMatchObject([{ server: "hub", target: "hub__create_issue", set: "support", outcome: "ok" }]);
  expect((await world.get("/metrics")).text).toContain(`server="hub"`);
});

describe.each(["modern", "legacy"] as const)("for a %s client", (era) => {
  const ask = async (method: string, params: Params, headers = {}) => {
    if (era === "modern") return world.ask(method, params, { ...IN_SET, headers });
    return (await world.session(IN_SET)).answerTo(method, params);
  };

  test("a fixed argument that the caller sends is unknown, and nothing is called", async () => {
    const before = hub.received.length;
    const headers = { "mcp-param-title": "t" };
    for (const repo of ["acme/desk", "other/repo", null]) {
      const { error } = await ask("tools/call", call("file", { title: "t", repo }), headers);
      expect(error).toMatchObject({ code: -32602, message: `Unknown argument "repo" of tool "file"` });
    }
    const { error } = await ask("tools/call", { name: "file", arguments: ["x"] });
    expect(error?.code).toBeLessThan(0);
    expect(hub.received.slice(before).filter((each) => "method" in each && each.method === "tools/call")).toEqual([]);
  });

  test("what the set does not contain is answered like what does not exist", async () => {
    const same = (message: string | undefined, ...names: string[]) =>
      names.reduce((said, name) => said.replaceAll(name, "X"), message ?? "");
    const unknown = await ask("tools/call", call("hub__nothing"));
    for (const name of ["hub__destroy", "hub__create_issue", "hub__tricky", "box__destroy"]) {
      const { error } = await ask("tools/call", call(name));
      expect(error?.code).toBe(unknown.error?.code);
      expect(same(error?.message, name)).toBe(same(unknown.error?.message, "hub__nothing"));
    }
    const missing = await ask("resources/read", { uri: "hub+note://nothing" });
    const hidden = await ask("resources/read", { uri: "hub+note://hub" });
    expect(hidden.error?.code).toBe(missing.error?.code);
    expect((await ask("prompts/get", { name: "box__greet" })).error?.message).toContain(
      `There is no prompt "box__greet"`,
    );
    expect((await ask("acme/run", {})).error?.code).toBe(-32601);
    expect(calledTools(hub)).not.toContain("destroy");
  });

  test("a prompt has its fixed arguments, also as the context of completions, and callers cannot send them", async () => {
    const sent = (method: string) => box.received.findLast((each) => "method" in each && each.method === method);
    await ask("prompts/get", { name: "hello", arguments: { who: "Ada" } });
    expect(sent("prompts/get")).toMatchObject({ params: { name: "greet", arguments: { who: "Ada", tone: "warm" } } });
    const ref = { type: "ref/prompt", name: "hello" };
    await ask("completion/complete", { ref, argument: { name: "who", value: "A" } });
    const context = { arguments: { tone: "warm" } };
    expect(sent("completion/complete")).toMatchObject({ params: { ref: { name: "greet" }, context } });
    const refused = { code: -32602, message: `Unknown argument "tone" of prompt "hello"` };
    expect((await ask("prompts/get", { name: "hello", arguments: { tone: "cold" } })).error).toMatchObject(refused);
    const asked = { ref, argument: { name: "tone", value: "c" } };
    expect((await ask("completion/complete", asked)).error).toMatchObject(refused);
  });
});

test("the names of a set are its own: they are unknown elsewhere, and names of other endpoints are unknown in it", async () => {
  expect((await world.ask("tools/call", call("file", { title: "t" }))).error?.message).toContain("There is no tool");
  expect((await world.ask("tools/call", call("file"), { set: "other" })).error?.message).toContain("There is no tool");
  expect((await world.ask("tools/call", call("search"), IN_SET)).error?.message).toContain("There is no tool");
  const everywhere = namesIn(await world.ask("tools/list"));
  expect(everywhere).toContain("hub__create_issue");
  expect(everywhere).not.toContain("file");
});

test("a read-only set has only tools that say they are", async () => {
  expect(namesIn(await world.ask("tools/list", {}, { set: "reading" }))).toEqual(["hub__search", "box__look"]);
  const { error } = await world.ask("tools/call", call("hub__destroy"), { set: "reading" });
  expect(error?.message).toContain("There is no tool");
});

test("an unknown set is answered with 404, and so is its tool manifest; that of a set is narrowed like its list", async () => {
  expect(await world.exactly("tools/list", {}, { set: "nothing" })).toMatchObject({ status: 404 });
  expect((await world.get("/sets/nothing/tools")).status).toBe(404);
  const { status, text: body } = await world.get("/sets/support/tools");
  expect(status).toBe(200);
  const manifest = JSON.parse(body) as { set: string; tools: Params[] };
  expect(manifest.set).toBe("support");
  expect(manifest.tools.map(({ name }) => name)).toContain("file");
  expect(body).not.toContain('repo"');
});

test("a task of a set is followed in that set only, and only as long as the set contains its tool", async () => {
  const { result } = await world.ask("tools/call", call("box__working"), IN_SET);
  const task = { taskId: String(result?.["taskId"]) };
  const everywhere = await world.ask("tools/call", call("box__working"));
  const other = { taskId: String(everywhere.result?.["taskId"]) };
  expect((await world.ask("tasks/get", task, IN_SET)).result).toMatchObject({ status: "completed" });
  for (const [elsewhere, id] of [
    [{}, task],
    [{ server: "box" }, task],
    [{ set: "other" }, task],
    [IN_SET, other],
  ] as const) {
    expect((await world.ask("tasks/get", id, elsewhere)).error?.message).toBe("Unknown task");
  }
  expect((await world.ask("tasks/get", other)).result).toMatchObject({ status: "completed" });
  sets.replace({ support: { allow: ["box.look"] } });
  expect((await world.ask("tasks/get", task, IN_SET)).error?.message).toBe("Unknown task");
});

test("the state of a call that asks its caller is valid in its set only", async () => {
  const asked = await world.ask("tools/call", call("sly__asking"), IN_SET);
  const { requestState, inputRequests } = asked.result ?? {};
  expect(asked.result).toMatchObject({ resultType: "input_required" });
  const [key = ""] = Object.keys(inputRequests as object);
  const again = { ...call("sly__asking"), requestState, inputResponses: { [key]: { action: "accept", content: {} } } };
  expect((await world.ask("tools/call", again)).error?.message).toBe("request state not valid");
  expect((await world.ask("tools/call", again, { set: "other" })).error?.message).toBe("request state not valid");
  expect((await world.ask("tools/call", again, IN_SET)).result).toMatchObject({ content: [{ text: "asked" }] });
});

test("both SDKs' clients use a set like any server", async () => {
  const url = new URL(world.setUrl("support"));
  const one = new Client1({ name: "sdk", version: "1" });
  const two = new Client2({ name: "sdk", version: "2" });
  await one.connect(new Http1(url));
  await two.connect(new Http2(url));
  try {
    for (const client of [one, two]) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("file");
      const result = await client.callTool({ name: "file", arguments: { title: "Hi" } });
      expect(result).toMatchObject({ content: [{ text: "acme/desk: Hi" }] });
    }
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
});
