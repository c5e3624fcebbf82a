import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { Seal } from "../../server/core/seal.ts";
import { closedKey, type View } from "./view.ts";

/** The place where a task runs. */
export interface TaskPlace {
  server: string;
  taskId: string;
  /** The tool whose call became the task. */
  tool: string;
  /** The set or search view in which it was called: the task is known only there. */
  within?: string | undefined;
}

/** Whether a task can be followed at this endpoint. */
export function belongsTo(view: View, { server, within }: TaskPlace): boolean {
  return closedKey(view) === within && (view.kind !== "one" || view.server === server);
}

/** The ids of tasks that callers get: they contain the server and its task id, and are valid for one principal. */
export class TaskIds {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  seal({ server, taskId, tool, within }: TaskPlace, principal: Principal): string {
    const place = [server, taskId, tool];
    return this.#seal.seal(within === undefined ? place : [...place, within], bindingOf(principal));
  }

  /** Undefined for ids that are invalid, belong to another principal, or are from before a restart. */
  find(id: unknown, principal: Principal): TaskPlace | undefined {
    const opened = typeof id === "string" ? this.#seal.open(id, bindingOf(principal)) : undefined;
    const [server, taskId, tool, within] = Array.isArray(opened) ? (opened as unknown[]) : [];
    if (typeof server !== "string" || typeof taskId !== "string" || typeof tool !== "string") return undefined;
    return typeof within === "string" ? { server, taskId, tool, within } : { server, taskId, tool };
  }
}

export function unknownTask(): NexusError {
  const message = "Unknown task";
  return new NexusError("NAME_UNKNOWN", message, { rpc: { code: INVALID_PARAMS, message }, mayHaveReached: false });
}

function bindingOf(principal: Principal): string {
  return JSON.stringify(["task", principalKey(principal)]);
}

/** An answer about a task with its id replaced. In some versions of the extension the task is inside a member. */
export function withTaskId<T extends Record<string, unknown>>(answer: T, taskId: string): T {
  if (typeof answer["taskId"] === "string") return { ...answer, taskId };
  return isRecord(answer["task"]) ? { ...answer, task: { ...answer["task"], taskId } } : answer;
}

/** The id of the task in an answer. */
export function taskIdIn(answer: Record<string, unknown>): string | undefined {
  const task = isRecord(answer["task"]) ? answer["task"] : answer;
  return typeof task["taskId"] === "string" ? task["taskId"] : undefined;
}
