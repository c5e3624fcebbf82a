import type { CancelSignal } from "../../client/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Caller, Exchange } from "../exchange.ts";
import type { Principal } from "../principal.ts";

/** A connection that somebody uses, until it is given back. */
export interface Lease extends Disposable {
  readonly client: Client;
  release(): void;
}

/** Whose connections are meant: those its calls go over. */
export interface ConnectionOwner {
  principal: Principal;
  caller: Pick<Caller, "era" | "owner" | "capabilities" | "ask">;
}

/** One request on its way to a server, in that server's own names. */
export interface UpstreamCall {
  /** Empty for `tasks/*`: the id of the task tells. */
  server: string;
  method: string;
  params: Params;
  exchange: Exchange;
}

/** What names, lists and listening need of the calls. */
export interface CallRunner {
  /** The result in the form of the newest specification, in the server's own names. */
  run(call: UpstreamCall): Promise<Result>;
  /** The very connection that calls of this owner go over: a process keeps its state, and tells of it, there alone. */
  lease(server: string, owner: ConnectionOwner, signal?: CancelSignal): Promise<Lease>;
  /** What a task id that was given to this caller stands for; undefined where it is none of the caller's. */
  findTask(taskId: string, principal: Principal): { server: string; taskId: string } | undefined;
  release(owner: string): void;
}
