import type { Exchange, Listening, ListenRequest, Offer, Core } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ThingKind } from "./target.ts";

/** What an endpoint shows: all servers with prefixed names, one with its own names, or a set of things of several servers. */
export type View = { kind: "all" } | { kind: "one"; server: string } | { kind: "set"; name: string };

export const EVERYTHING: View = { kind: "all" };

/** Names a view among all: what is sealed for one is not valid for another. */
export function viewKey(view: View): string {
  if (view.kind === "all") return "";
  // Ids of servers contain no colon.
  return view.kind === "one" ? view.server : `set:${view.name}`;
}

/** A request to an endpoint of the gateway. */
export type GatewayExchange = Exchange<View>;

export interface GatewayListenRequest extends ListenRequest {
  view: View;
}

/** What all endpoints of the gateway share: the servers of a host. */
export interface Views {
  /** Whether the server or set exists and the principal may know of it. */
  reaches(principal: Principal, view: View): boolean;
  /** Whether the server exists and the principal may know of it, at this endpoint. */
  sees(principal: Principal, server: string, view?: View): boolean;
  /** The server whose tool and prompt names begin with this prefix, without checking access. */
  serverOfPrefix(prefix: string): string | undefined;
  /** The full name of something that has another name in a set. */
  findFullName(view: View, kind: ThingKind, name: string): string | undefined;
  /** Whether a server lists a tool of this name, to anybody. */
  listsTool(server: string, tool: string): boolean;
  offer(view: View, principal: Principal): Promise<Offer>;
  /** For one server, its own name and version if they are known. For a set, its name. */
  serverInfo(view: View): Implementation | undefined;
  handle(exchange: GatewayExchange): Promise<Result>;
  listen(request: GatewayListenRequest): Promise<Listening>;
  paramHeaders(view: View, principal: Principal, tool: string): ReturnType<Core["paramHeaders"]>;
  release(owner: string): void;
}
