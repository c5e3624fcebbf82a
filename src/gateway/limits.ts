import { SERVER_LIMITS, type ServerLimits } from "../server/core/limits.ts";

/** What one gateway takes on, so that no client can make it take on everything. */
export interface Limits extends ServerLimits {
  /** Calls that are worked on at the same time; more wait in the queue. */
  calls: number;
  queue: number;
  /** How long a call waits in the queue. */
  queueMs: number;
}

export const DEFAULT_LIMITS: Limits = { ...SERVER_LIMITS, calls: 1024, queue: 1024, queueMs: 10_000 };
