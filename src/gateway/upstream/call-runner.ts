import type { CancelSignal } from "../../async/cancellation.ts";
import type { Lease } from "../../host/servers/lease.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { CallerOutline } from "./upstream-capabilities.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { TaskPlace } from "../names/task-ids.ts";

/** Whose connections are meant: those its calls go over. */
export interface ConnectionOwner {
  principal: Principal;
  caller: CallerOutline;
}

/** One request on its way to a server, in that server's own names. */
export interface UpstreamCall {
  /** Empty for `tasks/*`: the id of the task tells. */
  server: string;
  method: string;
  params: Params;
  exchange: GatewayExchange;
  /** Somebody agreed to it: its further rounds need no consent of their own. */
  isConsented?: boolean | undefined;
}

/** What names, lists and listening need of the calls. */
export interface CallRunner {
  /** The result in the form of the newest specification, in the server's own names. */
  run(call: UpstreamCall): Promise<Result>;
  /** Whether a call brings back the state of one that was consented to: then it is the same call, in a further round. */
  takeConsent(call: UpstreamCall): boolean;
  /** The very connection that calls of this owner go over: a process keeps its state, and tells of it, there alone. */
  lease(server: string, owner: ConnectionOwner, signal?: CancelSignal): Promise<Lease>;
  /** What a task id that was given to this caller stands for; undefined where it is none of the caller's. */
  findTask(taskId: unknown, principal: Principal): TaskPlace | undefined;
  release(owner: string): void;
}
