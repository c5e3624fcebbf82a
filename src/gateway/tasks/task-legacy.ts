import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { Task } from "../../client/tasks.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { ParkedQuestions } from "../upstream/parked-questions.ts";
import { unknownTask } from "../names/task-ids.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

/** How long to wait for the question of a task that is in the state `input_required`. */
const QUESTION_MS = 1_000;

export interface LegacyTaskOptions {
  client: Client;
  taskId: string;
  capabilities: ClientCapabilities;
  gatherMs: number;
}

/** A task of 2025-11-25, presented as a task of the 2026 extension. */
export class LegacyTask {
  readonly #client: Client;
  readonly #taskId: string;
  readonly #options: LegacyTaskOptions;
  readonly #questions = new ParkedQuestions(() => this.#onAsked());
  readonly #ending = new AbortController();
  /** `tasks/result`, which answers when the task has ended and asks questions until then. */
  #result: Promise<Outcome> | undefined;
  #onAsked: () => void = () => {};

  constructor(options: LegacyTaskOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#taskId = options.taskId;
  }

  async get(signal: CancelSignal): Promise<Result> {
    const task = await this.#client.tasks.get(this.#taskId, { signal });
    const {
      result: _result,
      error: _error,
      inputRequests: _requests,
      ...outline
    } = withoutReservedMeta<Task & { _meta?: unknown }>(task);
    switch (task.status) {
      case "working":
      case "cancelled":
        return complete(outline);
      case "input_required":
        return complete(await this.#withQuestions(outline, signal));
      case "completed":
      case "failed":
        // A tool error is a failed task in 2025-11-25 and a completed task in the extension.
        return complete({ ...outline, ...(await unlessAborted(this.#outcome(), signal)) });
    }
  }

  update(responses: unknown): Result {
    this.#questions.answer(responses);
    return complete({});
  }

  async cancel(signal: CancelSignal): Promise<Result> {
    try {
      await this.#client.tasks.cancel(this.#taskId, { signal });
    } catch (error) {
      if (asNexusError(error).code !== "SERVER_ERROR") throw error;
      // A finished task cannot be cancelled at the server, which is no error here; an unknown task is an error.
      await this.#client.tasks.get(this.#taskId, { signal }).catch(() => {
        throw unknownTask();
      });
    }
    return complete({});
  }

  /** Stops asking about the task; the task itself continues. */
  close(): void {
    this.#questions.refuse();
    const error = new NexusError("CANCELLED", "The client no longer polls the task");
    // The refusals must be sent before the cancellation.
    queueMicrotask(() => process.nextTick(() => this.#ending.abort(error)));
  }

  #outcome(): Promise<Outcome> {
    if (this.#result) return this.#result;
    const result = this.#waitForResult();
    this.#result = result;
    // A broken connection says nothing about the task: the next request asks again.
    result.catch(() => (this.#result = undefined));
    return result;
  }

  async #waitForResult(): Promise<Outcome> {
    const { capabilities } = this.#options;
    try {
      const result = await this.#client.request(
        "tasks/result",
        { taskId: this.#taskId },
        {
          signal: this.#ending.signal,
          timeoutMs: Infinity,
          totalTimeoutMs: Infinity,
          input: { capabilities, handle: (question, { signal }) => this.#questions.ask(question, signal) },
        },
      );
      return { status: "completed", result: withoutReservedMeta(result) };
    } catch (thrown) {
      const { rpc } = asNexusError(thrown).details;
      if (!rpc) throw thrown;
      return { status: "failed", error: rpc };
    }
  }

  /**
   * A task that needs input is useless to the caller without its questions; until they are known, it is reported as
   * working.
   */
  async #withQuestions(outline: Task, signal: CancelSignal): Promise<Task> {
    const outcome = this.#outcome();
    if (this.#questions.size === 0) {
      let timer: NodeJS.Timeout | undefined;
      const asked = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, QUESTION_MS);
        this.#onAsked = () => {
          clearTimeout(timer);
          timer = setTimeout(resolve, this.#options.gatherMs);
        };
      });
      try {
        await unlessAborted(Promise.race([asked, outcome]), signal);
      } finally {
        clearTimeout(timer);
        this.#onAsked = () => {};
      }
    }
    if (this.#questions.size === 0) return { ...outline, status: "working" };
    return { ...outline, inputRequests: this.#questions.requests() };
  }
}

type Outcome =
  | { status: "completed"; result: Result }
  | { status: "failed"; error: { code: number; message: string; data?: unknown } };

function complete(members: Record<string, unknown>): Result {
  return { resultType: "complete", ...members };
}
