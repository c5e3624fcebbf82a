import { growingPause, withJitter } from "../../async/backoff.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { isRepeatable } from "../../protocol/methods.ts";
import { isConnectionFailure, isWorthARetry } from "../../errors/error-traits.ts";

export interface RetrySettings {
  /** Attempts after the first one. */
  maxRetries: number;
  /** The first pause; it doubles with each attempt, with jitter. */
  backoffMs: number;
  /**
   * Retry tools that are annotated as read-only or idempotent. The annotations come from the server, so this can be
   * disabled.
   */
  trustToolHints: boolean;
}

export const DEFAULT_RETRY: RetrySettings = { maxRetries: 2, backoffMs: 250, trustToolHints: true };
const LONGEST_BACKOFF_MS = 10_000;

interface RetryAttempt {
  method: string;
  /** Attempts so far. */
  tries: number;
  /** Whether the tool declares that repeating a call has no additional effect. */
  harmlessTool: boolean;
}

/** The pause before the request may be sent again; undefined if it must not be. */
export function retryDelayMs(error: NexusError, attempt: RetryAttempt, settings: RetrySettings): number | undefined {
  if (attempt.tries > settings.maxRetries || !mayRepeat(error, attempt, settings)) return undefined;
  const pauses = { firstMs: settings.backoffMs, longestMs: LONGEST_BACKOFF_MS };
  return Math.max(error.details.retryAfterMs ?? 0, withJitter(growingPause(attempt.tries - 1, pauses)));
}

function mayRepeat(
  error: NexusError,
  { method, tries, harmlessTool }: RetryAttempt,
  { trustToolHints }: RetrySettings,
): boolean {
  const { status, mayHaveReached, retryAfterMs } = error.details;
  const isLoss = isConnectionFailure(error.code);
  if (isLoss && mayHaveReached === false) return true;
  const isPassing = isLoss || (status !== undefined && isWorthARetry(status));
  if (!isPassing) return false;
  if (isRepeatable(method)) return true;
  if (method !== "tools/call") return false;
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return true;
  return trustToolHints && harmlessTool && tries === 1;
}
