import type { IncomingHttpHeaders } from "node:http";

/** The identity of a caller. All stored data of a caller is bound to it. */
export interface Principal {
  id: string;
  tenant: string;
}

/** A principal that comes again: its key is made once. A copy of it is an ordinary one. */
export class KnownPrincipal implements Principal {
  readonly id: string;
  readonly tenant: string;
  readonly #key: string;

  constructor({ id, tenant }: Principal) {
    this.id = id;
    this.tenant = tenant;
    this.#key = keyOf(this);
    Object.freeze(this);
  }

  static findKey(principal: Principal): string | undefined {
    return #key in principal ? principal.#key : undefined;
  }
}

/** The string that keeps principals apart: no two have the same, and none begins with that of another. */
export function principalKey(principal: Principal): string {
  return KnownPrincipal.findKey(principal) ?? keyOf(principal);
}

function keyOf({ tenant, id }: Principal): string {
  return `${tenant.length} ${id.length} ${tenant}${id}`;
}

/** Whether this is the key of a principal of the tenant. */
export function isKeyOf(tenant: string, key: string): boolean {
  const [length = "", idLength = ""] = key.split(" ", 2);
  return length === String(tenant.length) && key.startsWith(tenant, length.length + idLength.length + 2);
}

/**
 * Names a principal to a server in this process. It is written into the ledger of a tool file's writes, so its form must
 * stay as it is. Encoded, no tenant's name runs into an id: "a" with "b/c" is not "a/b" with "c".
 */
export function callerName({ tenant, id }: Principal): string {
  return `${encodeURIComponent(tenant)}/${id}`;
}

/** Names an owner of connections: owners of different principals are different, whatever their names are. */
export function ownerKey(principal: Principal, owner: string): string {
  return principalKey(principal) + owner;
}

/** Identifies the caller from the request headers; throws AUTH_REQUIRED or FORBIDDEN. */
export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Principal> | Principal;

/** Without authentication every caller is this one, and a server listens on loopback only. */
export const ANYBODY: Principal = new KnownPrincipal({ id: "anybody", tenant: "default" });

export const admitEverybody: Authenticate = () => ANYBODY;
