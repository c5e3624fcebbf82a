import type { Client } from "../../client/client.ts";
import { visible } from "../../text/visible.ts";
import type { Notification } from "../../protocol/json-rpc.ts";

/** A log message of a server as `--verbose` shows it: `[level] logger: text`. */
export function logLine({ method, params }: Notification): string | undefined {
  if (method !== "notifications/message") return undefined;
  const { level, logger, data } = params ?? {};
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return visible(`[${String(level)}] ${typeof logger === "string" ? `${logger}: ` : ""}${text}`);
}

/** Asks for every message; a server that does not log, or refuses, is no reason to stop. */
export async function wantEveryMessage(client: Client, signal: AbortSignal): Promise<void> {
  if (client.serverCapabilities?.logging) await client.setLogLevel("debug", { signal }).catch(() => {});
}
