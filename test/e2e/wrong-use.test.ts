import { describe, expect, test } from "vitest";
import { Agent, AgentInput, ConsentDesk, openModel, SamplingDesk } from "../../src/agent/index.ts";
import { connect as connectOnWeb } from "../../src/client/web/index.ts";
import { serve, serveStdio } from "../../src/gateway/index.ts";
import {
  agentTools,
  Client,
  connect,
  contextBlocks,
  Host,
  MemoryCache,
  MemoryTransport,
  NexusError,
  ProcessBudget,
} from "../../src/index.ts";
import { serveHttp, McpServer, serveMemory, serveStdio as serveOnPipes } from "../../src/server/index.ts";
import { ScriptedModel, ScriptedServer } from "../../src/testing/index.ts";
import { apiServer, ApiRunner, loadApproved, openApi, startFake } from "../../src/workshop/index.ts";
import { failure } from "../fixtures/failure.ts";

/** As JavaScript calls it: with anything. */
type Anything = (...given: unknown[]) => unknown;
const loosely = (call: unknown) => call as Anything;

const server = new ScriptedServer({ tools: { look: () => "seen" } });
const HOST = { servers: { kit: server.transport } };

const OWN = new McpServer({ name: "own", version: "1" });

/** What somebody writes, the name that is wrong in it, what it is not an option of, and what was meant. */
const MISTAKES: readonly [call: string, run: () => unknown, name: string, where: string, meant: string][] = [
  ["Host.open", () => loosely(Host.open)({ severs: {} }), "severs", "Host.open", "servers"],
  ["Host.open, policy", () => loosely(Host.open)({ servers: {}, policy: { alow: [] } }), "alow", "policy", "allow"],
  [
    "Host.open, backoff",
    () => loosely(Host.open)({ servers: {}, backoff: { fistMs: 1 } }),
    "fistMs",
    "backoff",
    "firstMs",
  ],
  [
    "Host.open, processes",
    () => loosely(Host.open)({ servers: {}, processes: { proceses: 1 } }),
    "proceses",
    "processes",
    "processes",
  ],
  ["connect", () => loosely(connect)({ command: "node" }, { timeout: 5 }), "timeout", "connect", "timeoutMs"],
  ["connect, entry", () => loosely(connect)({ comand: "node" }), "comand", "a server's entry", "command"],
  [
    "connect, retry",
    () => loosely(connect)(server.transport, { retry: { maxRetry: 1 } }),
    "maxRetry",
    "retry",
    "maxRetries",
  ],
  [
    "Client.open",
    () => loosely(Client.open.bind(Client))(server.transport, { rots: [] }),
    "rots",
    "Client.open",
    "roots",
  ],
  ["connect of /client", () => loosely(connectOnWeb)({ url: "/mcp" }, { ftch: fetch }), "ftch", "connect", "fetch"],
  ["connect of /client, entry", () => loosely(connectOnWeb)({ ulr: "/mcp" }), "ulr", "the server of connect", "url"],
  ["serve", () => loosely(serve)({ host: HOST, prot: 1 }), "prot", "serve", "port"],
  ["serveStdio", () => loosely(serveStdio)({ host: HOST, inptu: 1 }), "inptu", "serveStdio", "input"],
  [
    "serveHttp",
    () => loosely(serveHttp)(new McpServer({ name: "a", version: "1" }), { prot: 1 }),
    "prot",
    "serveHttp",
    "port",
  ],
  [
    "serveMemory",
    () => connect(new MemoryTransport((end) => loosely(serveMemory)(OWN, end, { principl: 1 }))),
    "principl",
    "serveMemory",
    "principal",
  ],
  ["serveStdio of /server", () => loosely(serveOnPipes)(OWN, { inptu: 1 }), "inptu", "serveStdio", "input"],
  [
    "new MemoryCache",
    () => Reflect.construct(MemoryCache, [{ maxAnswer: 1 }]),
    "maxAnswer",
    "MemoryCache",
    "maxAnswers",
  ],
  [
    "new ProcessBudget",
    () => Reflect.construct(ProcessBudget, [{ procesess: 1 }]),
    "procesess",
    "the limits of ProcessBudget",
    "processes",
  ],
  ["new Agent", () => Reflect.construct(Agent, [{ host: {}, modle: {} }]), "modle", "Agent", "model"],
  ["new ConsentDesk", () => Reflect.construct(ConsentDesk, [{ alow: [] }]), "alow", "ConsentDesk", "allow"],
  ["new AgentInput", () => Reflect.construct(AgentInput, [{ samplin: 1 }]), "samplin", "AgentInput", "sampling"],
  ["new SamplingDesk", () => Reflect.construct(SamplingDesk, [{ model: () => [] }]), "model", "SamplingDesk", "models"],
  ["openModel", () => loosely(openModel)("a:b", { confg: "x" }), "confg", "openModel", "config"],
  ["new ScriptedModel", () => Reflect.construct(ScriptedModel, [[], { nam: "x" }]), "nam", "ScriptedModel", "name"],
  ["new ScriptedServer", () => Reflect.construct(ScriptedServer, [{ tols: {} }]), "tols", "ScriptedServer", "tools"],
  ["startFake", () => loosely(startFake)({}, { prot: 1 }), "prot", "startFake", "port"],
  ["new ApiRunner", () => Reflect.construct(ApiRunner, [{}, { secret: 1 }]), "secret", "ApiRunner", "secrets"],
  ["apiServer", () => loosely(apiServer)({}, { document: {} }), "document", "apiServer", "documents"],
  ["openApi", () => loosely(openApi)({}, {}, { findSate: 1 }), "findSate", "openApi", "findState"],
  ["loadApproved", () => loosely(loadApproved)("x", { trsut: 1 }), "trsut", "loadApproved", "trust"],
];

