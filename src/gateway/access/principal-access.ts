import type { CancelSignal } from "../../async/cancellation.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import {
  decidedAs,
  serverTarget,
  setTarget,
  type AccessTarget,
  type RequestTarget,
} from "../../host/directory/access-target.ts";
import { stricter, type Decision, type Policy } from "../../host/directory/policy.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Principal } from "../../server/core/principal.ts";

export type Operation = "list" | "use";

/**
 * Narrows what a principal may see and use, in addition to the host's policy. The server itself is decided first: if it
 * is denied, so is everything of it. Both operations are decided, and the stricter decision counts for both, so that
 * nothing is hidden that can be used, and nothing shown that cannot. A set is decided as a whole, with the kind `set`, and
 * each thing in it: its target has the name of the set.
 */
export type Decide = (principal: Principal, operation: Operation, target: AccessTarget) => Decision;

/** Undefined while the gateway itself restricts nothing. */
export interface AccessRules {
  readonly decide?: Decide | undefined;
  /** Whether `decide` decides listing and using alike, so that it is asked once. */
  readonly decidesAlike?: boolean | undefined;
}

/** What a principal may see and use: the host's policy for it as an agent, narrowed by the gateway's own `decide`. */
export class PrincipalAccess {
  readonly #policy: Policy;
  readonly #rules: AccessRules;

  /** `rules` are asked each time: they may come and go. */
  constructor(policy: Policy, rules: AccessRules) {
    this.#policy = policy;
    this.#rules = rules;
  }

  get #decide(): Decide | undefined {
    return this.#rules.decide;
  }

  /** Whether all principals see the same. */
  get isSameForAll(): boolean {
    return this.#decide === undefined && this.#policy.isSameForAll;
  }

  /** Whether no server is hidden from anybody. */
  get showsAllServers(): boolean {
    return this.#decide === undefined && this.#policy.showsAllServers;
  }

  /** Whether things of one kind and server can have different decisions. */
  get judgesNames(): boolean {
    return this.#decide !== undefined;
  }

  /** Whether nothing of this kind needs an individual decision. */
  isOpen(kind: AccessTarget["kind"], server: string): boolean {
    return this.#decide === undefined && this.#policy.isOpen(kind, server);
  }

  /** Whether the principal may use the address of a set. */
  reachesSet(principal: Principal, name: string): boolean {
    const decide = this.#decide;
    return !decide || this.#ask(decide, principal, setTarget(name)).kind !== "denied";
  }

  /** Whether the principal may know that the server exists. */
  sees(principal: Principal, server: string): boolean {
    return this.isOpen("server", server) || this.allows(principal, serverTarget(server));
  }

  /** Whether it is shown. */
  allows(principal: Principal, target: RequestTarget): boolean {
    return this.decide(principal, target).kind !== "denied";
  }

  /**
   * Whether the principal receives changes of a resource. If that requires consent, it does not: there is no call to
   * ask for it.
   */
  hears(principal: Principal, server: string, uri: string): boolean {
    if (this.isOpen("resource", server)) return true;
    return this.decide(principal, { kind: "subscription", server, uri }).kind === "allowed";
  }

  decide(principal: Principal, requested: RequestTarget): Decision {
    const byPolicy = this.#policy.decide(principal.id, requested);
    const decide = this.#decide;
    if (byPolicy.kind === "denied" || !decide) return byPolicy;
    const target = decidedAs(requested);
    const ofServer = target.kind === "server" ? byPolicy : this.#ask(decide, principal, serverTarget(target.server));
    if (ofServer.kind === "denied") return ofServer;
    return stricter(byPolicy, stricter(ofServer, this.#ask(decide, principal, target)));
  }

  /** False if consent is denied or there is no consent function. */
  askConsent(principal: Principal, use: ConsentUse): Promise<boolean> {
    return this.#policy.askConsent({ agent: principal.id, ...use });
  }

  /** A function that throws or returns no decision denies. */
  #ask(decide: Decide, principal: Principal, target: AccessTarget): Decision {
    try {
      const listing = decide(principal, "list", target);
      if (this.#rules.decidesAlike) return isDecision(listing) ? listing : UNDECIDED;
      const using = decide(principal, "use", target);
      return isDecision(listing) && isDecision(using) ? stricter(listing, using) : UNDECIDED;
    } catch (error) {
      return { kind: "denied", reason: `it could not be decided: ${messageOf(error)}` };
    }
  }
}

/** A function of a user's program can return anything, for example a promise. */
const UNDECIDED: Decision = { kind: "denied", reason: `"decide" did not return a decision` };

function isDecision(value: unknown): value is Decision {
  if (!isRecord(value)) return false;
  const { kind } = value;
  return kind === "allowed" || kind === "needs-consent" || kind === "denied";
}

interface ConsentUse {
  target: RequestTarget;
  arguments: unknown;
  signal: CancelSignal;
}
