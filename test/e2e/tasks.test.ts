import { describe, expect, test } from "vitest";
import { connect, type ConnectOptions, type Task } from "../../src/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { reach, WAYS } from "../fixtures/reach.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const WITH_TASKS = WAYS.filter(({ revision }) => revision >= "2025-11-25");
const accepting: ConnectOptions = {
  input: { capabilities: { elicitation: { form: {} } }, handle: () => ({ action: "accept", content: { ok: true } }) },
};

describe.each(WITH_TASKS)("tasks over $transport, $revision", (way) => {
  test("a call can wait for its task, and hears of its states (R6)", async () => {
    await using reached = await reach(way);
    const states: Task[] = [];
    const result = await reached.client.callTool(
      "slow_compute",
      { seconds: 0.1 },
      { task: { onStatus: (task) => states.push(task) } },
    );
    expect(result).toMatchObject({ content: [{ text: "Computed for 0.1 s." }] });
    expect(states.map(({ status }) => status)).toContain("completed");
    expect(states[0]).toMatchObject({ taskId: expect.any(String) as string, createdAt: expect.any(String) as string });
  });

  test("a task can be started, looked at, and come back to", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const started = await client.tasks.start("slow_compute", { seconds: 0.2 });
    if (started.kind !== "task") throw new Error("no task was made");
    const { taskId, status } = started.task;
    expect(status).toBe("working");
    expect(await client.tasks.get(taskId)).toMatchObject({ taskId });
    expect(await client.tasks.wait(taskId)).toMatchObject({ content: [{ text: "Computed for 0.2 s." }] });
    expect(await client.tasks.get(taskId)).toMatchObject({ status: "completed" });
  });

  test("a tool that makes no task answers at once", async () => {
    await using reached = await reach(way);
    const result = await reached.client.callTool("greet", { name: "Ada" }, { task: true });
    expect(result).toMatchObject({ content: [{ text: "Hello, Ada!" }] });
  });

  test("a failed tool is a result, a broken one an error", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    expect(await client.callTool("failing_job", {}, { task: true })).toMatchObject({ isError: true });
    const error = await failure(client.callTool("protocol_error_job", {}, { task: true }));
    expect(error).toMatchObject({ code: "SERVER_ERROR", details: { rpc: { code: -32603 } } });
  });

  test("questions inside a task reach the handler, each once", async () => {
    let asked = 0;
    const input: ConnectOptions["input"] = {
      capabilities: { elicitation: { form: {} } },
      handle: () => {
        asked++;
        return { action: "accept", content: { ok: true } };
      },
    };
    await using reached = await reach(way, { input });
    const { client } = reached;
    expect(await client.callTool("confirm_delete", {}, { task: true })).toMatchObject({
      content: [{ text: "Deleted." }],
    });
    expect(await client.callTool("multi_input", {}, { task: true })).toMatchObject({ content: [{ type: "text" }] });
    expect(asked).toBe(3);
  });

  test("aborting the call cancels its task at the server (G6)", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    const abort = new AbortController();
    let taskId = "";
    const call = client.callTool(
      "slow_compute",
      { seconds: 60 },
      {
        signal: abort.signal,
        task: {
          onStatus: (task) => {
            taskId = task.taskId;
            abort.abort();
          },
        },
      },
    );
    expect(await failure(call)).toMatchObject({ code: "CANCELLED" });
    expect(await client.tasks.get(taskId)).toMatchObject({ status: "cancelled" });
    expect(await failure(client.tasks.wait(taskId))).toMatchObject({ code: "CANCELLED" });
  });

  test("aborting the waiting leaves the task alone", async () => {
    await using reached = await reach(way, accepting);
    const { client } = reached;
    const started = await client.tasks.start("slow_compute", { seconds: 60 });
    const taskId = started.kind === "task" ? started.task.taskId : "";
    expect(await failure(client.tasks.wait(taskId, { totalTimeoutMs: 50 }))).toMatchObject({ code: "TIMEOUT" });
    expect(await client.tasks.get(taskId)).toMatchObject({ status: "working" });
    await client.tasks.cancel(taskId);
    await expect.poll(async () => (await client.tasks.get(taskId)).status).toBe("cancelled");
  });

  test("the list of tasks is a legacy server's", async () => {
    await using reached = await reach(way);
    const { client } = reached;
    if (client.era === "modern")
      return expect(await failure(client.tasks.list())).toMatchObject({ code: "CAPABILITY_MISSING" });
    const started = await client.tasks.start("slow_compute", { seconds: 60 });
    const taskId = started.kind === "task" ? started.task.taskId : "";
    expect(await client.tasks.list()).toContainEqual(expect.objectContaining({ taskId, status: "working" }));
    await client.tasks.cancel(taskId);
  });
});

test("without being told to, a call declares no tasks", async () => {
  await using reached = await reach({ transport: "http", revision: "2026-07-28" });
  const error = await failure(reached.client.callTool("failing_job"));
  expect(error).toMatchObject({ details: { rpc: { code: -32021 } } });
});

test("changes of a task are told to those who asked (2026 extension)", async () => {
  await using reached = await reach({ transport: "http", revision: "2026-07-28" });
  const { client } = reached;
  const started = await client.tasks.start("slow_compute", { seconds: 0.3 });
  const taskId = started.kind === "task" ? started.task.taskId : "";
  const changes: unknown[] = [];
  await using subscription = await client.subscribe({ tasks: [taskId] }, (change) => changes.push(change));
  expect(subscription.accepted.tasks).toEqual([taskId]);
  await expect.poll(() => changes).toContainEqual(expect.objectContaining({ kind: "task-changed", taskId }));
});