describe("an option that does not exist (X1, X2)", () => {
  test.each(MISTAKES)("of %s is an error with the nearest name", async (_call, run, name, where, meant) => {
    const error = await failure((async () => void (await run()))());
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: `"${name}" is not an option of ${where}` });
    expect(error.hint).toBe(`Did you mean "${meant}"?`);
  });

  test("of a call is an error, and the name of another library leads to ours", async () => {
    await using client = await connect(server.transport);
    for (const call of [
      () => loosely(client.callTool.bind(client))("look", {}, { timeout: 5 }),
      () => loosely(client.listTools.bind(client))({ timeout: 5 }),
    ]) {
      const error = await failure((async () => void (await call()))());
      expect(error).toMatchObject({ code: "CONFIG_INVALID", message: '"timeout" is not an option of a call' });
      expect(error.hint).toBe('Did you mean "timeoutMs"?');
    }
  });

  test("of a subscription is an error, and so is a list that no server has", async () => {
    await using client = await connect(server.transport);
    const subscribe = async (interests: unknown) =>
      failure(loosely(client.subscribe.bind(client))(interests, () => {}) as Promise<unknown>);
    expect(await subscribe({ list: ["tools"] })).toMatchObject({
      message: '"list" is not an option of a subscription',
      hint: 'Did you mean "lists"?',
    });
    expect(await subscribe({ lists: ["tool"] })).toMatchObject({ message: '"tool" is not a list that changes' });
  });

  test("of a question is an error: a seal that is misspelt would not be there", async () => {
    const own = new McpServer({ name: "own", version: "1" }).tool("pay", {}, async (_args, { ask }) => {
      await loosely(ask)({ sure: { method: "roots/list" } }, { seald: true });
      return "paid";
    });
    await using client = await connect(new MemoryTransport((end) => serveMemory(own, end)), { roots: [] });
    expect(await client.callTool("pay")).toMatchObject({
      isError: true,
      content: [{ text: '"seald" is not an option of ask' }],
    });
  });

  test("of who lists what a host has is an error: without its agent, a caller would be everybody", async () => {
    await using host = await Host.open(HOST);
    for (const list of ["tools", "resources", "templates", "prompts"] as const) {
      expect(() => loosely(host[list].bind(host))({ agnet: "a" })).toThrow(`"agnet" is not an option of ${list}`);
    }
  });

  test("of what makes tools for agents is an error", async () => {
    await using host = await Host.open(HOST);
    expect(() => loosely(agentTools)(host, { polcy: "allow-all" })).toThrow('"polcy" is not an option of agentTools');
    expect(() => loosely(agentTools)(host, { policy: "all" })).toThrow('"all" is not a policy of agentTools');
    expect(await failure(loosely(contextBlocks)(host, { bugdet: 1 }) as Promise<unknown>)).toMatchObject({
      message: '"bugdet" is not an option of contextBlocks',
    });
  });

  test("without a near name is told with all that there are", async () => {
    const error = await failure((async () => void (await loosely(startFake)({}, { certificate: "x" })))());
    expect(error.hint).toBe("Its options are: port, host.");
  });
});

