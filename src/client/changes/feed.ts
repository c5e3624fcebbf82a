import type { NexusError } from "../../errors/nexus-error.ts";
import type { Interests } from "../../protocol/interests.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import { changedList, type ChangingList } from "../../protocol/list-kinds.ts";

export type Change =
  | { kind: "list-changed"; list: ChangingList; notification: Notification }
  | { kind: "resource-updated"; uri: string; notification: Notification }
  | { kind: "task-changed"; taskId: string; notification: Notification }
  /** The stream of changes was interrupted and is being reopened. */
  | { kind: "interrupted"; error: NexusError }
  /** The stream is open again; changes in between were not reported. */
  | { kind: "restored" }
  /** The stream cannot be reopened. */
  | { kind: "ended"; error: NexusError };

export type ChangeListener = (change: Change) => void;

/** Delivers changes in one era. */
export interface Feed {
  /** Subscribes to these interests and returns those that the server accepted. */
  set(interests: Interests): Promise<Interests>;
  /** Handles a notification of the server. */
  notified(notification: Notification): void;
  /** The session was opened again: the server has lost the subscriptions of this feed. */
  renewed(shared: Map<string, { users: number; subscribed: Promise<boolean> }>): Promise<void>;
  /** Stops without notifying the server; the listener receives `error`. */
  abandon(error?: NexusError): void;
  close(): Promise<void>;
}

/** The change that a notification reports; undefined if it reports none. */
export function changeIn(
  notification: Notification,
): Exclude<Change, { error?: unknown } | { kind: "restored" }> | undefined {
  const { method, params } = notification;
  const list = changedList(method);
  if (list) return { kind: "list-changed", list, notification };
  if (method === "notifications/resources/updated" && typeof params?.["uri"] === "string") {
    return { kind: "resource-updated", uri: params["uri"], notification };
  }
  // Both 2025-11-25 and the 2026 extension have the task in the parameters.
  if (method === "notifications/tasks/status" || method === "notifications/tasks") {
    const task = isRecord(params?.["task"]) ? params["task"] : params;
    if (typeof task?.["taskId"] === "string") return { kind: "task-changed", taskId: task["taskId"], notification };
  }
  return undefined;
}
