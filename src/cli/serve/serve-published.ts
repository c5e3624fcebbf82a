import { followedApis } from "../../compose/stored-state.ts";
import type { Store } from "../../store/store.ts";
import { PublishedServers } from "../../team/published-servers.ts";
import { definePublishedServers } from "../../team/tenant-definitions.ts";
import type { Logger } from "../../text/logger.ts";
import type { Surroundings } from "../../transport/surroundings.ts";

interface PublishedContext {
  tenant: string;
  surroundings: Surroundings;
  /** The file of --config. */
  config: string | undefined;
  logger: Logger;
}

/** The published servers of a tenant whose other servers are in configuration files. */
export function followPublished(store: Store, context: PublishedContext): Promise<PublishedServers> {
  const { tenant, surroundings, config, logger } = context;
  const { source, changes } = followedApis(store, tenant);
  return PublishedServers.follow({
    logger,
    changes,
    define: () => definePublishedServers(source, surroundings, config),
  });
}
