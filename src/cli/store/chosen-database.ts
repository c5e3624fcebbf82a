import { join } from "node:path";
import { findDatabaseSetting } from "../../config/gateway-settings.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { MasterKeyPlace } from "../../store/master-key.ts";
import {
  parseDatabaseAddress,
  sqliteAddress,
  type AddressBase,
  type DatabaseAddress,
} from "../../store/engine/database-address.ts";
import { quoteWord } from "../../text/shell-words.ts";
import type { Logger } from "../../text/logger.ts";
import type { CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { verboseLogger } from "../output/verbose-logger.ts";

/** The store that a command uses. */
export interface ChosenStore {
  address: DatabaseAddress;
  masterKey: MasterKeyPlace;
  logger: Logger;
  /** True if neither the command line nor a variable or the configuration names the database. */
  isDefault: boolean;
  /** The options that select the same store, for commands to copy: ` --database …`, ` --config FILE`, or nothing. */
  optionsAgain: string;
}

type Context = Pick<
  CommandContext<{ readonly database?: string | undefined }>,
  "options" | "flags" | "surroundings" | "stateFolder" | "out"
>;

const HINT = `Use file:PATH or postgres://user@host/database. In a password, write %2F for "/", %23 for "#" and %40 for "@".`;

export async function chosenStore(context: Context): Promise<ChosenStore> {
  return storeAt(await chosenAddress(context), context);
}

/** The same, or the default store and the problem where a configuration file cannot be read that may name another. */
export async function chosenStoreOrDefault(context: Context): Promise<ChosenStore & { problem?: NexusError }> {
  try {
    return await chosenStore(context);
  } catch (error) {
    const isBroken = error instanceof NexusError && error.details.source !== undefined;
    if (!isBroken || context.flags.config !== undefined) throw error;
    return { ...storeAt(defaultAddress(context), context), problem: error };
  }
}

function storeAt(address: ChosenAddress, { surroundings, stateFolder, flags, out }: Context): ChosenStore {
  const { platform, variables } = surroundings;
  const loud = verboseLogger(out);
  return {
    ...address,
    masterKey: new MasterKeyPlace({ stateFolder, platform, variables }),
    logger: flags.verbose ? loud : { ...loud, debug() {}, info() {} },
  };
}

type ChosenAddress = Pick<ChosenStore, "address" | "isDefault" | "optionsAgain">;

function defaultAddress({ stateFolder }: Pick<Context, "stateFolder">): ChosenAddress {
  const address = sqliteAddress(join(stateFolder, "nexus.db"), { isOwnFolder: true });
  return { address, isDefault: true, optionsAgain: "" };
}

async function chosenAddress({
  options,
  flags,
  surroundings,
  stateFolder,
}: Omit<Context, "out">): Promise<ChosenAddress> {
  const { home, variables, platform } = surroundings;
  const here = { home, base: process.cwd() };
  if (options.database !== undefined) {
    const address = parseDatabaseAddress(options.database, here);
    if (!address) throw wrongUsage("--database is not the address of a database", HINT);
    // The address of PostgreSQL may contain a password.
    const again = address.kind === "sqlite" ? options.database : address.shown;
    return { address, isDefault: false, optionsAgain: ` --database ${quoteWord(again)}` };
  }
  const variable = variables["NEXUS_DATABASE"];
  if (variable !== undefined && variable !== "") {
    return { address: configured("NEXUS_DATABASE", variable, here), isDefault: false, optionsAgain: "" };
  }
  const setting = await findDatabaseSetting({ cwd: process.cwd(), home, platform, variables }, flags.config);
  if (!setting) return defaultAddress({ stateFolder });
  const base = { home, base: setting.folder };
  return {
    address: configured(`"gateway.database" in ${setting.file}`, setting.value, base),
    isDefault: false,
    optionsAgain: flags.config === undefined ? "" : ` --config ${quoteWord(flags.config)}`,
  };
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
