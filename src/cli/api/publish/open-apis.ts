import { basename } from "node:path";
import { DEFAULT_TENANT } from "../../../auth/server-instance.ts";
import type { OperatedApis } from "../../../operations/apis/api-operations.ts";
import { isElsewhere } from "../../command/command-line.ts";
import { SERVED, type CommandContext, type Options } from "../../command/command.ts";
import { gatewayAgain, gatewayOptions } from "../../store/open-operations.ts";
import { openStore } from "../../store/open-store.ts";
import { tenantAgain } from "../../store/tenant-state.ts";
import { accountName } from "../approval-text.ts";

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

/** The published APIs that a command line is about. */
export interface OpenedApis extends AsyncDisposable {
  apis: OperatedApis;
  /** The options that select the same APIs, for commands to copy. */
  again: string;
}

/** Opens the published APIs of a tenant, here or behind a gateway. */
export async function openApis(context: ApisContext): Promise<OpenedApis> {
  if (isElsewhere(context)) {
    const { tenant, gateway, key, database } = context.options;
    const { RemoteApis } = await import("../../../rest/remote/remote-apis.ts");
    const options = await gatewayOptions(context, { gateway, key, database });
    return {
      apis: await RemoteApis.open(options, tenant),
      again: gatewayAgain({ gateway, tenant }),
      async [Symbol.asyncDispose]() {},
    };
  }
  const { tenant = DEFAULT_TENANT, database } = context.options;
  const { ApiOperations } = await import("../../../operations/apis/api-operations.ts");
  const store = await openStore(context);
  return {
    apis: new ApiOperations(store.apis(tenant), { by: accountName() || "local", origin: "local" }),
    again: tenantAgain(tenant, database),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** The id of the API that a word names: itself, or in the name of a tool file. */
export function apiIdIn(word: string): string {
  return basename(word).replace(/\.nexus\.ya?ml$/, "");
}
