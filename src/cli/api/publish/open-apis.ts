import { basename } from "node:path";
import { SERVED, type Options } from "../../command/command.ts";
import { openTenant, tenantOption, type TenantContext, type TenantOperations } from "../../store/open-operations.ts";

/** The options of commands about published APIs. */
export const APIS_OPTIONS = {
  ...SERVED,
  tenant: tenantOption(" of the API"),
} as const satisfies Options;

/** Opens the published APIs of a tenant, here or behind a gateway. */
export function openApis(context: TenantContext): Promise<TenantOperations> {
  return openTenant(context, { creates: true });
}

/** The id of the API that a word names: itself, or in the name of a tool file. */
export function apiIdIn(word: string): string {
  return basename(word).replace(/\.nexus\.ya?ml$/, "");
}
