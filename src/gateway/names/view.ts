import type { Exchange, Listening, ListenRequest, Offer, Core } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Result } from "../../protocol/json-rpc.ts";

/** The servers that an endpoint shows: all of them with prefixed names, or one with its own names. */
export type View = { kind: "all" } | { kind: "one"; server: string };

export const EVERYTHING: View = { kind: "all" };

/** A request to an endpoint of the gateway. */
export type GatewayExchange = Exchange<View>;

export interface GatewayListenRequest extends ListenRequest {
  view: View;
}

/** What all endpoints of the gateway share: the servers of a host. */
export interface Views {
  /** Whether the server exists and the principal may know of it. */
  sees(principal: Principal, server: string): boolean;
  /** The server whose tool and prompt names begin with this prefix, without checking access. */
  serverOfPrefix(prefix: string): string | undefined;
  offer(view: View, principal: Principal): Promise<Offer>;
  /** For one server, its own name and version if they are known. */
  serverInfo(view: View): Implementation | undefined;
  handle(exchange: GatewayExchange): Promise<Result>;
  listen(request: GatewayListenRequest): Promise<Listening>;
  paramHeaders(view: View, principal: Principal, tool: string): ReturnType<Core["paramHeaders"]>;
  release(owner: string): void;
}
