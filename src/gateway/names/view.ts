import type { Exchange, ListenRequest } from "../../server/core/core.ts";

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
