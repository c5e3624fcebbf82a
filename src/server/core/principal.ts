import type { IncomingHttpHeaders } from "node:http";

/** Who calls. Everything that is kept for somebody is bound to this. */
export interface Principal {
  id: string;
  tenant: string;
}

const keys = new WeakMap<Principal, string>();

/** Names a principal among all; no two have the same, and none begins with that of another. Asked several times a call. */
export function principalKey(principal: Principal): string {
  const known = keys.get(principal);
  if (known !== undefined) return known;
  const { tenant, id } = principal;
  const key = `${tenant.length} ${id.length} ${tenant}${id}`;
  keys.set(principal, key);
  return key;
}

/** Names an owner of connections: owners of different principals are different, whatever they are called. */
export function ownerKey(principal: Principal, owner: string): string {
  return principalKey(principal) + owner;
}

/** Tells who calls by what a request carries; throws AUTH_REQUIRED or FORBIDDEN. */
export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Principal> | Principal;

/** Without authentication everybody is the same one; the gateway then listens on loopback alone. */
export const ANYBODY: Principal = { id: "anybody", tenant: "default" };

export const admitEverybody: Authenticate = () => ANYBODY;
