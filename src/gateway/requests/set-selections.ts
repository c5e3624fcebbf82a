import { serverTarget } from "../../host/directory/access-target.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Principal } from "../../server/core/principal.ts";
import { PrincipalAccess, type AccessRules, type Decide } from "../access/principal-access.ts";
import { setInfo } from "../lists/offer.ts";
import { Selection, type SelectionParts } from "./selection.ts";
import { CompiledSet } from "../sets/compiled-set.ts";
import type { SetDefinition } from "../sets/set-definition.ts";
import type { SetSource } from "../sets/set-source.ts";
import { stricter } from "../../host/directory/policy.ts";

/** The sets of one tenant. */
export interface TenantSets {
  source: SetSource;
  tenant: string;
}

interface SetSelectionsOptions extends SelectionParts {
  /** Decides who may use a set at all. */
  everything: PrincipalAccess;
  rules: AccessRules;
  sets: TenantSets | undefined;
}

interface KnownSet {
  definition: SetDefinition;
  selection: Selection;
}

/** The selections of sets. Each set is compiled when it is first used, and again after it has changed. */
export class SetSelections {
  readonly #options: SetSelectionsOptions;
  readonly #known = new Map<string, KnownSet>();
  readonly #stop: readonly ((() => void) | undefined)[];

  constructor(options: SetSelectionsOptions) {
    this.#options = options;
    this.#stop = [
      options.sets?.source.onChanged(() => this.#forgetRemoved()),
      options.sets && options.host.pins.addPins((server) => this.#pins(server)),
    ];
  }

  /** Undefined for a set that does not exist, and for one that the principal may not use. */
  find(name: string, principal: Principal): Selection | undefined {
    const { everything } = this.#options;
    const selection = this.#selection(name);
    return selection && everything.reachesSet(principal, name) ? selection : undefined;
  }

  serverInfo(name: string): Implementation | undefined {
    const set = this.#selection(name)?.set;
    return set && setInfo(set);
  }

  /** Called after any set has changed; the returned function removes the listener. */
  onChanged(listener: () => void): () => void {
    return this.#options.sets?.source.onChanged(listener) ?? (() => {});
  }

  close(): void {
    for (const stop of this.#stop) stop?.();
  }

  /** Whether a pinned set contains anything of the server. */
  #pins(server: string): boolean {
    const { sets } = this.#options;
    const names = sets?.source.names?.(sets.tenant) ?? this.#known.keys();
    return [...names].some((name) => {
      // The others need not be compiled for this.
      if (this.#find(name)?.pin !== true) return false;
      const set = this.#selection(name)?.set;
      return set !== undefined && set.decide(serverTarget(server)).kind !== "denied";
    });
  }

  #selection(name: string): Selection | undefined {
    const definition = this.#find(name);
    if (!definition) return undefined;
    const known = this.#known.get(name);
    if (known?.definition === definition) return known.selection;
    const { host, rules, logger } = this.#options;
    const set = new CompiledSet(name, definition, logger);
    const access = new PrincipalAccess(host.policy, new SetRules(set, rules), {
      pins: host.pins,
      isPinned: set.isPinned,
    });
    const selection = new Selection(access, this.#options, set);
    this.#known.set(name, { definition, selection });
    return selection;
  }

  #find(name: string): SetDefinition | undefined {
    const { sets } = this.#options;
    return sets?.source.find(sets.tenant, name);
  }

  #forgetRemoved(): void {
    for (const name of this.#known.keys()) if (!this.#find(name)) this.#known.delete(name);
  }
}

/** Who may use what in a set: what the set contains, narrowed by the gateway's own rules. */
class SetRules implements AccessRules {
  readonly #set: CompiledSet;
  readonly #outer: AccessRules;

  constructor(set: CompiledSet, outer: AccessRules) {
    this.#set = set;
    this.#outer = outer;
  }

  /** A set does not tell them apart. */
  get decidesAlike(): boolean {
    return this.#outer.decide === undefined || this.#outer.decidesAlike === true;
  }

  readonly decide: Decide = (principal, operation, target) => {
    const bySet = this.#set.decide(target);
    const { decide } = this.#outer;
    if (bySet.kind === "denied" || !decide) return bySet;
    return stricter(bySet, decide(principal, operation, { ...target, set: this.#set.name }));
  };
}
