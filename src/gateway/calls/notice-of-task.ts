import { newCorrelation } from "../../server/core/request-meta.ts";
import { Cancellation } from "../../async/cancellation.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import { LATEST } from "../../protocol/revisions.ts";
import type { GatewayExchange, GatewayListenRequest } from "../names/view.ts";
import type { CallRunner } from "./upstream-call.ts";
import { outwardResult } from "../names/names.ts";
import { renamed } from "../names/renamed.ts";

interface TaskNotice {
  server: string;
  /** The caller's id of the task. */
  taskId: string;
  request: GatewayListenRequest;
  calls: CallRunner;
}

/** The notification of a changed task, with all data that `tasks/get` would return. */
export async function taskNotice(
  notification: Notification,
  { server, taskId, request, calls }: TaskNotice,
): Promise<Notification> {
  const told = renamed(notification, { taskId });
  // The notification of 2025-11-25 has only the status.
  if (notification.method === "notifications/tasks/status") {
    const exchange = askingFor(taskId, request);
    const { method, params } = exchange;
    const { resultType: _, ...task } = await calls.run({ server: "", method, params, exchange });
    Object.assign(told, { method: "notifications/tasks", params: task });
  }
  if (request.view.kind === "one" || !told.params) return told;
  return { ...told, params: outwardResult(server, "tasks/get", told.params) };
}

function askingFor(taskId: string, { view, principal, owner, capabilities }: GatewayListenRequest): GatewayExchange {
  return {
    endpoint: view,
    principal,
    method: "tasks/get",
    params: { taskId },
    ...newCorrelation(),
    signal: new Cancellation(),
    caller: {
      era: "modern",
      version: LATEST,
      owner,
      capabilities,
      logLevel: undefined,
      progressToken: undefined,
      client: undefined,
      trace: undefined,
      notify() {},
      ask: undefined,
    },
  };
}
