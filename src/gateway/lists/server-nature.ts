import type { Client } from "../../client/client.ts";
import { newestCapabilities, unstatedLifetimeMs } from "../../client/newest-form.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

/** What a server declared when it was connected. */
export type ServerNature = Pick<Client, "era" | "serverInfo" | "instructions"> & {
  /** In the form of the newest revision. */
  capabilities: ServerCapabilities;
  /** How long a list is used if the server neither said how long it stays valid nor reports its changes. */
  believedMs: number;
};

/** A server that was not asked may offer anything. */
const EVERYTHING: ServerCapabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };

export function natureOf(client: Client): ServerNature {
  const { era, serverInfo, instructions } = client;
  const capabilities = newestCapabilities(client) ?? EVERYTHING;
  return { era, serverInfo, instructions, capabilities, believedMs: unstatedLifetimeMs(client) };
}
