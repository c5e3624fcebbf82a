import { serverId } from "../../config/read/server-id.ts";
import { NexusError, type ErrorCode } from "../../errors/nexus-error.ts";
import { RemoteServers } from "../../rest/remote/remote-servers.ts";
import type { ServerView } from "../../operations/servers.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { gatewayAgain, gatewayOptions } from "../store/open-operations.ts";

/** A context of a command about servers of a gateway elsewhere. */
export type ElsewhereContext = CommandContext<{
  readonly gateway: string;
  readonly key?: string | undefined;
  readonly tenant?: string | undefined;
  readonly database?: string | undefined;
}>;

/** The servers of the gateway, and the options that select the same ones. */
export async function openRemoteServers(context: ElsewhereContext): Promise<{ servers: RemoteServers; again: string }> {
  const { gateway, key, tenant, database } = context.options;
  if (context.flags.config !== undefined) {
    throw wrongUsage("--gateway and --config exclude each other", "A gateway has its own configuration.");
  }
  const options = await gatewayOptions(context, { gateway, key, database });
  return { servers: await RemoteServers.open(options, tenant), again: gatewayAgain({ gateway, tenant }) };
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
