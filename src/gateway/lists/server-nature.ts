import type { Client } from "../../client/client.ts";
import { newestCapabilities, unstatedLifetimeMs } from "../../client/newest-form.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { Implementation, ServerCapabilities } from "../../protocol/mcp.ts";
import { META } from "../../protocol/meta.ts";

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

/** What is known of a server, with its own answer to `server/discover`. */
export function discoveredNature(known: ServerNature, { _meta, instructions, capabilities }: Result): ServerNature {
  const info = _meta?.[META.serverInfo];
  return {
    ...known,
    serverInfo: isRecord(info) ? (info as Implementation) : known.serverInfo,
    instructions: typeof instructions === "string" ? instructions : undefined,
    capabilities: isRecord(capabilities) ? capabilities : known.capabilities,
  };
}
