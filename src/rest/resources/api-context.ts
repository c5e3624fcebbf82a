import type { SecretStore } from "../../auth/secrets.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Allowance } from "../../gateway/operation/allowance.ts";
import type { KeyDoor } from "../../team/key-door.ts";
import type { KeyOperations } from "../../team/operate/key-operations.ts";
import type { TenantOperations } from "../../team/operate/tenant-operations.ts";
import type { StoredAudit } from "../../team/stored-audit.ts";
import type { Store } from "../../store/store.ts";
import type { PublicationCompiler } from "../../workshop/publish/publication-compiler.ts";
import type { Logger } from "../../text/logger.ts";
import type { Identification } from "../access/identification.ts";
import type { Sessions } from "../access/sessions.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { RestOperation } from "../http/operation.ts";
import type { LoadedToolFiles } from "./loaded-tool-files.ts";

/** What operations work on. */
export interface ApiContext {
  store: Store;
  door: KeyDoor;
  sessions: Sessions;
  identification: Identification;
  keys: KeyOperations;
  tenants: TenantOperations;
  gateway: Pick<Gateway, "findHost" | "useHost" | "activityOf">;
  events: EventHub;
  /** Where changes are recorded; undefined where they are not. */
  audit: Pick<StoredAudit, "recordIncident" | "requireReady"> | undefined;
  /** Counts requests; undefined where nothing is limited. */
  allowance: Pick<Allowance, "take"> | undefined;
  toolFiles: LoadedToolFiles;
  compiler: PublicationCompiler;
  secretsOf: (tenant: string) => SecretStore;
  stateFolder: string;
  logger: Logger;
}

export type ApiOperation = RestOperation<ApiContext>;

/** Gives `handle` the types of the query and the body. */
export function defineOperation<Query, Body>(operation: RestOperation<ApiContext, Query, Body>): ApiOperation {
  return operation;
}
