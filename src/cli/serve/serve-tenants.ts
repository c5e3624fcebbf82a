import { tenantFolder } from "../../auth/tenant-folder.ts";
import { storedState } from "../../compose/stored-state.ts";
import { Host } from "../../host/host.ts";
import type { HostOptions } from "../../host/host-options.ts";
import { trustStore } from "../../host/servers/load-options.ts";
import type { Store } from "../../store/store.ts";
import { definePublished } from "../../team/published-servers.ts";
import { defineTenantServers } from "../../team/tenant-definitions.ts";
import { TenantHosts } from "../../team/tenant-hosts.ts";
import { childLogger, type Logger } from "../../text/logger.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import { ServerNews } from "./server-news.ts";

export interface TenantsContext {
  surroundings: Surroundings;
  stateFolder: string;
  /** The file of --config. */
  config: string | undefined;
  /** What all hosts share: the budget of processes, and the timeout. */
  shared: Pick<HostOptions, "processes" | "timeoutMs">;
  /** Called with each host that is opened. */
  onHost: (host: Host) => void;
  logger: Logger;
  out: Output;
}

/** The hosts of tenants other than `default`: their servers are in the store, and so is what they keep. */
export function followTenants(store: Store, context: TenantsContext): Promise<TenantHosts> {
  const { surroundings, stateFolder, config, shared, onHost, logger, out } = context;
  const { home, platform, variables } = surroundings;
  const ownTrust = trustStore(surroundings, stateFolder);
  return TenantHosts.follow({
    store,
    logger,
    start: async (tenant) => {
      const folder = tenantFolder(stateFolder, tenant);
      const state = storedState(store, tenant, ownTrust);
      const own = childLogger(logger, { tenant });
      const definitions = store.ledger(tenant, { logger: own });
      const options = { servers: {}, stateFolder: folder, logger: own, definitions, ...shared, ...state };
      const host = await Host.start(options, surroundings);
      // It hears nothing more when the host is closed.
      ServerNews.follow(host, out, tenant);
      onHost(host);
      return host;
    },
    define: async (tenant) => {
      const own = { secrets: store.secrets(tenant), secretOptions: ` --tenant ${tenant}` };
      const published = await definePublished(store.apis(tenant));
      return defineTenantServers(store.servers(tenant), { home, platform, variables, ...own, published, config });
    },
  });
}
