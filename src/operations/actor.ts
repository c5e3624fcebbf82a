import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { KnownPrincipal, type Principal } from "../server/core/principal.ts";
import type { ApiKey, KeyRole } from "../store/keep/api-keys.ts";

/** Who operates a gateway, and with which rights. */
export interface Actor {
  readonly principal: Principal;
  readonly role: KeyRole;
  /** Whether it manages all tenants. */
  readonly allTenants: boolean;
  /** The id of its key; undefined for the person who opened the one-time link, and for a command on the machine itself. */
  readonly keyId: string | undefined;
  /** The account on the machine itself; undefined for whoever comes over the network. */
  readonly account?: string | undefined;
}

/** Who may use an operation. Each role may do what those before it may do. */
export type Access = "public" | KeyRole | "all-tenants";

const RANKS: Readonly<Record<KeyRole, number>> = { caller: 0, operator: 1, admin: 2 };

export function actorOf({ role, allTenants, id }: ApiKey, principal: Principal): Actor {
  return { principal, role, allTenants: allTenants && role === "admin", keyId: id, account: undefined };
}

/** Whoever reads the terminal of the gateway may do everything. */
export const MACHINE_OWNER: Actor = {
  principal: new KnownPrincipal({ id: "console", tenant: DEFAULT_TENANT }),
  role: "admin",
  allTenants: true,
  keyId: undefined,
  account: undefined,
};

/** Whoever can open the store may do everything with it. */
export function accountActor(account: string): Actor {
  const principal = new KnownPrincipal({ id: `account:${account}`, tenant: DEFAULT_TENANT });
  return { ...MACHINE_OWNER, principal, account };
}

/** Where what it adds comes from. */
export function originOf({ account }: Actor): "local" | "network" {
  return account === undefined ? "network" : "local";
}

/** For the record: who published something. */
export function writtenActor({ account, keyId }: Actor): string {
  return account ?? (keyId === undefined ? "console" : `key ${keyId}`);
}

export function mayUse({ role, allTenants }: Actor, access: Access): boolean {
  if (access === "public") return true;
  return access === "all-tenants" ? allTenants : RANKS[role] >= RANKS[access];
}

/** Another tenant is unknown to it. */
export function mayEnter({ principal, allTenants }: Actor, tenant: string): boolean {
  return allTenants || principal.tenant === tenant;
}
