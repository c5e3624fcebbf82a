import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { readEnvironment } from "../environment.ts";
import { userFolders } from "../files/user-folders.ts";
import { secretStore } from "../host/servers/load-options.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { ModelCatalog, type ModelOpenOptions } from "./model/model-catalog.ts";
import type { ModelProvider } from "./model/model-provider.ts";

export interface OpenModelOptions extends ModelOpenOptions {
  /** Use this configuration file alone; default: the user's files. */
  config?: string | undefined;
  /** Where secrets are stored; default: the user's folder. */
  stateFolder?: string | undefined;
  logger?: Logger | undefined;
}

const OPTIONS: OptionNames<OpenModelOptions> = {
  timeoutMs: true,
  config: true,
  stateFolder: true,
  logger: true,
};

/**
 * A model by its name `provider:model`, as the configuration and the environment describe it; without a name the
 * default. The package of its provider has to be installed.
 */
export async function openModel(name?: string, options: OpenModelOptions = {}): Promise<ModelProvider> {
  checkOptions("openModel", options, OPTIONS);
  const surroundings = readEnvironment();
  const { stateFolder = userFolders(surroundings).state, config, logger = SILENT, timeoutMs } = options;
  const secrets = secretStore(surroundings, stateFolder);
  const catalog = await ModelCatalog.load({ surroundings, config, secrets, logger });
  return catalog.open(name, { timeoutMs });
}
