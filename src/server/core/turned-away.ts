import { NexusError } from "../../errors/nexus-error.ts";
import { INTERNAL_ERROR, type ErrorObject } from "../../protocol/json-rpc.ts";

/** When a caller who was turned away should come again. */
const COME_AGAIN_MS = 1000;

/** The call was not made; the caller may make it again later. */
export function turnedAway(message: string): NexusError {
  const data = { code: "BUSY", mayHaveReached: false, retryAfterMs: COME_AGAIN_MS };
  return new NexusError("CLOSED", message, {
    rpc: { code: INTERNAL_ERROR, message, data },
    retryAfterMs: COME_AGAIN_MS,
    mayHaveReached: false,
  });
}

/** After how many seconds to come again, where an error says that the call was turned away. */
export function retryAfter({ data }: ErrorObject): number | undefined {
  const { code, retryAfterMs } = (data ?? {}) as { code?: unknown; retryAfterMs?: unknown };
  return code === "BUSY" && typeof retryAfterMs === "number" ? Math.ceil(retryAfterMs / 1000) : undefined;
}

/** `self`: what this server is called where it speaks of itself. */
export function shuttingDown(self = "server"): string {
  return `The ${self} is shutting down`;
}