/** What somebody writes, and the error with its hint. */
const WRONG_KINDS: readonly [call: string, run: () => unknown, message: string, hint: string][] = [
  [
    "connect, a timeout that is a text",
    () => loosely(connect)(server.transport, { timeoutMs: "5s" }),
    `"timeoutMs" of connect must be a number of milliseconds, 0 or more, not "5s"`,
    "timeoutMs: 5000",
  ],
  [
    "connect, a negative timeout",
    () => connect(server.transport, { connectTimeoutMs: -1 }),
    `"connectTimeoutMs" of connect must be a number of milliseconds, 0 or more, not -1`,
    "connectTimeoutMs: 5000",
  ],
  [
    "connect, a controller in place of its signal",
    () => loosely(connect)(server.transport, { signal: new AbortController() }),
    `"signal" of connect must be an AbortSignal, not an object (AbortController)`,
    "signal: controller.signal",
  ],
  [
    "connect, a function as input",
    () => loosely(connect)(server.transport, { input: () => {} }),
    `"input" of connect must be an object with capabilities and a function handle, not a function`,
    "handle: (request) =>",
  ],
  [
    "connect, an input without handle",
    () => loosely(connect)(server.transport, { input: { capabilities: {} } }),
    `"input" of connect must be an object with capabilities and a function handle, not an object`,
    "handle: (request) =>",
  ],
  [
    "connect, a misspelt capability",
    () => connect(server.transport, { input: { capabilities: { elicit: {} }, handle: () => ({ roots: [] }) } }),
    `"elicit" is not an option of the capabilities of input`,
    `Did you mean "elicitation"?`,
  ],
  [
    "Host.open, a text as a list of rules",
    () => loosely(Host.open)({ servers: {}, policy: { allow: "demo" } }),
    `"allow" of policy must be a list of texts, not "demo"`,
    'allow: ["demo"]',
  ],
  [
    "Host.open, a list of servers",
    () => loosely(Host.open)({ servers: [{ command: "node" }] }),
    '"servers" of Host.open must be an object with the servers by their names, not a list',
    "servers: { files: {",
  ],
];

test.each(WRONG_KINDS)("%s: the error names the option and the value, and shows how (X1, X2)", async (...mistake) => {
  const [, run, message, hint] = mistake;
  const error = await failure((async () => void (await run()))());
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message });
  expect(error.hint).toContain(hint);
});

test("an address in place of an entry is an error that shows the entry (X1, X2)", async () => {
  const error = await failure((async () => void (await loosely(connect)("http://127.0.0.1:1/mcp")))());
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: "The server of connect is a text" });
  expect(error.hint).toContain('connect({ url: "http://127.0.0.1:1/mcp" })');
});

test("a call in the form of another library is an error that shows ours (X1, X2)", async () => {
  await using client = await connect(server.transport);
  const call = loosely(client.callTool.bind(client));
  expect(await failure(call({ name: "two" }) as Promise<unknown>)).toMatchObject({
    code: "ARGUMENTS_INVALID",
    message: 'callTool takes the name and the arguments: callTool("two", { … })',
  });
  const late = await failure(call("look", {}, { timeoutMs: "5s" }) as Promise<unknown>);
  expect(late.message).toBe('"timeoutMs" of a call must be a number of milliseconds, 0 or more, not "5s"');
});

test("options that are no object are told apart from options (X1, X2)", async () => {
  const error = await failure((async () => void (await loosely(Host.open)("mcp.json")))());
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: "The options of Host.open are not an object" });
});

test("an entry with a command and a url is an error that shows both ways (X1, X2)", async () => {
  const error = await failure(connect({ command: "node", url: "http://127.0.0.1:1/mcp" }));
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining('both "command" and "url"') });
});

test("the JSON of an error has its message, and no cause that could be of any size (X2)", () => {
  const error = new NexusError("TIMEOUT", "No answer", { server: "shop", hint: "Wait.", cause: new Error("inner") });
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({
    error: { name: "NexusError", code: "TIMEOUT", message: "No answer", details: { server: "shop", hint: "Wait." } },
  });
});
