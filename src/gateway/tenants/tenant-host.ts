import type { Host } from "../../host/host.ts";
import type { Views } from "../requests/views.ts";

/** Opens the host of a tenant. The signal is aborted when the gateway closes. */
export type OpenTenant = (tenant: string, signal: AbortSignal) => Promise<Host>;

/** The host of a tenant while it is open, and what stands in front of it. */
export interface TenantHost {
  readonly host: Host;
  readonly views: Views;
  /** Calls that wait for answers of their callers. */
  readonly parked: number;
  /** Whether callers may come back for something that would be lost: a parked call, or a task. */
  readonly isAwaited: boolean;
  /** Calls that are not over at their servers, and whose callers may be away. */
  readonly unfinished: number;
  /** Resolves when those that are not over now have ended. */
  settled(): Promise<void>;
  close(): Promise<void>;
}
