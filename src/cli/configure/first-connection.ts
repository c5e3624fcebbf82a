import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { noteList } from "../command/pinned-lists.ts";
import type { ServerSet } from "../command/server-set.ts";

/** The result of the first connection to a new server. */
export type FirstConnection =
  | { ok: true; era: Era; protocolVersion: string; serverInfo: Implementation | undefined; tools: number | undefined }
  | { ok: false; error: NexusError };

/** Connects once, and remembers the names for completion. */
export async function connectOnce(
  servers: ServerSet,
  definition: ServerDefinition,
  signal: AbortSignal,
): Promise<FirstConnection> {
  try {
    const client = await servers.connect(definition, { signal });
    const { era, protocolVersion, serverInfo, serverCapabilities } = client;
    const tools = serverCapabilities?.tools ? await client.listTools({ signal }) : undefined;
    const prompts = serverCapabilities?.prompts ? await client.listPrompts({ signal }) : undefined;
    if (tools) await noteList(servers, definition, { kind: "tools", client, items: tools });
    if (prompts) await noteList(servers, definition, { kind: "prompts", client, items: prompts });
    servers.saw(definition, {
      ...(tools ? { tools: tools.map(({ name }) => name) } : {}),
      ...(prompts ? { prompts: prompts.map(({ name }) => name) } : {}),
    });
    return { ok: true, era, protocolVersion, serverInfo, tools: tools?.length };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return { ok: false, error: asNexusError(thrown) };
  }
}
