import { NexusError } from "../../errors/nexus-error.ts";
import { INTERNAL_ERROR, type ErrorObject } from "../../protocol/json-rpc.ts";

/** When a refused caller should try again. */
const RETRY_AFTER_MS = 1000;

/** The error for a call that was not made because the server is busy; the caller may repeat it later. */
export function busyError(message: string): NexusError {
  const data = { code: "BUSY", mayHaveReached: false, retryAfterMs: RETRY_AFTER_MS };
  return new NexusError("CLOSED", message, {
    rpc: { code: INTERNAL_ERROR, message, data },
    retryAfterMs: RETRY_AFTER_MS,
    mayHaveReached: false,
  });
}

/** For an error after which the caller may come again: the HTTP status, and the value of `Retry-After` in seconds. */
export function retryLater({ data }: ErrorObject): { status: number; seconds: number } | undefined {
  const { code, retryAfterMs } = (data ?? {}) as { code?: unknown; retryAfterMs?: unknown };
  const status = code === "BUSY" ? 503 : code === "RATE_LIMITED" ? 429 : undefined;
  if (status === undefined || typeof retryAfterMs !== "number") return undefined;
  return { status, seconds: Math.ceil(retryAfterMs / 1000) };
}

/** `self`: what this server is called where it speaks of itself. */
export function shuttingDown(self = "server"): string {
  return `The ${self} is shutting down`;
}
