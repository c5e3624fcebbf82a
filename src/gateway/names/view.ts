import type { Exchange, Listening, ListenRequest, Offer, Core } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Result } from "../../protocol/json-rpc.ts";

/** Which servers an endpoint shows: all of them, with names that say whose they are, or one, with names as they are. */
export type View = { kind: "all" } | { kind: "one"; server: string };

export const EVERYTHING: View = { kind: "all" };

/** A request that came to an endpoint of the gateway. */
export type GatewayExchange = Exchange<View>;

export interface GatewayListenRequest extends ListenRequest {
  view: View;
}

/** What stands behind all endpoints of the gateway: every server of a host, as one. */
export interface Views {
  /** Whether there is such a server, as far as the principal may know. */
  sees(principal: Principal, server: string): boolean;
  /** The server whose tools and prompts have names that begin so, whoever may know of it. */
  serverOfPrefix(prefix: string): string | undefined;
  offer(view: View, principal: Principal): Promise<Offer>;
  /** Who answers there: for one server its own name and version, as far as it is known by now. */
  serverInfo(view: View): Implementation | undefined;
  handle(exchange: GatewayExchange): Promise<Result>;
  listen(request: GatewayListenRequest): Promise<Listening>;
  paramHeaders(view: View, principal: Principal, tool: string): ReturnType<Core["paramHeaders"]>;
  release(owner: string): void;
}
