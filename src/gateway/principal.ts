import type { IncomingHttpHeaders } from "node:http";

/** Who calls. Everything that is kept for somebody is bound to this. */
export interface Principal {
  id: string;
  tenant: string;
}

/** Tells who calls by what a request carries; throws AUTH_REQUIRED or FORBIDDEN. */
export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Principal> | Principal;

/** Without authentication everybody is the same one; the gateway then listens on loopback alone. */
export const ANYBODY: Principal = { id: "anybody", tenant: "default" };

export const admitEverybody: Authenticate = () => ANYBODY;
