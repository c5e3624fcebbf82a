import type { Client } from "../../client/client.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

/** What a server said of itself when it was connected. */
export type ServerNature = Pick<Client, "era" | "protocolVersion" | "serverInfo" | "instructions"> & {
  capabilities: ServerCapabilities;
};

/** A server that was never asked may offer anything. */
const EVERYTHING: ServerCapabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };

export function natureOf(client: Client): ServerNature {
  const { era, protocolVersion, serverInfo, instructions, serverCapabilities } = client;
  return { era, protocolVersion, serverInfo, instructions, capabilities: serverCapabilities ?? EVERYTHING };
}
