import { resolve } from "node:path";
import type { ConfigContext } from "../../config/read/places.ts";
import type { CommandContext } from "../command/command.ts";
import { ServerSet, type ServerSetOptions } from "../command/server-set.ts";

/** The servers of the configuration or of one file, without a server in place. */
export async function openConfigured(
  context: Omit<CommandContext, "options">,
  { file, ...options }: ServerSetOptions & { file?: string | undefined } = {},
): Promise<ServerSet> {
  const { surroundings, stateFolder, flags, out } = context;
  const config = file ?? flags.config;
  return ServerSet.open({ surroundings, stateFolder, flags: { ...flags, config }, values: {}, out }, options);
}

/** The working folder and other places of configuration files. */
export function placesOf({ surroundings }: Pick<CommandContext, "surroundings">, folder = "."): ConfigContext {
  const { home, platform, variables } = surroundings;
  return { cwd: resolve(folder), home, platform, variables };
}
