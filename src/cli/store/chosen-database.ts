import { join } from "node:path";
import { findDatabaseSetting } from "../../config/database-setting.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { MasterKeyPlace } from "../../store/master-key.ts";
import {
  parseDatabaseAddress,
  sqliteAddress,
  type AddressBase,
  type DatabaseAddress,
} from "../../store/engine/database-address.ts";
import type { Logger } from "../../text/logger.ts";
import type { CommandContext, Options } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { verboseLogger } from "../output/verbose-logger.ts";

/** The option of all commands that use the store. */
export const DATABASE_OPTION = {
  database: {
    type: "string",
    value: "ADDRESS",
    help: "file:PATH or postgres://…; default: NEXUS_DATABASE, gateway.database of the configuration, or nexus.db in the user's data folder",
  },
} as const satisfies Options;

/** The store that a command uses. */
export interface ChosenStore {
  address: DatabaseAddress;
  masterKey: MasterKeyPlace;
  logger: Logger;
}

type Context = CommandContext<{ readonly database?: string | undefined }>;

const HINT = "Use file:PATH or postgres://user@host/database.";

export async function chosenStore(context: Context): Promise<ChosenStore> {
  const { surroundings, stateFolder, flags, out } = context;
  const { platform, variables } = surroundings;
  const loud = verboseLogger(out);
  return {
    address: await chosenAddress(context),
    masterKey: new MasterKeyPlace({ stateFolder, platform, variables }),
    logger: flags.verbose ? loud : { ...loud, debug() {}, info() {} },
  };
}

async function chosenAddress({ options, flags, surroundings, stateFolder }: Context): Promise<DatabaseAddress> {
  const { home, variables, platform } = surroundings;
  const here = { home, base: process.cwd() };
  if (options.database !== undefined) {
    const address = parseDatabaseAddress(options.database, here);
    if (!address) throw wrongUsage("--database is not the address of a database", HINT);
    return address;
  }
  const variable = variables["NEXUS_DATABASE"];
  if (variable !== undefined && variable !== "") return configured("NEXUS_DATABASE", variable, here);
  const setting = await findDatabaseSetting({ cwd: process.cwd(), home, platform, variables }, flags.config);
  if (!setting) return sqliteAddress(join(stateFolder, "nexus.db"));
  return configured(`"gateway.database" in ${setting.file}`, setting.value, { home, base: setting.folder });
}

/** The message does not contain the value, which may include a password. */
function configured(name: string, value: string, base: AddressBase): DatabaseAddress {
  const address = parseDatabaseAddress(value, base);
  if (address) return address;
  throw new NexusError("CONFIG_INVALID", `${name} is not the address of a database`, {
    phase: "config",
    hint: HINT,
    mayHaveReached: false,
  });
}
