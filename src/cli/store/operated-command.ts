import type { Command, CommandContext, Options, OptionValues } from "../command/command.ts";
import {
  openOperations,
  openTenant,
  type CommandOperations,
  type OperatedContext,
  type TenantContext,
  type TenantOperations,
} from "./open-operations.ts";

type Given<O extends Options> = CommandContext<OptionValues<O>> & OperatedContext;

interface OperatedCommand<C extends CommandOperations, O extends Options, T> extends Omit<Command<O>, "run"> {
  /** Finds mistakes of the command line, because a store that is missing here is created. */
  creates?: (context: Given<O>) => void;
  /** Does the operations. What it returns is printed for programs. */
  does: (opened: C, context: Given<O>) => Promise<T>;
  /** Prints the same for people. */
  tell: (value: T, context: Given<O>, opened: Pick<C, "again">) => void;
  /** Default: 0. */
  exitCode?: (value: T) => number;
}

interface TenantCommand<O extends Options, T> extends OperatedCommand<TenantOperations, O, T> {
  /** What it is about, where that is not the database or the gateway of the command line alone. */
  opens?: (context: TenantContext) => Promise<TenantOperations>;
}

/** A command of administrators: operations in the database here or at a gateway, and their answer. */
export function operatedCommand<const O extends Options, T>(
  command: OperatedCommand<CommandOperations, O, T>,
): Command {
  return commandOn(openOperations, command);
}

/** A command about what belongs to one tenant. */
export function tenantCommand<const O extends Options, T>({ opens, ...command }: TenantCommand<O, T>): Command {
  return commandOn(opens ?? openTenant, command);
}

type Opens<C> = (context: OperatedContext, options: { creates: boolean }) => Promise<C>;

function commandOn<C extends CommandOperations, O extends Options, T>(
  opens: Opens<C>,
  { creates, does, tell, exitCode, ...command }: OperatedCommand<C, O, T>,
): Command {
  return {
    ...command,
    async run(given) {
      // The options are those of the command.
      const context = given as unknown as Given<O>;
      creates?.(context);
      await using opened = await opens(context, { creates: creates !== undefined });
      const value = await does(opened, context);
      if (context.out.json) context.out.value(value);
      else tell(value, context, opened);
      return exitCode?.(value);
    },
  };
}
