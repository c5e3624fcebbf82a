import type { SecretStore } from "../../auth/secrets.ts";
import type { LoadOptions } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import type { OpenedLedger } from "../../host/definitions/lazy-ledger.ts";
import type { EraCache } from "../../host/servers/era-cache.ts";
import type { OpenApi } from "../../host/servers/server-connector.ts";
import type { PublishedReach } from "../../transport/server-entry.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";

/** Whose servers they are, and where what belongs to them is kept. */
export interface ServerSource extends AsyncDisposable {
  readonly tenant: string;
  readonly stateFolder: string;
  readonly secrets: SecretStore;
  readonly trust: TrustStore;
  readonly eras: EraCache;
  readonly openApi: OpenApi;
  /** Opens the accepted definitions of servers. */
  openLedger(): Promise<OpenedLedger>;
  /** Whether definitions of servers that are not pinned are kept as well: there is a store for them. */
  readonly keepsDefinitions: boolean;
  /** The servers of a tenant that has no configuration files. */
  readonly load?: ((load: Omit<LoadOptions, "trust">) => Promise<StoredServers>) | undefined;
  /** The published servers of a tenant that has configuration files. `isSought`: one of them is probably named. */
  published?(options?: { isSought?: boolean }): Promise<ServerDefinition[]>;
  findPublishedFile?(reach: PublishedReach): Promise<PublishedFile | undefined>;
  /** The options that select it, for commands to copy: ` --tenant NAME`, or nothing. */
  readonly optionsAgain: string;
}

/** `upstream`: the address that replaces all others of the file. */
export interface PublishedFile {
  file: ToolFile;
  upstream: string | undefined;
}

export interface StoredServers {
  definitions: ServerDefinition[];
  /** As they were added, by id. */
  entries: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}
