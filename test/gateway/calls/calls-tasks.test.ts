import { describe, expect, test } from "vitest";
import { LegacyTask } from "../../../src/gateway/calls/tasks-of-callers.ts";
import type { Params, Result } from "../../../src/protocol/json-rpc.ts";
import { failure } from "../../fixtures/failure.ts";
import {
  type CallerOptions,
  CallsWorld,
  EVERYTHING,
  keysOf,
  retryOf,
  TASKS,
  textOf,
  upstreams,
} from "./calls-world.ts";

const FOLLOWING = { capabilities: { ...EVERYTHING, ...TASKS } };
const ASKABLE = { capabilities: EVERYTHING };
const ACCEPT = { action: "accept", content: { ok: true, name: "Ada" } };

const ask = (world: CallsWorld, method: string, params: Params, caller: CallerOptions = FOLLOWING) =>
  world.run(method, params, caller, "");

/** Asks about a task until it has this status. */
async function until(world: CallsWorld, taskId: unknown, status: string): Promise<Result> {
  let task: Result = {};
  await expect.poll(async () => (task = await ask(world, "tasks/get", { taskId }))["status"]).toBe(status);
  return task;
}

const UPSTREAMS = upstreams("modern stdio", "modern http", "legacy stdio", "legacy http");

describe.each(UPSTREAMS)("a modern caller of a %s server", (upstream) => {
  test("that follows tasks gets one, under an id of ours, and its result (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const started = await world.tool("failing_job", {}, FOLLOWING);
    expect(started).toMatchObject({ resultType: "task", taskId: expect.any(String), status: "working" });
    const { taskId } = started;
    const task = await until(world, taskId, "completed");
    expect(task).toMatchObject({
      resultType: "complete",
      taskId,
      ttlMs: expect.any(Number),
      result: { isError: true, content: [{ text: "The job has failed." }] },
    });
    expect(JSON.stringify(task)).not.toContain("related-task");
    const ids = (await world.requests("tasks/get")).map(({ params }) => params?.["taskId"]);
    expect(ids).not.toContain(taskId);
    expect(await ask(world, "tasks/cancel", { taskId })).toEqual({ resultType: "complete" });
  });

  test("can cancel it", async () => {
    await using world = await CallsWorld.open(upstream);
    const { taskId } = await world.tool("failing_job", {}, FOLLOWING);
    expect(await ask(world, "tasks/cancel", { taskId })).toEqual({ resultType: "complete" });
    await until(world, taskId, "cancelled");
  });

  test("is refused tasks of others, unknown ones, and all of them without the extension (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const { taskId } = await world.tool("failing_job", {}, FOLLOWING);
    const other = { ...FOLLOWING, principal: { id: "other", tenant: "default" } };
    const elsewhere = { ...FOLLOWING, endpoint: { kind: "one", server: "another" } as const };
    for (const [params, caller] of [
      [{ taskId }, other],
      [{ taskId }, elsewhere],
      [{ taskId: `${String(taskId)}x` }, FOLLOWING],
      [{}, FOLLOWING],
    ] as const) {
      expect(await failure(ask(world, "tasks/get", params, caller))).toMatchObject({
        details: { rpc: { code: -32602, message: "Unknown task" } },
      });
    }
    expect(await failure(ask(world, "tasks/get", { taskId }, ASKABLE))).toMatchObject({
      details: { rpc: { code: -32021, data: { requiredCapabilities: TASKS } } },
    });
    expect(await failure(ask(world, "tasks/list", {}))).toMatchObject({ details: { rpc: { code: -32601 } } });
    expect(world.calls.findTask(taskId, other.principal)).toBeUndefined();
    expect(world.calls.findTask(taskId, { id: "anybody", tenant: "default" })).toMatchObject({ server: "up" });
  });
});

