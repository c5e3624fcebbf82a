import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import type { OperationClient } from "../../operations/client.ts";
import { SECRETS } from "../../operations/secrets.ts";
import { isMissingFile } from "../../store/engine/database-address.ts";
import { isElsewhere } from "../command/command-line.ts";
import { chosenStoreOrDefault } from "../store/chosen-database.ts";
import { gatewayAgain, openOperations, type OperatedContext } from "../store/open-operations.ts";
import { TenantState } from "../store/tenant-state.ts";

/** The secrets that a command line is about. */
export interface OperatedSecrets extends AsyncDisposable {
  secrets: Pick<SecretStore, "list" | "set" | "remove">;
  /** The options that select the same secrets, for commands to copy. */
  optionsAgain: string;
}

type SecretsContext = OperatedContext & { options: { readonly tenant?: string | undefined } };

/** Opens the secrets of a tenant, here or behind a gateway. Somebody without a gateway has them in own files, and no audit. */
export async function openSecrets(context: SecretsContext): Promise<OperatedSecrets> {
  const { tenant, gateway } = context.options;
  if (!isElsewhere(context) && (tenant ?? DEFAULT_TENANT) === DEFAULT_TENANT) {
    const { address, isDefault } = await chosenStoreOrDefault(context);
    if (isDefault && isMissingFile(address)) return new TenantState(context);
  }
  const opened = await openOperations(context);
  const again = gateway === undefined ? undefined : gatewayAgain({ gateway, tenant });
  return {
    secrets: operatedSecrets(opened.client, tenant ?? (await opened.client.ownTenant())),
    optionsAgain: again ?? new TenantState(context).optionsAgain,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function operatedSecrets(client: OperationClient, tenant: string): OperatedSecrets["secrets"] {
  return {
    async list() {
      const pages = await client.pages(SECRETS.listSecrets, { tenant });
      const secrets = pages.flatMap(({ items }) => items);
      return {
        secrets: secrets.map(({ name, origins }) => ({ name, origins: decided(origins) })),
        unreadable: pages[0]?.unreadable ?? 0,
      };
    },
    async set(name, value, origins) {
      const stored = await client.call(SECRETS.setSecret, { tenant, name, value, origins });
      return { value, origins: decided(stored.origins) };
    },
    async remove(name) {
      await client.call(SECRETS.removeSecret, { tenant, name });
      return true;
    },
  };
}

function decided(origins: readonly string[]): readonly string[] | undefined {
  return origins.length === 0 ? undefined : origins;
}
