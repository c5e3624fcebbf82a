import { describe, expect, test } from "vitest";
import { LegacyTask } from "../../src/gateway/core/task-legacy.ts";
import type { Params, Result } from "../../src/protocol/json-rpc.ts";
import { failure } from "../fixtures/failure.ts";
import {
  CallsWorld,
  EVERYTHING,
  keysOf,
  retryOf,
  TASKS,
  textOf,
  type CallerOptions,
  type Upstream,
} from "./calls-world.ts";

const FOLLOWING = { capabilities: { ...EVERYTHING, ...TASKS } };
const ASKABLE = { capabilities: EVERYTHING };
const ACCEPT = { action: "accept", content: { ok: true, name: "Ada" } };

const ask = (world: CallsWorld, method: string, params: Params, caller: CallerOptions = FOLLOWING) =>
  world.run(method, params, caller, "");

/** Asks about a task until it has this status. */
async function until(world: CallsWorld, taskId: unknown, status: string): Promise<Result> {
  let task: Result = {};
  await expect
    .poll(async () => (task = await ask(world, "tasks/get", { taskId }))["status"], { timeout: 10_000 })
    .toBe(status);
  return task;
}

const UPSTREAMS: Upstream[] = ["modern stdio", "modern http", "legacy stdio", "legacy http"];

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
    const elsewhere = { ...FOLLOWING, view: { kind: "one", server: "another" } as const };
    for (const [params, caller] of [
      [{ taskId }, other],
      [{ taskId }, elsewhere],
      [{ taskId: `${String(taskId)}x` }, FOLLOWING],
      [{}, FOLLOWING],
    ] as const) {
      expect(await failure(ask(world, "tasks/get", params, caller))).toMatchObject({
        details: { rpc: { code: -32602, message: "There is no such task" } },
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

describe.each<Upstream>(["legacy stdio", "legacy http"])("a modern caller of a %s server", (upstream) => {
  test("that does not follow tasks gets the final result, and is asked what the task asks (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await world.tool("failing_job", {}, {})).toMatchObject({ resultType: "complete", isError: true });
    const first = await world.tool("test_tool_with_task", {}, ASKABLE);
    expect(first).toMatchObject({ resultType: "input_required" });
    const last = await world.tool("test_tool_with_task", {}, ASKABLE, retryOf(first, ACCEPT));
    expect(textOf(last)).toBe("A task for Ada.");
  });
});

describe.each<Upstream>(["modern stdio", "modern http"])("a task of a %s server", (upstream) => {
  test("is refused to a caller that does not follow tasks, as the server MUST (B1)", async () => {
    await using world = await CallsWorld.open(upstream);
    expect(await failure(world.tool("failing_job", {}, ASKABLE))).toMatchObject({
      details: { rpc: { code: -32021, data: { requiredCapabilities: TASKS } } },
    });
  });

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

describe.each<Upstream>(["legacy stdio", "legacy http"])("a task of a %s server", (upstream) => {
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
