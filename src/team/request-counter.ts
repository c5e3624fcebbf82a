import type { ExceededLimit } from "../gateway/operation/allowance.ts";

/** Counts requests against one limit: so many in a window, which starts with the first one. */
export interface RequestCounter {
  readonly limit: ExceededLimit;
  /** Counts as many of these requests as the limit allows, and says how many that are. */
  take(requests: number): number | Promise<number>;
  /** The window in which it counts now. */
  readonly window: number;
  /** Takes back what was counted in a window for requests that another limit refused. Nothing where that window is over. */
  giveBack(requests: number, window: number): void;
  /** When the window ends. */
  readonly retryAfterMs: number;
  /** Another number for the same window. */
  setMax(max: number): void;
  close(): Promise<void>;
}
