import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Principal } from "../../server/core/principal.ts";

/** Resources of the gateway itself, beside those of its servers, at the endpoints of all servers and of one. */
export interface GatewayResources {
  /** As in `resources/list`: those that this principal may read. */
  list(principal: Principal): readonly Params[];
  /** As in `resources/read`; undefined where the principal has no such resource. */
  read(principal: Principal, uri: string): Promise<Result> | undefined;
}

/** URIs of servers begin with their id and a plus sign, so none begins like this. */
const SCHEME = "nexus://";

/** The resource that a request reads, where it is one of the gateway itself. */
export function findGatewayUri(method: string, { uri }: Params): string | undefined {
  return method === "resources/read" && typeof uri === "string" && uri.startsWith(SCHEME) ? uri : undefined;
}
