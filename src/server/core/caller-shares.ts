import { FairShares } from "../../async/fair-shares.ts";
import { ANYBODY, principalKey } from "./principal.ts";

/** How callers share what there is. */
export interface SharingOptions {
  /** What one principal gets while others compete, from 0 to 1. */
  share?: number | undefined;
  /** Whether callers are told apart by their tenants; then no tenant uses up what all share. */
  areTenantsSeparate?: boolean | undefined;
}

const EVERYBODY = principalKey(ANYBODY);

/** Shares places that are in use until their holders leave them. A caller that has few of them always finds one. */
export function sharePlaces(total: number, options: SharingOptions): FairShares {
  return new FairShares(total, { ...rulesOf(options), isBounded: true, hasReserve: true });
}

/** Shares places that are taken away from holders of too many when others come. */
export function shareReclaimablePlaces(total: number, options: SharingOptions): FairShares {
  return new FairShares(total, { ...rulesOf(options), hasReserve: true });
}

/** Shares an amount that is in use until its holders give it back. */
export function shareAmount(total: number, options: SharingOptions): FairShares {
  return new FairShares(total, { ...rulesOf(options), isBounded: true });
}

/** Shares what is kept for callers and can be dropped for others at any time. */
export function shareKept(total: number, options: SharingOptions): FairShares {
  return new FairShares(total, rulesOf(options));
}

function rulesOf({ share, areTenantsSeparate }: SharingOptions) {
  return {
    share,
    groupOf: areTenantsSeparate === true ? tenantOfKey : undefined,
    // Where nobody is told apart, no other caller can come for whom something would have to be left.
    isEverybody: (key: string) => key === EVERYBODY,
  };
}

/** The tenant of the principal that has this key. */
function tenantOfKey(key: string): string {
  const [length = "", idLength = ""] = key.split(" ", 2);
  const start = length.length + idLength.length + 2;
  return key.slice(start, start + Number(length));
}
