import { SERVER_LIMITS, type ServerLimits } from "../../server/core/limits.ts";

/** Limits of the gateway. */
export interface Limits extends ServerLimits {
  /** Maximum number of running calls; others wait in the queue. */
  calls: number;
  queue: number;
  /** Maximum time of a call in the queue. */
  queueMs: number;
  /** How long running calls may continue after `close`. */
  drainMs: number;
}

export const DEFAULT_LIMITS: Limits = { ...SERVER_LIMITS, calls: 1024, queue: 1024, queueMs: 10_000, drainMs: 10_000 };
