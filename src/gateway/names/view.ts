import type { Exchange, ListenRequest } from "../../server/core/core.ts";

/** What an endpoint shows: all servers with prefixed names, one with its own names, or a set of things of several servers. */
export type View = ShownPart & {
  /** Its tools are not listed, but searched for. */
  search?: true;
};

type ShownPart = { kind: "all" } | { kind: "one"; server: string } | { kind: "set"; name: string };

export const EVERYTHING: View = { kind: "all" };

/** Names a view among all: what is sealed for one is not valid for another. */
export function viewKey(view: View): string {
  const key = view.kind === "all" ? "" : view.kind === "one" ? view.server : `set:${view.name}`;
  return view.search ? SEARCH_MARK + key : key;
}

/** The part of it that others do not share: what began there is known only there. Undefined where there is none. */
export function closedKey({ search, ...view }: View): string | undefined {
  if (!search) return view.kind === "set" ? view.name : undefined;
  return SEARCH_MARK + (view.kind === "set" ? view.name : "");
}

// Ids of servers and names of sets contain no colon.
const SEARCH_MARK = "search:";

/** A request to an endpoint of the gateway. */
export type GatewayExchange = Exchange<View>;

export interface GatewayListenRequest extends ListenRequest {
  view: View;
}
