import type { ServerResponse } from "node:http";
import type { ByteBudget, ByteClaim } from "./byte-budget.ts";
import { principalKey, type Principal } from "./principal.ts";

/** What the system takes at once, as a rule; less is not worth counting or watching. */
export const LITTLE_BYTES = 64 * 1024;

/** Counts what was written for clients that have not read it yet. */
export class UnreadBytes {
  readonly #budget: ByteBudget;
  readonly #claims = new WeakMap<ServerResponse, ByteClaim>();
  #count = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Whether a text of this length may be written: what its client does not read at once has to be held. */
  mayWrite(response: ServerResponse, principal: Principal, length: number): boolean {
    const bytes = response.writableLength + length;
    if (bytes <= LITTLE_BYTES && this.#count === 0) return true;
    const known = this.#claims.get(response);
    if (known) return known.resize(bytes);
    return bytes <= LITTLE_BYTES || response.destroyed || this.#claimFor(response, principal).resize(bytes);
  }

  /** For what will be written when it is complete. */
  hold(principal: Principal): ByteClaim {
    return this.#budget.claim(principalKey(principal));
  }

  /** It is disconnected where another principal needs the room: it does not read. */
  #claimFor(response: ServerResponse, principal: Principal): ByteClaim {
    const claim = this.#budget.claim(principalKey(principal), {
      measure: () => response.writableLength,
      giveUp: () => response.destroy(),
    });
    this.#claims.set(response, claim);
    this.#count++;
    response.once("close", () => {
      this.#count--;
      claim.release();
    });
    return claim;
  }
}