test("a task is polled at the interval that the server asks for", async () => {
  const polls: number[] = [];
  const server = new ScriptedServer({ era: "modern" })
    .on("tools/call", () => ({ resultType: "task", taskId: "t", status: "working", pollIntervalMs: 120 }))
    .on("tasks/get", () => {
      polls.push(performance.now());
      const state = polls.length < 3 ? { status: "working" } : { status: "completed", result: { content: [] } };
      return { taskId: "t", pollIntervalMs: 120, ...state };
    });
  await using client = await connect(server.transport);
  expect(await client.callTool("x", {}, { task: true })).toEqual({ content: [] });
  const [first = 0, second = 0, third = 0] = polls;
  expect(second - first).toBeGreaterThan(110);
  expect(third - second).toBeGreaterThan(110);
});

test("a task that is completed without a result breaks the protocol", async () => {
  const server = new ScriptedServer({ era: "modern" })
    .on("tools/call", () => ({ resultType: "task", taskId: "t", status: "working" }))
    .on("tasks/get", () => ({ taskId: "t", status: "completed" }));
  await using client = await connect(server.transport);
  expect(await failure(client.callTool("x", {}, { task: true }))).toMatchObject({ code: "PROTOCOL_VIOLATION" });
});

test("an interval longer than the timeout is waited out, and one that is no number is none", async () => {
  let polls = 0;
  const server = new ScriptedServer({ era: "modern" })
    .on("tools/call", () => ({ resultType: "task", taskId: "t", status: "working", pollIntervalMs: 300 }))
    .on("tasks/get", () => {
      const pollIntervalMs = ++polls === 1 ? 300 : "1s";
      return polls < 3
        ? { taskId: "t", status: "working", pollIntervalMs }
        : { taskId: "t", status: "completed", result: { content: [] } };
    });
  await using client = await connect(server.transport, { timeoutMs: 100 });
  expect(await client.callTool("x", {}, { task: true })).toEqual({ content: [] });
  expect(polls).toBe(3);
});

test("progress of a legacy task comes with the token of the call that made it (R6)", async () => {
  let token: unknown;
  const reports: number[] = [];
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const server: ScriptedServer = new ScriptedServer({ era: "legacy", capabilities })
    .on("tools/list", () => ({ tools: [{ name: "x", inputSchema: {}, execution: { taskSupport: "optional" } }] }))
    .on("tools/call", (params) => {
      token = (params?.["_meta"] as { progressToken?: unknown } | undefined)?.progressToken;
      return { task: { taskId: "t", status: "working", pollInterval: 20 } };
    })
    .on("tasks/get", () => {
      server.notify("notifications/progress", { progressToken: token, progress: reports.length + 1 });
      return { taskId: "t", status: reports.length < 2 ? "working" : "completed", pollInterval: 20 };
    })
    .on("tasks/result", () => ({ content: [] }));
  await using client = await connect(server.transport);
  await client.callTool("x", {}, { task: true, onProgress: ({ progress }) => reports.push(progress) });
  expect(reports.slice(0, 2)).toEqual([1, 2]);
});

test("lists of tasks and skills whose cursors go round in a circle are errors", async () => {
  const server = new ScriptedServer({ era: "legacy", capabilities: { tasks: {} } })
    .on("tasks/list", () => ({ tasks: [], nextCursor: "a" }))
    .on("skills/list", () => ({ skills: [], nextCursor: "a" }));
  await using client = await connect(server.transport);
  expect(await failure(client.tasks.list())).toMatchObject({ code: "PROTOCOL_VIOLATION" });
  expect(await failure(client.skills.list())).toMatchObject({ code: "PROTOCOL_VIOLATION" });
});

test("changes of a legacy task are told to those who asked", async () => {
  const server = new ScriptedServer({ era: "legacy", capabilities: { tasks: {} } });
  await using client = await connect(server.transport);
  const changes: unknown[] = [];
  await using subscription = await client.subscribe({ tasks: ["mine"] }, (change) => changes.push(change));
  expect(subscription.accepted.tasks).toEqual(["mine"]);
  for (const taskId of ["mine", "other"]) server.notify("notifications/tasks/status", { taskId, status: "completed" });
  await client.ping();
  expect(changes).toMatchObject([
    { kind: "task-changed", taskId: "mine", notification: { params: { status: "completed" } } },
  ]);
});

test("tasks of one pipe that ask at the same time are each answered by whoever made the call (G7)", async () => {
  await using client = await connect(stdioFixture(["--revision", "2025-11-25"]), {
    input: { capabilities: { elicitation: { form: {} } }, handle: () => ({ action: "cancel" as const }) },
  });
  const capabilities = { elicitation: { form: {} } };
  const actions = Array.from({ length: 8 }, (_, index) =>
    index % 2 === 0 ? ("accept" as const) : ("decline" as const),
  );
  const results = await Promise.all(
    actions.map(async (action) => {
      const handle = () => ({ action, content: { ok: true } });
      return client.callTool("confirm_delete", {}, { task: true, input: { capabilities, handle } });
    }),
  );
  const texts = results.map(({ content }) => (content[0] as { text: string }).text);
  expect(texts).toEqual(actions.map((action) => (action === "accept" ? "Deleted." : "Kept.")));
});
