import type { CancelSignal } from "../../async/cancellation.ts";
import type { Lease } from "../../host/servers/lease.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { ShownTools } from "../../protocol/shown-tools.ts";
import type { CallerOutline } from "./upstream-capabilities.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { TaskPlace } from "../names/task-ids.ts";

/** The owner of connections: those that its calls use. */
export interface ConnectionOwner {
  principal: Principal;
  caller: CallerOutline;
  /** Called with the reason, in words, if a connection has to be waited for. */
  onWait?: ((reason: string) => void) | undefined;
}

/** One request to a server, in that server's own names. */
export interface UpstreamCall {
  /** Empty for `tasks/*`: the id of the task contains the server. */
  server: string;
  method: string;
  params: Params;
  exchange: GatewayExchange;
  /** Which state of the server's tools the caller has seen; empty if it is not known. Only for a server in this process. */
  seen?: string | undefined;
  /** What the caller may know of, for a tool that finds or describes others. Only for a server in this process. */
  shown?: ShownTools | undefined;
  /** Consent was given; further rounds of the call need none. */
  isConsented?: boolean | undefined;
}

/** The parts of the calls that names, lists and subscriptions use. */
export interface CallRunner {
  /** The result in the form of the newest specification, in the server's own names. */
  run(call: UpstreamCall): Promise<Result>;
  /** Whether the call continues one that got consent: then it is a further round of the same call. */
  takeConsent(call: UpstreamCall): boolean;
  /** The connection that calls of this owner use: a process keeps its state, and reports changes of it, only there. */
  lease(server: string, owner: ConnectionOwner, signal?: CancelSignal): Promise<Lease>;
  /** The task that an id stands for; undefined if the id was not issued to this principal. */
  findTask(taskId: unknown, principal: Principal): TaskPlace | undefined;
  release(owner: string): void;
}
