import { text } from "node:stream/consumers";
import { NexusError } from "../../errors/nexus-error.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";
import type { GatewayClientOptions } from "../../rest/remote/gateway-client.ts";
import type { OperatedStore } from "../../rest/remote/remote-store.ts";
import { maskUrl } from "../../text/mask-secrets.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import { DATABASE_OPTION, GATEWAY_OPTIONS, type CommandContext, type Options } from "../command/command.ts";
import { openKnownStore, openStore } from "./open-store.ts";

/** The options of commands that work on a database or through a gateway. */
export const OPERATED_OPTIONS = { ...GATEWAY_OPTIONS, ...DATABASE_OPTION } as const satisfies Options;

type OperatedContext = CommandContext<{
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly database?: string | undefined;
}>;

/** The options that select the same tenant at a gateway, for commands to copy. */
export function gatewayAgain({ gateway, tenant }: { gateway: string; tenant?: string | undefined }): string {
  const ofTenant = tenant === undefined ? "" : ` --tenant ${quoteWord(tenant)}`;
  return `${ofTenant} --gateway ${quoteWord(maskUrl(gateway))}`;
}

/** Opens the store that a command line is about, here or behind a gateway. `creates`: one that is missing here is created. */
export async function openOperated(context: OperatedContext, { creates = false } = {}): Promise<OperatedStore> {
  if (!isElsewhere(context)) return creates ? openStore(context) : openKnownStore(context);
  const { gateway, key, database } = context.options;
  const { RemoteStore } = await import("../../rest/remote/remote-store.ts");
  return new RemoteStore(await gatewayOptions(context, { gateway, key, database }));
}

interface GivenGateway {
  gateway: string;
  /** `-`: the key is read from stdin. Undefined: it is in NEXUS_KEY. */
  key?: string | undefined;
  database?: string | undefined;
}

/** How the gateway of a command line is reached. */
export async function gatewayOptions(
  { surroundings, signal }: Pick<CommandContext, "surroundings" | "signal">,
  { gateway, key, database }: GivenGateway,
): Promise<GatewayClientOptions> {
  if (database !== undefined) {
    throw wrongUsage("--gateway and --database exclude each other", "A gateway uses its own database.");
  }
  const url = parseWebOrigin(gateway);
  if (url === undefined) {
    throw wrongUsage(`--gateway "${gateway}" is not the address of a gateway`, "Use http://127.0.0.1:3210.");
  }
  return { url, key: await keyOf(key, surroundings.variables), signal };
}

async function keyOf(
  option: string | undefined,
  variables: CommandContext["surroundings"]["variables"],
): Promise<string> {
  const given = option === "-" ? await text(process.stdin) : (option ?? variables["NEXUS_KEY"]);
  if (given !== undefined && given.trim() !== "") return given.trim();
  throw new NexusError("AUTH_REQUIRED", "The gateway needs an API key", {
    hint: "Put it into the variable NEXUS_KEY. Where --key is not a filter, --key - reads it from stdin.",
    mayHaveReached: false,
  });
}
