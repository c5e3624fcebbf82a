import type { Client } from "../../client/client.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";

/** Timeout of a ping. */
const PING_MS = 3_000;

/** Pings a server; returns the failure, or undefined. */
export async function ping(client: Client): Promise<NexusError | undefined> {
  return client.ping({ timeoutMs: PING_MS }).then(() => undefined, asNexusError);
}
