import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { KnownPrincipal, type Principal } from "../../server/core/principal.ts";
import type { ApiKey, KeyRole } from "../../store/keep/api-keys.ts";

/** Who uses the REST API, and with which rights. */
export interface Actor {
  readonly principal: Principal;
  readonly role: KeyRole;
  /** Whether it manages all tenants. */
  readonly allTenants: boolean;
  /** The id of its key; undefined for the person who opened the one-time link. */
  readonly keyId: string | undefined;
}

/** Who may use an operation. Each role may do what those before it may do. */
export type Access = "public" | KeyRole | "all-tenants";

const RANKS: Readonly<Record<KeyRole, number>> = { caller: 0, operator: 1, admin: 2 };

export function actorOf({ role, allTenants, id }: ApiKey, principal: Principal): Actor {
  return { principal, role, allTenants: allTenants && role === "admin", keyId: id };
}

/** Whoever reads the terminal of the gateway may do everything. */
export const MACHINE_OWNER: Actor = {
  principal: new KnownPrincipal({ id: "console", tenant: DEFAULT_TENANT }),
  role: "admin",
  allTenants: true,
  keyId: undefined,
};

export function mayUse({ role, allTenants }: Actor, access: Access): boolean {
  if (access === "public") return true;
  return access === "all-tenants" ? allTenants : RANKS[role] >= RANKS[access];
}

/** Another tenant is unknown to it. */
export function mayEnter({ principal, allTenants }: Actor, tenant: string): boolean {
  return allTenants || principal.tenant === tenant;
}
