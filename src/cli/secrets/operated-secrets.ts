import type { SecretStore } from "../../auth/secrets.ts";
import { isElsewhere } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { gatewayAgain, gatewayOptions } from "../store/open-operations.ts";
import { TenantState } from "../store/tenant-state.ts";

/** The secrets that a command line is about. */
export interface OperatedSecrets extends AsyncDisposable {
  secrets: Pick<SecretStore, "list" | "set" | "remove">;
  /** The options that select the same secrets, for commands to copy. */
  optionsAgain: string;
}

type SecretsContext = CommandContext<{
  readonly tenant?: string | undefined;
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly database?: string | undefined;
}>;

/** Opens the secrets of a tenant, here or behind a gateway. */
export async function openSecrets(context: SecretsContext): Promise<OperatedSecrets> {
  if (!isElsewhere(context)) return new TenantState(context);
  const { tenant, gateway, key, database } = context.options;
  const { RemoteSecrets } = await import("../../rest/remote/remote-secrets.ts");
  const options = await gatewayOptions(context, { gateway, key, database });
  return {
    secrets: await RemoteSecrets.open(options, tenant),
    optionsAgain: gatewayAgain({ gateway, tenant }),
    async [Symbol.asyncDispose]() {},
  };
}