describe.each(upstreams("legacy stdio", "legacy http"))("a modern caller of a %s server", (upstream) => {
  test("that follows tasks gets one of a tool that need not be one; others get its result (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const started = await world.tool("slow_compute", { seconds: 0 }, FOLLOWING);
    expect(started).toMatchObject({ resultType: "task", taskId: expect.any(String) });
    const task = await until(world, started["taskId"], "completed");
    expect(task).toMatchObject({ result: { content: [{ type: "text" }] } });
    const plain = await world.tool("slow_compute", { seconds: 0 }, ASKABLE);
    expect(plain).toMatchObject({ resultType: "complete", content: (task["result"] as Result)["content"] });
    const asked = await world.requests("tools/call");
    expect(asked.map(({ params }) => params?.["task"])).toEqual([{}, undefined]);
  });

  test("of 2025-11-25 is offered no tasks: what it says of one is ignored, and it gets the result (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const caller = { era: "legacy", capabilities: {} } as const;
    for (const [name, wasTask] of [
      ["slow_compute", false],
      ["failing_job", true],
    ] as const) {
      const result = await world.tool(name, { seconds: 0 }, caller, { task: { ttl: 1000 } });
      expect(result).toMatchObject({ resultType: "complete", content: [{ type: "text" }] });
      const asked = (await world.requests("tools/call")).at(-1);
      expect(asked?.params?.["task"] !== undefined).toBe(wasTask);
    }
  });

  test("that does not follow tasks gets the final result, and is asked what the task asks (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await world.tool("failing_job", {}, {})).toMatchObject({ resultType: "complete", isError: true });
    const first = await world.tool("test_tool_with_task", {}, ASKABLE);
    expect(first).toMatchObject({ resultType: "input_required" });
    const last = await world.tool("test_tool_with_task", {}, ASKABLE, retryOf(first, ACCEPT));
    expect(textOf(last)).toBe("A task for Ada.");
  });
});

describe.each(upstreams("modern stdio", "modern http"))("a task of a %s server", (upstream) => {
  test("is refused to a caller that does not follow tasks, as the server MUST (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await failure(world.tool("failing_job", {}, ASKABLE))).toMatchObject({
      details: { rpc: { code: -32021, data: { requiredCapabilities: TASKS } } },
    });
  });
});

describe.each(UPSTREAMS)("a task of a %s server, as its caller sees it,", (upstream) => {
  test("asks, and is answered", async () => {
    await using world = await CallsWorld.open(upstream);
    const { taskId } = await world.tool("multi_input", {}, FOLLOWING);
    const asking = await until(world, taskId, "input_required");
    expect(keysOf(asking)).toHaveLength(2);
    const { inputResponses } = retryOf(asking, ACCEPT);
    expect(await ask(world, "tasks/update", { taskId, inputResponses })).toEqual({ resultType: "complete" });
    expect(await until(world, taskId, "completed")).toHaveProperty("result");
  });

  test("that broke is a failed one", async () => {
    await using world = await CallsWorld.open(upstream);
    const { taskId } = await world.tool("protocol_error_job", {}, FOLLOWING);
    expect(await until(world, taskId, "failed")).toMatchObject({ error: { message: "The job broke the server." } });
  });
});

