import type { ClientId } from "../../config/import/clients.ts";
import type { CommandContext } from "../command/command.ts";
import { ClientEntries } from "./client-entries.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { ownCommand } from "./own-command.ts";

/** Makes entries for another program that start this installation of Nexus. */
export function entryWriter(
  context: Omit<CommandContext, "options">,
  client: ClientId,
  { isOfProject = false }: { isOfProject?: boolean | undefined } = {},
): ClientEntries {
  const { flags, surroundings } = context;
  const { platform, variables } = surroundings;
  const places = placesOf(context);
  const { execPath: node, argv } = process;
  const program = ownCommand(
    { node, script: argv[1] ?? "", platform, path: variables["PATH"] ?? variables["Path"] },
    { project: isOfProject ? places.cwd : undefined },
  );
  return new ClientEntries(client, { program, config: flags.config, places, isOfProject });
}
