import { RecentMap } from "../../async/recent-map.ts";
import type { GatewayExchange } from "../names/view.ts";

/** For one server. The least recently noted are forgotten: then it is not known what they have seen. */
const MAX_OWNERS = 10_000;
/** Names of clients for one principal. */
const MAX_CLIENTS = 32;

type Asking = Pick<GatewayExchange, "caller">;

/**
 * Which state of a server's tools each caller has seen in its last list. A caller is a session or, where there is none, a
 * principal with the name of its client. Maps inside of maps, because a joined key would cost more than the rest of a call.
 */
export class SeenVersions {
  /** By server, owner of connections (a session or a principal), and name of the client. */
  readonly #noted = new Map<string, RecentMap<string, Map<string, string>>>();

  note({ caller }: Asking, server: string, version: string): void {
    const owners = this.#noted.get(server) ?? new RecentMap<string, Map<string, string>>({ most: MAX_OWNERS });
    const clients = owners.get(caller.owner) ?? new RecentMap<string, string>({ most: MAX_CLIENTS });
    this.#noted.set(server, owners);
    clients.set(clientOf(caller), version);
    owners.set(caller.owner, clients);
  }

  /** Empty if it is not known. */
  find({ caller }: Asking, server: string): string {
    return this.#noted.get(server)?.get(caller.owner)?.get(clientOf(caller)) ?? "";
  }
}

/** A session has one client. */
function clientOf({ era, client }: Asking["caller"]): string {
  return era === "modern" ? (client?.name ?? "") : "";
}
