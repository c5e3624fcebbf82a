import { KnownPrincipal, type Principal } from "../server/core/principal.ts";
import type { ApiKey } from "../store/keep/api-keys.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import { Grants } from "./grants.ts";

/** A key whose secret was compared. Everything that follows from it is worked out once. */
export interface VerifiedKey {
  readonly about: ApiKey;
  /** The same object for as long as the secret is known, and another one for each secret. */
  readonly principal: Principal;
  readonly grants: Grants;
  /** Undefined where nothing is limited. */
  readonly limits: RequestLimits | undefined;
  /** The text that was compared works until then: the key expires, or it is the secret before a rotation. */
  readonly until: number;
}

/** Undefined where the key may not be used. `until`: of this secret alone. `before`: what this secret stood for. */
export function verifiedKey(
  about: ApiKey,
  now: number,
  { until = Infinity, before }: { until?: number; before?: VerifiedKey | undefined } = {},
): VerifiedKey | undefined {
  const end = Math.min(until, about.expiresAt ?? Infinity);
  if (about.revokedAt !== undefined || end <= now) return undefined;
  const principal = before?.principal ?? new KnownPrincipal(about);
  const limits = Object.keys(about.limits).length === 0 ? undefined : about.limits;
  return { about, principal, grants: new Grants(about.grants), limits, until: end };
}
