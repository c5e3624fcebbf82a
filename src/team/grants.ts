import type { AccessTarget } from "../host/directory/access-target.ts";
import { NO_ENTRY_RULES, Policy, matchesName, isEverything, type Decision } from "../host/directory/policy.ts";
import type { ApiKey, KeyGrants } from "../store/keep/api-keys.ts";
import type { CompiledSet } from "../gateway/sets/compiled-set.ts";
import { parseGrant, type GrantPattern } from "./grant-pattern.ts";

/** Why a key may or may not use something, with the rule that decided it. */
export interface Explanation {
  allowed: boolean;
  reason: string;
  /** The pattern or flag of the key; undefined where none applies. */
  rule: string | undefined;
}

const MAX_SERVERS = 256;

/**
 * What one key may see and use. A set is used as a whole: what it contains is for whoever made the set to say, and nothing of
 * it is thereby allowed elsewhere, where its fixed arguments would not hold. What the key denies, it denies in sets also.
 */
export class Grants {
  /** Outside of sets. */
  readonly #policy: Policy;
  readonly #inSets: Policy;
  readonly #allow: readonly GrantPattern[];
  readonly #deny: readonly GrantPattern[];
  /** Decisions about servers outside of sets, which each call asks for several times. */
  readonly #ofServers = new Map<string, Decision>();

  constructor({ allow, deny, readOnly }: KeyGrants) {
    this.#allow = allow.map(parseGrant);
    this.#deny = deny.map(parseGrant);
    const denied = ofThings(this.#deny);
    this.#policy = new Policy({ allow: ofThings(this.#allow), deny: denied, readOnly }, NO_ENTRY_RULES);
    this.#inSets = new Policy({ deny: denied, readOnly }, NO_ENTRY_RULES);
  }

  decide(target: AccessTarget): Decision {
    if (target.kind === "set") return this.#decideSet(target.name);
    if (target.set === undefined) {
      return target.kind === "server" ? this.#decideServer(target) : this.#policy.decide(undefined, target);
    }
    const ofSet = this.#decideSet(target.set);
    return ofSet.kind === "denied" ? ofSet : this.#inSets.decide(undefined, target);
  }

  explain(target: AccessTarget): Explanation {
    const decision = this.decide(target);
    const rule = this.#findRule(target);
    if (decision.kind === "denied") return { allowed: false, reason: decision.reason, rule };
    return { allowed: true, reason: "it is on the allow list", rule };
  }

  #decideServer(target: AccessTarget): Decision {
    const known = this.#ofServers.get(target.server);
    if (known) return known;
    const decision = this.#policy.decide(undefined, target);
    // Callers choose the names that they ask for.
    if (this.#ofServers.size >= MAX_SERVERS) this.#ofServers.clear();
    this.#ofServers.set(target.server, decision);
    return decision;
  }

  #decideSet(name: string): Decision {
    if (this.#deny.some((grant) => coversSet(grant, name)))
      return { kind: "denied", reason: "the set is on the deny list" };
    const isAllowed = this.#allow.some((grant) => coversSet(grant, name));
    return isAllowed ? { kind: "allowed" } : { kind: "denied", reason: "the set is not on the allow list" };
  }

  #findRule(target: AccessTarget): string | undefined {
    const set = target.kind === "set" ? target.name : target.set;
    if (set === undefined) return this.#policy.findRule(target);
    const denying = this.#deny.find((grant) => coversSet(grant, set));
    if (denying) return `deny ${denying.text}`;
    const allowing = this.#allow.find((grant) => coversSet(grant, set));
    const inside = allowing && target.kind !== "set" ? this.#inSets.findRule(target) : undefined;
    return inside ?? (allowing && `allow ${allowing.text}`);
  }
}

function ofThings(grants: readonly GrantPattern[]): string[] {
  return grants.flatMap((grant) => (grant.kind === "things" ? [grant.text] : []));
}

/** Whether a key may use something of a set now, and why. */
export function explainInSet(
  key: ExplainedKey,
  set: CompiledSet,
  { target, now }: { target: AccessTarget; now: number },
): Explanation {
  const byKey = explainKey(key, { ...target, set: set.name }, now);
  const bySet = set.decide(target);
  if (!byKey.allowed || bySet.kind !== "denied") return byKey;
  const rule = set.findRule(target);
  return { allowed: false, reason: `in the set: ${bySet.reason}`, rule: rule && `set ${set.name}: ${rule}` };
}

type ExplainedKey = Pick<ApiKey, "grants" | "revokedAt" | "expiresAt">;

/** Whether a key may use something now, and why. */
export function explainKey(
  { grants, revokedAt, expiresAt = Infinity }: ExplainedKey,
  target: AccessTarget,
  now: number,
): Explanation {
  if (revokedAt !== undefined) return { allowed: false, reason: "the key is revoked", rule: undefined };
  if (expiresAt <= now) return { allowed: false, reason: "the key has expired", rule: undefined };
  return new Grants(grants).explain(target);
}

/** Whether the pattern includes a set. `*` is everything of the tenant; a pattern of servers and their things includes no set. */
function coversSet(grant: GrantPattern, set: string): boolean {
  return grant.kind === "set" ? matchesName(grant.name, set) : isEverything(grant.pattern);
}
