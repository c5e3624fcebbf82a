import type { Core, Listening, Offer } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { GatewayListenRequest, View } from "../names/view.ts";
import type { AskedRequest, EndpointExchange, ResolvedRequest } from "./request.ts";

/** What all endpoints of the gateway share: the servers of a host. */
export interface Views {
  /** Whether the server or set exists and the principal may know of it. */
  reaches(principal: Principal, view: View): boolean;
  /** Whether the server exists and the principal may know of it. */
  sees(principal: Principal, server: string): boolean;
  /** What a request is for; undefined while the host is closed. */
  resolve(asked: AskedRequest): ResolvedRequest | undefined;
  /** Whether a server lists a tool of this name, to anybody. */
  listsTool(server: string, tool: string): boolean;
  offer(view: View, principal: Principal): Promise<Offer>;
  /** For one server, its own name and version if they are known. For a set, its name. */
  serverInfo(view: View): Implementation | undefined;
  /** The stages behind the limits of an endpoint. */
  handle(exchange: EndpointExchange): Promise<Result>;
  listen(request: GatewayListenRequest): Promise<Listening>;
  paramHeaders(exchange: EndpointExchange): ReturnType<Core["paramHeaders"]>;
  release(owner: string): void;
}
