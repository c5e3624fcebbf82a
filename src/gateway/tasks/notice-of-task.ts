import { Cancellation } from "../../async/cancellation.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import { LATEST } from "../../protocol/revisions.ts";
import type { GatewayExchange, GatewayListenRequest } from "../names/view.ts";
import type { CallRunner } from "../upstream/call-runner.ts";
import { outwardResult } from "../names/outward.ts";
import { renamed } from "../names/renamed.ts";

export interface TaskNotice {
  server: string;
  /** As the caller knows it. */
  taskId: string;
  request: GatewayListenRequest;
  calls: CallRunner;
}

/** What a caller is told of a task that changed: all there is to know of it, as `tasks/get` would answer. */
export async function taskNotice(
  notification: Notification,
  { server, taskId, request, calls }: TaskNotice,
): Promise<Notification> {
  const told = renamed(notification, { taskId });
  // 2025-11-25 tells the status alone.
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
    signal: new Cancellation(),
    caller: {
      era: "modern",
      version: LATEST,
      owner,
      capabilities,
      logLevel: undefined,
      progressToken: undefined,
      trace: undefined,
      notify() {},
      ask: undefined,
    },
  };
}
