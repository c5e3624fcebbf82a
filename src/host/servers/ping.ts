import type { Client } from "../../client/client.ts";
import { isSilence } from "../../errors/error-traits.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";

/** How long a server that is asked whether it is still there may take. */
const PING_MS = 3_000;

/** Asks a server whether it is still there: what that failed with, or undefined. */
export async function ping(client: Client): Promise<NexusError | undefined> {
  return client.ping({ timeoutMs: PING_MS }).then(() => undefined, asNexusError);
}

/** Whether a server answers at all, an error included. */
export async function isAnswering(client: Client): Promise<boolean> {
  const error = await ping(client);
  return !error || !isSilence(error.code);
}
