import { RecentMap } from "../async/recent-map.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import type { Params, RequestId, Result } from "../protocol/json-rpc.ts";
import type { CallToolResult, Question } from "../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../protocol/meta.ts";
import type { CallOptions, CallScope } from "./conversation/call-scope.ts";
import type { Requester } from "./conversation/requester.ts";
import { callListener } from "../async/call-listener.ts";
import { readPages } from "./conversation/lists.ts";
import type { Logger } from "../text/logger.ts";
import { answerAll } from "./conversation/rounds.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task at the server. Its members are those of the newest specification, for every revision of the server. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt?: string;
  lastUpdatedAt?: string;
  /** How long the server keeps the task; null for no limit. */
  ttlMs?: number | null;
  pollIntervalMs?: number;
  [member: string]: unknown;
}

export interface TaskOptions extends CallOptions {
  /** How long the server should keep the task; only for legacy servers. */
  ttlMs?: number | undefined;
  /** Called with each observed state of the task. */
  onStatus?: ((task: Task) => void) | undefined;
}

/** The outcome of a call: its result, or a task. */
export type Started = { kind: "result"; result: CallToolResult } | { kind: "task"; task: Task };

/** Some tasks are never waited for. */
const MAX_TOKENS = 1_000;
/** Maximum number of questions of one task. */
const MAX_QUESTIONS = 1_000;
const POLL_MS = { default: 1_000, shortest: 20, longest: 60_000 };

/** Tasks of 2025-11-25 (core) and of the 2026 extension with one interface. */
export class Tasks {
  readonly #requester: Requester;
  readonly #prepareTool: (name: string) => Promise<boolean>;
  readonly #logger: Logger;
  /** The progress tokens of tasks. */
  readonly #tokens = new RecentMap<string, RequestId>({ most: MAX_TOKENS });

  /** `prepareTool` returns whether a legacy server can run this tool as a task. */
  constructor(requester: Requester, prepareTool: (name: string) => Promise<boolean>, logger: Logger) {
    this.#requester = requester;
    this.#prepareTool = prepareTool;
    this.#logger = logger;
  }

  /** Calls a tool as a task if the server supports it. A modern server decides itself whether to create a task. */
  start(name: string, args?: object, options: TaskOptions = {}): Promise<Started> {
    return this.startCall({ name, arguments: args ?? {} }, options);
  }

