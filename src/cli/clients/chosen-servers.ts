import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { loadWritten } from "../../config/edit/written-servers.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { CommandContext } from "../command/command.ts";
import { openConfigured, placesOf } from "../configure/configured-servers.ts";

/** A configured server, and its entry as it stands in its file: in our own words, variables by their names. */
export interface ChosenServer {
  definition: ServerDefinition;
  written: unknown;
}

/** The servers that are named, or all of them. Nothing is started. */
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

/** A program that gets an entry starts what it says: what the user has not trusted must not get there by the way. */
export function untrusted({ id, origin }: ServerDefinition): NexusError {
  return new NexusError("UNTRUSTED", `Server "${id}" is configured in a project file that is not trusted`, {
    server: id,
    source: origin,
    hint: "Review and trust the file: nexus mcp trust",
    mayHaveReached: false,
  });
}
