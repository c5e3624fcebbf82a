import { describe, expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { connect, MemoryTransport, type Change, type Client, type ConnectOptions } from "../../index.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { McpServer, type McpServerOptions } from "./mcp-server.ts";

const EXTENSION = "example.org/stars";

const newServer = (options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: "own", version: "1.0.0", ...options });

const clientOf = (server: McpServer, options: ConnectOptions = {}): Promise<Client> =>
  connect(new MemoryTransport((end) => serveMemory(server, end)), options);

test.each<Revision>(["2026-07-28", "2025-11-25"])("a method of an extension is answered in %s", async (revision) => {
  const server = newServer({ revisions: [revision] });
  server.extension(EXTENSION, { count: true }, { "stars/count": ({ of }, { params }) => ({ of, all: params }) });
  await using client = await clientOf(server);
  expect(await client.request("stars/count", { of: "Lyra" })).toMatchObject({ of: "Lyra", all: { of: "Lyra" } });
  expect((await failure(client.request("stars/name"))).details.rpc?.code).toBe(-32601);
  // A legacy client is told of extensions that it declares itself.
  const told = revision === "2026-07-28" ? { [EXTENSION]: { count: true } } : undefined;
  expect(client.serverCapabilities?.extensions).toEqual(told);
});

test("whoever listens to a task hears of its changes, where the server has the tasks extension", async () => {
  const server = newServer();
  await using early = await clientOf(server);
  await using nothing = await early.subscribe({ tasks: ["a"] }, () => {});
  expect(nothing.accepted.tasks).toEqual([]);

  server.extension(TASKS_EXTENSION);
  await using client = await clientOf(server);
  const changes: Change[] = [];
  await using subscription = await client.subscribe({ tasks: ["a"] }, (change) => changes.push(change));
  expect(subscription.accepted.tasks).toEqual(["a"]);
  for (const taskId of ["b", "a"]) server.taskChanged({ taskId, status: "working" });
  await expect.poll(() => changes).toMatchObject([{ kind: "task-changed", taskId: "a" }]);
});

test("a server ends subscriptions of modern clients in good order, and legacy ones go on", async () => {
  for (const [revision, kinds] of [
    ["2026-07-28", ["interrupted", "restored", "list-changed"]],
    ["2025-11-25", ["list-changed"]],
  ] as const) {
    const server = newServer({ revisions: [revision] });
    server.tool({ name: "a" }, () => "a");
    await using client = await clientOf(server);
    const heard: string[] = [];
    await using _subscription = await client.subscribe({ lists: ["tools"] }, ({ kind }) => heard.push(kind));
    server.endSubscriptions();
    await expect.poll(() => heard).toEqual(kinds.slice(0, -1));
    server.tool({ name: "b" }, () => "b");
    await expect.poll(() => heard).toEqual(kinds);
  }
});

describe("tasks of 2025-11-25", () => {
  const LEGACY_TASKS = { requests: { tools: { call: {} } } };
  const task = { taskId: "t", status: "completed", createdAt: "2026-01-01T00:00:00Z", ttl: null, pollInterval: 1 };

  function serverWith(legacyTasks: McpServerOptions["legacyTasks"]): { server: McpServer; wishes: unknown[] } {
    const wishes: unknown[] = [];
    const server = newServer({ legacyTasks });
    server.tool({ name: "work", execution: { taskSupport: "optional" } }, (_args, { params }) => {
      wishes.push(params["task"]);
      return isWished(params) ? { task } : "done at once";
    });
    const related = { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t" } } };
    server.extension(
      TASKS_EXTENSION,
      {},
      {
        "tasks/get": () => task,
        "tasks/result": () => ({ content: [{ type: "text", text: "done" }], ...related }),
      },
    );
    return { server, wishes };
  }
  const isWished = (params: Params) => params["task"] !== undefined;

  test("are run by a server that has them", async () => {
    const { server, wishes } = serverWith(LEGACY_TASKS);
    await using client = await clientOf(server, { protocolVersion: "2025-11-25" });
    expect(client.serverCapabilities).toMatchObject({ tasks: LEGACY_TASKS });
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ execution: { taskSupport: "optional" } }] });
    expect(await client.callTool("work", {}, { task: true })).toMatchObject({ content: [{ text: "done" }] });
    expect(wishes).toEqual([{}]);
    expect(await client.request("tasks/result", { taskId: "t" })).toMatchObject({
      _meta: { "io.modelcontextprotocol/related-task": { taskId: "t" } },
    });
  });

  test.each([
    ["by a server without them", "2025-11-25", undefined],
    ["by older clients", "2025-06-18", LEGACY_TASKS],
    ["by clients of the newest revision", "2026-07-28", LEGACY_TASKS],
  ] as const)("are not seen %s", async (_who, protocolVersion, legacyTasks) => {
    const { server, wishes } = serverWith(legacyTasks);
    const isNewest = protocolVersion === "2026-07-28";
    // Without a version of its own it asks the server first.
    await using client = await clientOf(server, isNewest ? {} : { protocolVersion });
    expect(client.serverCapabilities).not.toHaveProperty("tasks");
    const { tools } = (await client.request("tools/list")) as unknown as { tools: object[] };
    expect(tools[0]).not.toHaveProperty("execution");
    if (isNewest) return;
    await client.request("tools/call", { name: "work", task: {} });
    expect(wishes).toEqual([undefined]);
    expect((await failure(client.request("tasks/get", { taskId: "t" }))).details.rpc?.code).toBe(-32601);
  });
});
