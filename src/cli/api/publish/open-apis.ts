import { basename } from "node:path";
import { DEFAULT_TENANT } from "../../../auth/server-instance.ts";
import type { OperationClient } from "../../../operations/client.ts";
import { SERVED, type CommandContext, type Options } from "../../command/command.ts";
import { gatewayAgain, openOperations } from "../../store/open-operations.ts";
import { tenantAgain } from "../../store/tenant-state.ts";

/** The options of commands about published APIs. */
export const APIS_OPTIONS = {
  ...SERVED,
  tenant: { type: "string", value: "NAME", help: `the tenant of the API; default: ${DEFAULT_TENANT}` },
} as const satisfies Options;

type ApisContext = CommandContext<{
  readonly tenant?: string | undefined;
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly database?: string | undefined;
}>;

/** Operations on the published APIs that a command line is about. */
interface OpenedApis extends AsyncDisposable {
  client: OperationClient;
  tenant: string;
  /** The options that select the same APIs, for commands to copy. */
  again: string;
}

/** Opens the published APIs of a tenant, here or behind a gateway. */
export async function openApis(context: ApisContext): Promise<OpenedApis> {
  const { tenant, gateway, database } = context.options;
  const opened = await openOperations(context, { creates: true });
  const { client } = opened;
  return {
    client,
    tenant: tenant ?? (await client.ownTenant()),
    again: gateway === undefined ? tenantAgain(tenant, database) : gatewayAgain({ gateway, tenant }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** The id of the API that a word names: itself, or in the name of a tool file. */
export function apiIdIn(word: string): string {
  return basename(word).replace(/\.nexus\.ya?ml$/, "");
}
