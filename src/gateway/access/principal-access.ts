import type { CancelSignal } from "../../async/cancellation.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import {
  type AccessTarget,
  decidedAs,
  otherTarget,
  type RequestTarget,
  ruledServer,
  serverTarget,
  setTarget,
} from "../../host/directory/access-target.ts";
import { type Decision, type Policy, stricter } from "../../host/directory/policy.ts";
import type { Pins } from "../../host/definitions/pins.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
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

/** Which definitions are used only as they were accepted. */
interface Pinning {
  pins: Pins;
  /** Everything is pinned here, whatever the entries of servers say; for an endpoint that is pinned as a whole. */
  isPinned?: boolean | undefined;
}

/** What a principal may see and use: the host's policy for it as an agent, narrowed by the gateway's own `decide`. */
export class PrincipalAccess {
  readonly #policy: Policy;
  readonly #rules: AccessRules;

  readonly #pinning: Pinning;

  /** `rules` are asked each time: they may come and go. */
  constructor(policy: Policy, rules: AccessRules, pinning: Pinning) {
    this.#policy = policy;
    this.#rules = rules;
    this.#pinning = pinning;
  }

  /** Whether all principals see the same. */
  get isSameForAll(): boolean {
    return this.#rules.decide === undefined && this.#policy.isSameForAll;
  }

  /** Whether things of one kind and server can have different decisions. */
  get judgesNames(): boolean {
    return this.#rules.decide !== undefined;
  }

  /** Whether nothing of this kind needs an individual decision. */
  isOpen(kind: AccessTarget["kind"], server: string): boolean {
    return this.#rules.decide === undefined && this.#policy.isOpen(kind, ruledServer(server)) && !this.pins(server);
  }

  /** Whether definitions of the server may be held until they are accepted. */
  pins(server: string): boolean {
    return this.#pinning.isPinned === true || this.#pinning.pins.concerns(server);
  }

  /** Whether everything is pinned here. */
  get isPinned(): boolean {
    return this.#pinning.isPinned === true;
  }

  /** Resolves when the lists of the server that were read so far are compared. */
  async compared(server: string): Promise<void> {
    await this.#pinning.pins.settled(server);
  }

  /** Whether a definition is held until it is accepted. Nobody sees or uses it until then. */
  isHeld(kind: ListKind, { server, name, definition: hash }: AccessTarget): boolean {
    return this.#pinning.pins.findHold({ server, kind, name, hash }, { always: this.isPinned }) !== undefined;
  }

  /** Throws DEFINITION_CHANGED if a definition is held: for callers that may use it otherwise. */
  requireAccepted(kind: ListKind, { server, name, definition: hash }: AccessTarget): void {
    this.#pinning.pins.requireAccepted({ server, kind, name, hash }, { always: this.isPinned });
  }

  /** Whether the principal may use the address of a set. */
  reachesSet(principal: Principal, name: string): boolean {
    const { decide } = this.#rules;
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

  decide(principal: Principal, asked: RequestTarget): Decision {
    const target = decidedAs(asked);
    const { searched } = target;
    return searched ? this.#decideWay(principal, target, searched) : this.#decideOne(principal, target);
  }

  /**
   * If a server lists a thing in several ways, the strictest decision counts. A thing that it does not list is denied.
   */
  judgeListed(principal: Principal, versions: readonly AccessTarget[]): Judged {
    let judged: Judged | undefined;
    for (const version of versions) {
      const decision = this.decide(principal, version);
      if (!judged) judged = { decision, version };
      else if (stricter(judged.decision, decision).kind !== judged.decision.kind) judged = { decision, version };
    }
    return judged ?? UNLISTED;
  }

  /** Those of the tools that are found by searching which the principal sees. */
  seen(principal: Principal, searched: readonly AccessTarget[]): AccessTarget[] {
    return searched.filter((target) => this.#showsSearched(principal, target));
  }

  #showsSearched(principal: Principal, target: AccessTarget): boolean {
    return !this.isHeld("tools", target) && this.allows(principal, target);
  }

  /** A tool that only leads to others is there for whoever may use one of them, unless it is itself denied. */
  #decideWay(
    principal: Principal,
    { searched: _searched, ...way }: AccessTarget,
    searched: readonly AccessTarget[],
  ): Decision {
    const { isWay: _isWay, ...plain } = way;
    // An API without such tools describes those that it lists.
    if (searched.length === 0) return this.#decideOne(principal, plain);
    const decision = this.#decideOne(principal, { ...way, annotations: { ...way.annotations, ...READ_ONLY } });
    if (decision.kind === "denied") return decision;
    return searched.some((target) => this.#showsSearched(principal, target)) ? decision : LEADS_NOWHERE;
  }

  #decideOne(principal: Principal, asked: AccessTarget): Decision {
    const target = ruledTarget(asked);
    const isOpen = this.#policy.isOpen(target.kind, target.server);
    const byPolicy = isOpen ? ALLOWED : this.#policy.decide(principal.id, target);
    const { decide } = this.#rules;
    if (byPolicy.kind === "denied" || !decide) return byPolicy;
    const ofServer = target.kind === "server" ? byPolicy : this.#ask(decide, principal, serverTarget(target.server));
    if (ofServer.kind === "denied") return ofServer;
    const other = otherTarget(target);
    const own = this.#ask(decide, principal, target);
    const both = other ? stricter(own, this.#ask(decide, principal, other)) : own;
    return stricter(byPolicy, stricter(ofServer, both));
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

/** What rules are about: a major version of a server is that server. */
function ruledTarget(target: AccessTarget): AccessTarget {
  const server = ruledServer(target.server);
  if (server === target.server) return target;
  return { ...target, server, name: target.kind === "server" ? server : target.name };
}

/** The decision about a thing, and the listing that it is about. */
interface Judged {
  decision: Decision;
  /** Undefined if the thing is not listed. */
  version: AccessTarget | undefined;
}

const UNLISTED: Judged = {
  decision: { kind: "denied", reason: "the server does not list it" },
  version: undefined,
};

const READ_ONLY = { readOnlyHint: true, destructiveHint: false };
const LEADS_NOWHERE: Decision = { kind: "denied", reason: "no tool that it leads to is allowed" };

const ALLOWED: Decision = { kind: "allowed" };

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
