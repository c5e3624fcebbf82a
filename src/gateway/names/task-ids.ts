import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { Seal } from "../../server/core/seal.ts";

/** A task where it runs. */
export interface TaskPlace {
  server: string;
  taskId: string;
  /** The tool whose call became the task. */
  tool: string;
}

/** Ids of tasks as callers know them: they name server and task, and are good for their principal alone. */
export class TaskIds {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  seal({ server, taskId, tool }: TaskPlace, principal: Principal): string {
    return this.#seal.seal([server, taskId, tool], bindingOf(principal));
  }

  /** Undefined for ids that are wrong, somebody else's, or from before a restart. */
  find(id: unknown, principal: Principal): TaskPlace | undefined {
    const opened = typeof id === "string" ? this.#seal.open(id, bindingOf(principal)) : undefined;
    const [server, taskId, tool] = Array.isArray(opened) ? (opened as unknown[]) : [];
    if (typeof server !== "string" || typeof taskId !== "string" || typeof tool !== "string") return undefined;
    return { server, taskId, tool };
  }
}

export function unknownTask(): NexusError {
  const message = "Unknown task";
  return new NexusError("NAME_UNKNOWN", message, { rpc: { code: INVALID_PARAMS, message }, mayHaveReached: false });
}

function bindingOf(principal: Principal): string {
  return JSON.stringify(["task", principalKey(principal)]);
}

/** An answer about a task with its id replaced; some texts of the extension put the task inside. */
export function withTaskId<T extends Record<string, unknown>>(answer: T, taskId: string): T {
  if (typeof answer["taskId"] === "string") return { ...answer, taskId };
  return isRecord(answer["task"]) ? { ...answer, task: { ...answer["task"], taskId } } : answer;
}

/** The task that an answer tells of. */
export function taskIdIn(answer: Record<string, unknown>): string | undefined {
  const task = isRecord(answer["task"]) ? answer["task"] : answer;
  return typeof task["taskId"] === "string" ? task["taskId"] : undefined;
}
