import { ModelCatalog } from "../../agent/model/model-catalog.ts";
import { secretStore } from "../../host/servers/load-options.ts";
import { SILENT } from "../../text/logger.ts";
import type { CommandContext } from "../command/command.ts";
import { verboseLogger } from "../output/verbose-logger.ts";

/** The models that a command line can use: of --config, or of the user's files, and of the environment. */
export function openModelCatalog(
  context: Pick<CommandContext, "surroundings" | "stateFolder" | "flags" | "out">,
): Promise<ModelCatalog> {
  const { surroundings, stateFolder, flags, out } = context;
  return ModelCatalog.load({
    surroundings,
    config: flags.config,
    secrets: secretStore(surroundings, stateFolder),
    logger: flags.verbose ? verboseLogger(out) : SILENT,
  });
}
