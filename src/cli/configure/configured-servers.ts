import { resolve } from "node:path";
import type { ConfigContext } from "../../config/read/places.ts";
import type { CommandContext } from "../command/command.ts";
import { TenantState } from "../store/tenant-state.ts";
import { ServerSet, type ServerSetOptions } from "../command/server-set.ts";

/** The servers of the configuration or of one file, without a server in place. */
export async function openConfigured(
  context: Omit<CommandContext, "options"> & { options?: object },
  { file, ...options }: ServerSetOptions & { file?: string | undefined } = {},
): Promise<ServerSet> {
  const { surroundings, flags, out } = context;
  const config = file ?? flags.config;
  const source = new TenantState({ ...context, options: context.options ?? {} }, options.tenant);
  return ServerSet.open({ surroundings, source, flags: { ...flags, config }, values: {}, out }, options);
}

/** The working folder and other places of configuration files. */
export function placesOf({ surroundings }: Pick<CommandContext, "surroundings">, folder = "."): ConfigContext {
  const { home, platform, variables } = surroundings;
  return { cwd: resolve(folder), home, platform, variables };
}
