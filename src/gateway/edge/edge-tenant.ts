import type { Endpoints } from "./guarded-core.ts";

/** The tenant of a caller, as the edge uses it. */
export interface EdgeTenant {
  readonly endpoints: Endpoints;
  /**
   * Opens it, if it is closed, and keeps it open until the returned function is called. Rejects with what the caller is
   * told. Undefined for a tenant that is always open.
   */
  readonly enter: (() => Promise<() => void>) | undefined;
  /** Takes note of the gateways that a request came through; false where it has come through this one before. */
  admitsVia(header: unknown): boolean;
  /** Ids of the servers that are switched on; none while it is closed. */
  servers(): readonly string[];
}
