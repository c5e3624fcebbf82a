import type { Client } from "../../client/client.ts";
import { newestCapabilities } from "../../client/newest-form.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

/** What a server said of itself when it was connected. */
export type ServerNature = Pick<Client, "era" | "serverInfo" | "instructions"> & {
  /** In the form of the newest revision. */
  capabilities: ServerCapabilities;
  /** How long a list is believed that neither says how long it stays valid nor is reported when it changes. */
  believedMs: number;
};

/** A server that was never asked may offer anything. */
const EVERYTHING: ServerCapabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
/** A legacy server has no way to say how long a list stays valid; a modern one that does not say it means: not at all. */
const LEGACY_BELIEVED_MS = 60_000;

export function natureOf(client: Client): ServerNature {
  const { era, serverInfo, instructions } = client;
  const capabilities = newestCapabilities(client) ?? EVERYTHING;
  return { era, serverInfo, instructions, capabilities, believedMs: era === "legacy" ? LEGACY_BELIEVED_MS : 0 };
}
