import type { FairShares, Share } from "../../async/fair-shares.ts";
import { shareAmount, type SharingOptions } from "./caller-shares.ts";
import type { ServerLimits } from "./limits.ts";
import { isKeyOf, type Principal, principalKey } from "./principal.ts";
import type { ServerResponse } from "node:http";

export const NO_ROOM = "Too many bytes of request bodies and unread answers. Retry later or raise limits.totalBytes.";

/** A body that comes whole, and is no larger, is not counted: there is one for a connection, and few for a session. */
export const SMALL_BYTES = 16 * 1024;

/** How bytes that are held can become fewer. */
interface ByteClaimOptions {
  /** How many there are now, where that changes by itself. */
  measure?: () => number;
  /** Lets go of them at once for a principal that has fewer, and releases the claim. Absent: they are needed. */
  giveUp?: () => void;
}

/** One budget for all request bodies and unread answers. While others compete, one principal gets its part of it. */
export class ByteBudget {
  readonly #shares: FairShares;
  /** The oldest first. */
  readonly #claims = new Set<ByteClaim>();

  constructor({ totalBytes, ...sharing }: Pick<ServerLimits, "totalBytes"> & SharingOptions) {
    this.#shares = shareAmount(totalBytes, sharing);
  }

  get used(): number {
    return this.#shares.used;
  }

  usedBy(tenant: string): number {
    return this.#shares.usedBy((key) => isKeyOf(tenant, key));
  }

  claim(principal: string, options: ByteClaimOptions = {}): ByteClaim {
    return new ByteClaim(this, this.#shares.of(principal), options);
  }

  /** Of a claim: whether it may hold so many more, if need be after others let go of some. */
  take(claim: ByteClaim, bytes: number): boolean {
    const { share } = claim;
    if (!this.#shares.hasRoom(share, bytes)) {
      for (const each of this.#claims) if (each !== claim) each.remeasure();
      if (!this.#shares.reclaim(share, (loser) => this.#giveUpOldest(loser), bytes)) return false;
    }
    this.#shares.take(share, bytes);
    this.#claims.add(claim);
    return true;
  }

  give(claim: ByteClaim, bytes: number): void {
    this.#shares.give(claim.share, bytes);
    if (claim.bytes === 0) this.#claims.delete(claim);
  }

  /** False where it has none that can be given up. */
  #giveUpOldest(loser: Share): boolean {
    for (const claim of this.#claims) if (claim.share === loser && claim.giveUp()) return true;
    return false;
  }
}

/** Bytes that are held for one request or one client. */
export class ByteClaim {
  readonly share: Share;
  readonly #budget: ByteBudget;
  #options: ByteClaimOptions;
  #bytes = 0;

  constructor(budget: ByteBudget, share: Share, options: ByteClaimOptions) {
    this.#budget = budget;
    this.share = share;
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False where there is no room: then it stays as it was. */
  resize(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more > 0 && !this.#budget.take(this, more)) return false;
    this.#bytes = bytes;
    if (more < 0) this.#budget.give(this, -more);
    return true;
  }

  /** Lets go of them in this way from now on; undefined where they are needed. */
  giveUpBy(giveUp: (() => void) | undefined): void {
    this.#options = giveUp ? { giveUp } : {};
  }

  /** May be called more than once. */
  release(): void {
    this.resize(0);
  }

  /** It may have become less. */
  remeasure(): void {
    const { measure } = this.#options;
    if (measure) this.resize(Math.min(this.#bytes, measure()));
  }

  /** False where it is needed. */
  giveUp(): boolean {
    const { giveUp } = this.#options;
    if (!giveUp) return false;
    this.#options = {};
    giveUp();
    this.release();
    return true;
  }
}

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
