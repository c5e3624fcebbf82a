import { stricter } from "../../host/directory/policy.ts";
import type { AccessRules, Decide } from "../access/principal-access.ts";
import type { CompiledSet } from "./compiled-set.ts";

/** Who may use what in a set: what the set contains, narrowed by the gateway's own rules. */
export class SetRules implements AccessRules {
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
