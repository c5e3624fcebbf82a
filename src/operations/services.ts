import type { SecretStore } from "../auth/secrets.ts";
import type { ServerDirectory } from "../host/directory/server-directory.ts";
import type { AccessTarget } from "../host/directory/access-target.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";
import type { PublicationCompiler } from "../workshop/publish/publication-compiler.ts";
import type { LoadedToolFiles } from "./loaded-tool-files.ts";

/** The servers of a tenant, as far as a question about them needs them. */
export interface ExplainedServers {
  directory: ServerDirectory;
  /** As it is listed or, for an API, found by searching; undefined if it is neither. */
  findTool: (server: string, tool: string) => Promise<AccessTarget | undefined>;
}

/** What operations work on. */
export interface Services {
  store: Store;
  /** The hosts of tenants that run in this process. */
  gateway: Pick<Gateway, "findHost" | "useHost" | "activityOf">;
  /** Undefined where the tenant is not known. */
  useServers: <T>(tenant: string, use: (servers: ExplainedServers) => Promise<T>) => Promise<T | undefined>;
  /** Throws NAME_UNKNOWN for a tenant that does not exist. */
  secretsOf(tenant: string): Promise<SecretStore>;
  toolFiles: LoadedToolFiles;
  /** One for all requests of a process, so that it compiles one tool file at a time; undefined where there is only one. */
  compiler?: PublicationCompiler | undefined;
  stateFolder: string;
  logger: Logger;
}