  /** The same with raw parameters. */
  async startCall(call: Params & { name: string }, options: TaskOptions = {}): Promise<Started> {
    const params: Params = { ...call };
    if (!this.#requester.isModern && (await this.#prepareTool(call.name))) {
      params["task"] = options.ttlMs === undefined ? {} : { ttl: options.ttlMs };
    }
    const extensions = { [TASKS_EXTENSION]: {} };
    const request = { method: "tools/call", params, options, extensions };
    let progressToken: RequestId | undefined;
    const result = await this.#requester.inScope(request, async (scope) => {
      const answer = await this.#requester.roundsIn(scope);
      ({ progressToken } = scope);
      return answer;
    });
    const isTask = result.resultType === "task" || (params["task"] !== undefined && isRecord(result["task"]));
    if (isTask && progressToken !== undefined) this.#tokens.set(taskIn(result).taskId, progressToken);
    return isTask ? { kind: "task", task: taskIn(result) } : { kind: "result", result: result as CallToolResult };
  }

  async get(taskId: string, options?: CallOptions): Promise<Task> {
    return taskIn(await this.#request("tasks/get", taskId, options));
  }

  /** Waits for the task, answers its questions and returns its result. Aborting only stops the waiting. */
  wait(taskId: string, options: TaskOptions = {}): Promise<CallToolResult> {
    const { totalTimeoutMs = Infinity } = options;
    const method = this.#requester.isModern ? "tasks/get" : "tasks/result";
    const call = { method, params: { taskId }, options: { ...options, totalTimeoutMs }, extensions: EXTENSION };
    const { taskProgress } = this.#requester.conversation.peer;
    const token = this.#tokens.get(taskId);
    return this.#requester.inScope(call, async (scope) => {
      if (token !== undefined) taskProgress.set(token, scope);
      try {
        return await this.#poll(taskId, scope, options);
      } finally {
        if (token !== undefined) taskProgress.delete(token);
        this.#tokens.delete(taskId);
      }
    });
  }

  /** Asks the server to cancel the task; the task may still complete. */
  async cancel(taskId: string, options?: CallOptions): Promise<void> {
    await this.#request("tasks/cancel", taskId, options);
  }

  /** Lists the tasks of this session. The modern extension has no such list. */
  async list(options?: CallOptions): Promise<Task[]> {
    if (this.#requester.isModern) throw this.#requester.missing("tasks/list", "Keep the ids of the tasks you start.");
    return this.#requester.inScope({ method: "tasks/list", options }, async (scope) => {
      const read = (params: Params | undefined) => this.#requester.conversation.exchange("tasks/list", params, scope);
      return (await readPages("tasks/list", "tasks", read)).filter(isRecord).map(canonical);
    });
  }

  /** Starts a task and waits for it. Aborting also cancels the task. */
  run(name: string, args: object | undefined, options: TaskOptions): Promise<CallToolResult> {
    return this.runCall({ name, arguments: args ?? {} }, options);
  }

  /** The same with raw parameters. */
  async runCall(call: Params & { name: string }, options: TaskOptions): Promise<CallToolResult> {
    const started = await this.startCall(call, options);
    if (started.kind === "result") return started.result;
    const { taskId } = started.task;
    try {
      return await this.wait(taskId, options);
    } catch (error) {
      // Not waited for, so that an abort takes effect at once.
      if (options.signal?.aborted) void this.cancel(taskId).catch(() => {});
      throw error;
    }
  }

  #request(method: string, taskId: string, options: CallOptions | undefined): Promise<Result> {
    return this.#requester.request({ method, params: { taskId }, options, extensions: EXTENSION });
  }

  async #poll(taskId: string, scope: CallScope, { onStatus }: TaskOptions): Promise<CallToolResult> {
    const { conversation, isModern } = this.#requester;
    const answered = new Set<string>();
    for (;;) {
      const task = taskIn(await conversation.exchange("tasks/get", { taskId }, scope));
      scope.touch();
      if (onStatus) callListener(() => onStatus(task), this.#logger);
      if (task.status === "cancelled") throw cancelled(task);
      if (isModern && task.status === "completed") return resultOf(task);
      if (isModern && task.status === "failed") throw failureOf(task);
      if (!isModern && task.status !== "working") return await this.#legacyResult(taskId, scope);
      await this.#answer(task, answered, scope);
      await scope.rest(pollMs(task));
    }
  }

  /** A legacy server answers when the task has ended, and asks its questions until then. */
  async #legacyResult(taskId: string, scope: CallScope): Promise<CallToolResult> {
    scope.waitPatiently();
    return (await this.#requester.conversation.exchange("tasks/result", { taskId }, scope)) as CallToolResult;
  }

  /** Questions are repeated in every poll until they are answered: each key is asked once. */
  async #answer(task: Task, answered: Set<string>, scope: CallScope): Promise<void> {
    const asked = isRecord(task["inputRequests"]) ? (task["inputRequests"] as Record<string, Question>) : {};
    const open = Object.entries(asked).filter(([key]) => !answered.has(key));
    if (open.length === 0) return;
    for (const [key] of open) answered.add(key);
    if (answered.size > MAX_QUESTIONS) {
      const message = `Task ${task.taskId} has asked ${answered.size} questions without finishing; the limit is ${MAX_QUESTIONS}`;
      throw new NexusError("INPUT_FAILED", message, { mayHaveReached: true });
    }
    const inputResponses = await answerAll(Object.fromEntries(open), new Set(), { desk: this.#requester.desk, scope });
    await this.#requester.conversation.exchange("tasks/update", { taskId: task.taskId, inputResponses }, scope);
  }
}

const EXTENSION = { [TASKS_EXTENSION]: {} };

function pollMs({ pollIntervalMs = POLL_MS.default }: Task): number {
  return Math.min(Math.max(pollIntervalMs, POLL_MS.shortest), POLL_MS.longest);
}

function cancelled(task: Task): NexusError {
  return new NexusError("CANCELLED", `Task ${task.taskId} was cancelled`, { raw: task, mayHaveReached: true });
}

function resultOf(task: Task): CallToolResult {
  if (isRecord(task["result"])) return task["result"] as CallToolResult;
  throw new NexusError("PROTOCOL_VIOLATION", `Task ${task.taskId} is completed, but has no result`, {
    raw: task,
    mayHaveReached: true,
  });
}

function failureOf(task: Task): NexusError {
  const { error } = task;
  if (isRecord(error) && typeof error["code"] === "number" && typeof error["message"] === "string") {
    const rpc = { code: error["code"], message: error["message"], data: error["data"] };
    return new NexusError("SERVER_ERROR", rpc.message, { rpc, raw: task, mayHaveReached: true });
  }
  return new NexusError("SERVER_ERROR", task.statusMessage ?? `Task ${task.taskId} failed`, {
    raw: task,
    mayHaveReached: true,
  });
}

/**
 * The task in an answer: the answer itself in the newest revision, under `task` in 2025-11-25 and some versions of the
 * extension.
 */
function taskIn(result: Result): Task {
  const task = isRecord(result["task"]) ? result["task"] : result;
  if (typeof task["taskId"] !== "string" || typeof task["status"] !== "string") {
    throw new NexusError("PROTOCOL_VIOLATION", "The server's answer does not contain a task", {
      raw: result,
      mayHaveReached: true,
    });
  }
  return canonical(task);
}

/** 2025-11-25 uses `ttl` and `pollInterval`. An interval that is not a number is ignored. */
function canonical({ ttl, pollInterval, pollIntervalMs = pollInterval, ...task }: Record<string, unknown>): Task {
  const isInterval = typeof pollIntervalMs === "number" && pollIntervalMs >= 0;
  return {
    ...task,
    ...(ttl === undefined ? {} : { ttlMs: ttl as number | null }),
    ...(isInterval ? { pollIntervalMs } : {}),
  } as Task;
}
