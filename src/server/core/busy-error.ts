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

/** The value of `Retry-After` in seconds, if the error says that the server is busy. */
export function retryAfter({ data }: ErrorObject): number | undefined {
  const { code, retryAfterMs } = (data ?? {}) as { code?: unknown; retryAfterMs?: unknown };
  return code === "BUSY" && typeof retryAfterMs === "number" ? Math.ceil(retryAfterMs / 1000) : undefined;
}

/** `self`: what this server is called where it speaks of itself. */
export function shuttingDown(self = "server"): string {
  return `The ${self} is shutting down`;
}