describe.each(upstreams("legacy stdio", "legacy http"))("a task of a %s server", (upstream) => {
  const caller = { era: "modern", owner: "somebody", capabilities: EVERYTHING, ask: undefined } as const;
  const signal = new AbortController().signal;

  /** A task of a tool that need not be one. */
  async function started(world: CallsWorld, tool: string): Promise<LegacyTask> {
    using lease = await world.calls.lease("up", { principal: { id: "anybody", tenant: "default" }, caller });
    const { client } = lease;
    const start = await client.tasks.start(tool);
    const taskId = start.kind === "task" ? start.task.taskId : "";
    return new LegacyTask({ client, taskId, capabilities: EVERYTHING, gatherMs: 20 });
  }

  const statusOf = async (task: LegacyTask) => (await task.get(signal))["status"];

  test("asks, says so until it is answered, and is told as the extension tells of tasks (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    const task = await started(world, "multi_input");
    await expect.poll(() => statusOf(task)).toBe("input_required");
    const asking = await task.get(signal);
    expect(keysOf(asking)).toHaveLength(2);
    expect(keysOf(await task.get(signal))).toEqual(keysOf(asking));
    expect(JSON.stringify(asking)).not.toContain("related-task");
    task.update(retryOf(asking, ACCEPT)["inputResponses"]);
    await expect.poll(() => statusOf(task)).toBe("completed");
    expect(await task.get(signal)).toMatchObject({ resultType: "complete", result: { content: [{ type: "text" }] } });
    expect(await task.cancel(signal)).toEqual({ resultType: "complete" });
  });

  test("that broke is a failed one, and one that nobody asks about any more is left alone", async () => {
    await using world = await CallsWorld.open(upstream);
    const broken = await started(world, "protocol_error_job");
    await expect.poll(() => statusOf(broken)).toBe("failed");
    expect(await broken.get(signal)).toMatchObject({ error: { message: "The job broke the server." } });
    const left = await started(world, "confirm_delete");
    await expect.poll(() => statusOf(left)).toBe("input_required");
    left.close();
    await expect.poll(() => world.requests("notifications/cancelled")).toHaveLength(1);
  });
});

/** A server with one task, which says that it is completed; `onResult` is what it does when it is asked for the result. */
const taskServer = (revision: string, onResult: string) => `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const task = { taskId: "the-task", status: "completed", createdAt: "2026-01-01T00:00:00Z", ttl: null, ttlMs: null };
const serverInfo = { name: "one-task", version: "1" };
const extensions = { "io.modelcontextprotocol/tasks": {} };
const tools = [{ name: "job", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }];
const legacy = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } }, serverInfo },
  "tools/list": { tools },
  "tools/call": { task },
  "tasks/get": task,
};
const modern = {
  "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {}, extensions }, ttlMs: 0, cacheScope: "private" },
  "tools/list": { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" },
  "tools/call": { resultType: "task", ...task },
  "tasks/get": { resultType: "complete", ...task, result: { content: [] } },
};
const answers = "${revision}" === "2026-07-28" ? modern : legacy;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === "tasks/result") { ${onResult} }
  else if (id !== undefined && answers[method]) send({ id, result: answers[method] });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}
`;

describe("a task whose server", () => {
  test("dies before it told the result has not failed: it is told what happened (B1)", async () => {
    const script = taskServer("2025-11-25", "process.exit(3)");
    await using world = await CallsWorld.open("legacy stdio", { script });
    const { taskId } = await world.tool("job", {}, FOLLOWING);
    expect(await failure(ask(world, "tasks/get", { taskId }))).toMatchObject({ code: "SERVER_EXITED" });
  });

  test("does not tell the result holds nobody who has left", async () => {
    const script = taskServer("2025-11-25", `send({ method: "notifications/x-asked" });`);
    await using world = await CallsWorld.open("legacy stdio", { script });
    const { taskId } = await world.tool("job", {}, FOLLOWING);
    const caller = { era: "modern", owner: "somebody", ask: undefined, ...FOLLOWING } as const;
    using lease = await world.calls.lease("up", { principal: { id: "anybody", tenant: "default" }, caller });
    const leaving = new AbortController();
    lease.client.onNotification(() => leaving.abort());
    const asking = ask(world, "tasks/get", { taskId }, { ...FOLLOWING, signal: leaving.signal });
    expect(await failure(asking)).toMatchObject({ code: "CANCELLED" });
    expect(world.calls.inFlight).toBe(0);
  });

  test.each(["2025-11-25", "2026-07-28"])("of %s names it twice keeps its connection once", async (revision) => {
    await using world = await CallsWorld.open("legacy stdio", { script: taskServer(revision, "") });
    const started = [await world.tool("job", {}, FOLLOWING), await world.tool("job", {}, FOLLOWING)];
    expect(started).toMatchObject([{ resultType: "task" }, { resultType: "task" }]);
    // That every lease is given back is checked when this world ends.
  });
});
