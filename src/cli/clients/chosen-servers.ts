import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { loadWritten } from "../../config/edit/written-servers.ts";
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
