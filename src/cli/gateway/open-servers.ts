import { serverId } from "../../text/server-id.ts";
import { NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import type { OperationClient } from "../../operations/client.ts";
import type { ServerView } from "../../operations/servers.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { gatewayAgain, openOperations } from "../store/open-operations.ts";

/** A context of a command about servers of a gateway elsewhere. */
export type ElsewhereContext = CommandContext<{
  readonly gateway: string;
  readonly key?: string | undefined;
  readonly tenant?: string | undefined;
  readonly database?: string | undefined;
}>;

/** The gateway, the tenant that is meant, and the options that select the same servers. */
interface ServersElsewhere {
  client: OperationClient;
  tenant: string;
  again: string;
}

export async function openServersElsewhere(context: ElsewhereContext): Promise<ServersElsewhere> {
  const { gateway, tenant } = context.options;
  if (context.flags.config !== undefined) {
    throw wrongUsage("--gateway and --config exclude each other", "A gateway has its own configuration.");
  }
  const { client } = await openOperations(context);
  return { client, tenant: tenant ?? (await client.ownTenant()), again: gatewayAgain({ gateway, tenant }) };
}

/** The id of the server that the first word names. */
export function idIn({ words: [name = ""] }: Pick<CommandContext, "words">): string {
  return serverId(name);
}

/** Why a server does not work; undefined where nothing is known to be wrong. */
export function failureOf({ id, state: { kind, error } }: ServerView): NexusError | undefined {
  if (kind !== "failed" && kind !== "degraded") return undefined;
  const { code = "SERVER_ERROR", message = `Server "${id}" failed`, hint } = error ?? {};
  return new NexusError(code as ErrorCode, message, { server: id, hint: hint ?? undefined });
}
