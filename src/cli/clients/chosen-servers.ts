import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { loadWritten } from "../../config/edit/written-servers.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { CommandContext } from "../command/command.ts";
import { openConfigured, placesOf } from "../configure/configured-servers.ts";

/** A configured server with its entry as written: in the keys of Nexus, with unresolved variables. */
export interface ChosenServer {
  definition: ServerDefinition;
  written: unknown;
}

/** The named servers, or all. Starts nothing. */
export async function chosenServers(
  context: Omit<CommandContext, "options">,
  names: readonly string[] | undefined,
): Promise<ChosenServer[]> {
  await using servers = await openConfigured(context);
  const definitions = names?.map((name) => servers.get(name)) ?? servers.configuration.servers;
  const chosen: ChosenServer[] = [];
  for (const definition of definitions) {
    const { id, origin } = definition;
    const file = origin && (await loadWritten(origin.file, placesOf(context)));
    chosen.push({ definition, written: file?.servers.find((server) => server.id === id)?.entry });
  }
  return chosen;
}

/** Another program would start the entry, so an untrusted entry must not be copied to it. */
export function untrusted({ id, origin }: ServerDefinition): NexusError {
  return new NexusError("UNTRUSTED", `Server "${id}" is configured in a project file that is not trusted`, {
    server: id,
    source: origin,
    hint: "Review and trust the file: nexus mcp trust",
    mayHaveReached: false,
  });
}
