import type { AccessTarget } from "../host/directory/access-target.ts";
import { Policy, type Decision } from "../host/directory/policy.ts";
import type { ApiKey, KeyGrants } from "../store/keep/api-keys.ts";

/** Why a key may or may not use something, with the rule that decided it. */
export interface Explanation {
  allowed: boolean;
  reason: string;
  /** The pattern or flag of the key; undefined where none applies. */
  rule: string | undefined;
}

/** What one key may see and use. */
export class Grants {
  readonly #policy: Policy;

  constructor({ allow, deny, readOnly }: KeyGrants) {
    this.#policy = new Policy({ allow, deny, readOnly }, () => undefined);
  }

  decide(target: AccessTarget): Decision {
    return this.#policy.decide(undefined, target);
  }

  explain(target: AccessTarget): Explanation {
    const decision = this.decide(target);
    const rule = this.#policy.findRule(target);
    if (decision.kind === "denied") return { allowed: false, reason: decision.reason, rule };
    return { allowed: true, reason: "it is on the allow list", rule };
  }
}

/** Whether a key may use something now, and why. */
export function explainKey(
  { grants, revokedAt, expiresAt = Infinity }: Pick<ApiKey, "grants" | "revokedAt" | "expiresAt">,
  target: AccessTarget,
  now: number,
): Explanation {
  if (revokedAt !== undefined) return { allowed: false, reason: "the key is revoked", rule: undefined };
  if (expiresAt <= now) return { allowed: false, reason: "the key has expired", rule: undefined };
  return new Grants(grants).explain(target);
}
