import type { Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Core, Listening, Offer } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Logger } from "../../text/logger.ts";
import type { GatewayListenRequest, View } from "../names/view.ts";
import type { AskedRequest, EndpointExchange, ResolvedRequest } from "../requests/request.ts";
import type { Views } from "../requests/views.ts";
import type { TenantLifetime } from "./tenant-lifetime.ts";
import { TenantListening } from "./tenant-listening.ts";

/**
 * The servers of a tenant, for as long as the gateway lives: its host is opened when they are used, and stays open
 * meanwhile. Sessions of older clients outlive a host that was closed, so they are bound to this.
 */
export class TenantViews implements Views {
  readonly #lifetime: TenantLifetime;
  readonly #logger: Logger;

  constructor(lifetime: TenantLifetime, logger: Logger) {
    this.#lifetime = lifetime;
    this.#logger = logger;
  }

  /** False while it is closed. */
  reaches(principal: Principal, view: View): boolean {
    return this.#lifetime.opened?.views.reaches(principal, view) ?? false;
  }

  /** False while it is closed. */
  sees(principal: Principal, server: string): boolean {
    return this.#lifetime.opened?.views.sees(principal, server) ?? false;
  }

  /** Undefined while it is closed. */
  resolve(asked: AskedRequest): ResolvedRequest | undefined {
    return this.#lifetime.opened?.views.resolve(asked);
  }

  listsTool(server: string, tool: string): boolean {
    return this.#lifetime.opened?.views.listsTool(server, tool) ?? false;
  }

  offer(view: View, principal: Principal): Promise<Offer> {
    return this.#lifetime.use((views) => views.offer(view, principal));
  }

  serverInfo(view: View): Implementation | undefined {
    return this.#lifetime.opened?.views.serverInfo(view);
  }

  handle(exchange: EndpointExchange): Promise<Result> {
    return this.#lifetime.use((views) => views.handle(exchange), exchange.signal);
  }

  listen(request: GatewayListenRequest): Promise<Listening> {
    return TenantListening.open(request, this.#lifetime, this.#logger);
  }

  paramHeaders(exchange: EndpointExchange): ReturnType<Core["paramHeaders"]> {
    return this.#lifetime.use(async (views) => views.paramHeaders(exchange));
  }

  release(owner: string): void {
    this.#lifetime.opened?.views.release(owner);
  }
}
