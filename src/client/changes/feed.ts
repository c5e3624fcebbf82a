import type { NexusError } from "../../errors/nexus-error.ts";
import type { Interests } from "../../protocol/interests.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import { changedList, type ChangingList } from "../../protocol/list-kinds.ts";

export type Change =
  | { kind: "list-changed"; list: ChangingList; notification: Notification }
  | { kind: "resource-updated"; uri: string; notification: Notification }
  | { kind: "task-changed"; taskId: string; notification: Notification }
  /** The stream of changes broke off, and is being opened again. */
  | { kind: "interrupted"; error: NexusError }
  /** It is back; what changed in between was not told. */
  | { kind: "restored" }
  /** It cannot be opened again. */
  | { kind: "ended"; error: NexusError };

export type ChangeListener = (change: Change) => void;

/** How one era tells of changes. */
export interface Feed {
  /** Hears about these from now on, and says which of them the server agreed to. */
  set(interests: Interests): Promise<Interests>;
  /** A notification of the server, whoever it is for. */
  notified(notification: Notification): void;
  /** The session was opened anew: the server knows nothing of this feed any more. */
  renewed(shared: Map<string, { users: number; subscribed: Promise<boolean> }>): Promise<void>;
  /** Stops by itself, without a word to the server; `error` is told to the listener. */
  abandon(error?: NexusError): void;
  close(): Promise<void>;
}

/** The change a notification tells of, if it tells of one. */
export function changeIn(
  notification: Notification,
): Exclude<Change, { error?: unknown } | { kind: "restored" }> | undefined {
  const { method, params } = notification;
  const list = changedList(method);
  if (list) return { kind: "list-changed", list, notification };
  if (method === "notifications/resources/updated" && typeof params?.["uri"] === "string") {
    return { kind: "resource-updated", uri: params["uri"], notification };
  }
  // 2025-11-25 names the task in the parameters, the extension of 2026 likewise.
  if (method === "notifications/tasks/status" || method === "notifications/tasks") {
    const task = isRecord(params?.["task"]) ? params["task"] : params;
    if (typeof task?.["taskId"] === "string") return { kind: "task-changed", taskId: task["taskId"], notification };
  }
  return undefined;
}
