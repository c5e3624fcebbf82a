import type { ProcessLimits } from "../../process/process-limits.ts";
import { SERVER_LIMITS, type ServerLimits } from "../../server/core/limits.ts";

/** Limits of the gateway. Those of processes apply to a host that the gateway opens; a host that is passed has its own. */
export interface Limits extends ServerLimits, ProcessLimits {
  /** Maximum number of running calls; others wait in the queue. */
  calls: number;
  queue: number;
  /** Maximum time of a call in the queue. */
  queueMs: number;
  /** How long running calls may continue after `close`. */
  drainMs: number;
  /** Maximum number of child processes of all servers. */
  processes: number;
  /**
   * How long a list of all servers waits for a server that was never seen, if the client could not be told later: on a pipe,
   * or without a stream or subscription.
   */
  firstListMs: number;
  /** How long the host of a tenant other than `default` stays open after its last use. */
  tenantIdleMs: number;
  /** Maximum time that a request waits for the host of its tenant to open. */
  tenantOpenMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  ...SERVER_LIMITS,
  calls: 1024,
  queue: 1024,
  queueMs: 10_000,
  drainMs: 10_000,
  processes: 256,
  firstListMs: 10_000,
  tenantIdleMs: 600_000,
  tenantOpenMs: 10_000,
};
