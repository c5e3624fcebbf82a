/** The part of a shared resource that one holder has. */
export interface Share {
  readonly key: string;
  held: number;
  /** How much of it is idle and given up on demand. A holder with nothing else does not compete. */
  resting: number;
  /** Called, in this order, when one becomes free. */
  readonly waiting: Set<() => void>;
}

/** The fraction of the total that one holder gets while others compete. */
export const DEFAULT_SHARE = 0.25;

/** Above this number, shares of holders that have nothing are forgotten. */
const MANY_SHARES = 1024;

/**
 * A semaphore that is fair between holders. A single holder may have everything; while another one competes (uses some
 * of it or waits for it), each gets at most its part. Nothing is taken away: a holder with more than its part gets no
 * more, and `losersFor` names those that should give something up. What becomes free goes to the waiting holders in
 * turn.
 */
export class FairShares {
  readonly #total: number;
  readonly #part: number;
  readonly #shares = new Map<string, Share>();
  /** Shares that have waiters; the first is served next. */
  readonly #waiting = new Set<Share>();
  #used = 0;
  #competing = 0;

  /** `fraction`: what one holder gets of the total while others compete, from 0 to 1. */
  constructor(total: number, fraction = DEFAULT_SHARE) {
    this.#total = total;
    this.#part = Math.max(1, Math.ceil(total * fraction));
  }

  get used(): number {
    return this.#used;
  }

  /** How much these holders have together. */
  usedBy(isMeant: (key: string) => boolean): number {
    let used = 0;
    for (const { key, held } of this.#shares.values()) if (held > 0 && isMeant(key)) used += held;
    return used;
  }

  /** Callers that take and give often look it up once. Valid until everything is given back and it has no waiters. */
  of(key: string): Share {
    const known = this.#shares.get(key);
    if (known) return known;
    if (this.#shares.size >= MANY_SHARES) this.#forgetUnused();
    const share: Share = { key, held: 0, resting: 0, waiting: new Set() };
    this.#shares.set(key, share);
    return share;
  }

  /** How much the holder may have at the moment. */
  limitOf(share: Share): number {
    return this.#competing > (competes(share) ? 1 : 0) ? this.#part : this.#total;
  }

  hasRoom(share: Share, amount = 1): boolean {
    return this.#used + amount <= this.#total && share.held + amount <= this.limitOf(share);
  }

  /** Whether more is taken than allowed, which `take` makes possible. */
  isOver(share: Share): boolean {
    return this.#used > this.#total || share.held > this.limitOf(share);
  }

  tryTake(share: Share, amount = 1): boolean {
    if (!this.hasRoom(share, amount)) return false;
    this.take(share, amount);
    return true;
  }

  /** Takes it even if there is no room. */
  take(share: Share, amount = 1): void {
    const didCompete = competes(share);
    this.#used += amount;
    share.held += amount;
    this.#noteCompeting(share, didCompete);
  }

  give(share: Share, amount = 1): void {
    const didCompete = competes(share);
    this.#used -= amount;
    share.held -= amount;
    this.#noteCompeting(share, didCompete);
    this.#serve();
  }

  /** One of its items becomes idle, and is given up on demand. */
  rest(share: Share): void {
    const didCompete = competes(share);
    share.resting++;
    this.#noteCompeting(share, didCompete);
    this.#serve();
  }

  /** One of its idle items is used again. */
  stir(share: Share): void {
    const didCompete = competes(share);
    share.resting--;
    this.#noteCompeting(share, didCompete);
  }

  /** Takes one when there is room, and calls `admit`. The returned function stops waiting. */
  wait(share: Share, admit: () => void): () => void {
    const didCompete = competes(share);
    share.waiting.add(admit);
    this.#waiting.add(share);
    this.#noteCompeting(share, didCompete);
    this.#serve();
    return () => {
      const competed = competes(share);
      if (!share.waiting.delete(admit)) return;
      if (share.waiting.size === 0) this.#waiting.delete(share);
      this.#noteCompeting(share, competed);
      this.#serve();
    };
  }

  /** The number of waiters that could be served if this holder gave one back. */
  waitingFor(giver: Share): number {
    let count = 0;
    for (const share of this.#waiting) {
      if (share === giver || share.held < this.limitOf(share)) count += share.waiting.size;
    }
    return count;
  }

  /**
   * Makes room, if necessary by evicting; false if that is not possible. `evict` takes one item from a holder and gives
   * it back here; it returns false if the holder has none. A holder that has its part replaces its own items.
   */
  makeRoom(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    const { held } = share;
    const isReplaced = () => held - share.held >= amount && this.#used + amount <= this.#total;
    while (!this.hasRoom(share, amount) && !isReplaced()) {
      if (!this.losersFor(share, amount).some(evict)) return false;
    }
    return true;
  }

  /** The same for items in use: only holders of more than their part give something up. */
  reclaim(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    while (!this.hasRoom(share, amount)) if (!this.overfullFor(share, amount).some(evict)) return false;
    return true;
  }

  /** Holders of more than their part, the largest first, that make room for one with less than its part. */
  overfullFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [];
    return this.#largestFirst().filter((other) => other !== share && other.held > this.#part);
  }

  /**
   * The holders that give something up for this one, in this order: holders of more than their part, the holder itself,
   * then holders that have more than it. A holder with its part or more can only replace its own items.
   */
  losersFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [share];
    const overfull = this.overfullFor(share, amount);
    const larger = this.#largestFirst().filter((other) => other.held > share.held && !overfull.includes(other));
    return [...overfull, share, ...larger.filter((other) => other !== share)];
  }

  /** One holder after the other; within one holder in the order of arrival. */
  #serve(): void {
    for (let next = this.#nextWaiting(); next; next = this.#nextWaiting()) {
      const [admit] = next.waiting;
      this.#waiting.delete(next);
      if (!admit) continue;
      this.take(next);
      next.waiting.delete(admit);
      if (next.waiting.size > 0) this.#waiting.add(next);
      admit();
    }
  }

  #nextWaiting(): Share | undefined {
    if (this.#used >= this.#total) return undefined;
    for (const share of this.#waiting) if (this.hasRoom(share)) return share;
    return undefined;
  }

  #noteCompeting(share: Share, did: boolean): void {
    const does = competes(share);
    if (does !== did) this.#competing += does ? 1 : -1;
  }

  #largestFirst(): Share[] {
    return [...this.#shares.values()].filter(({ held }) => held > 0).sort((a, b) => b.held - a.held);
  }

  #forgetUnused(): void {
    for (const [key, { held, waiting }] of this.#shares) {
      if (held === 0 && waiting.size === 0) this.#shares.delete(key);
    }
  }
}

function competes({ held, resting, waiting }: Share): boolean {
  return held > resting || waiting.size > 0;
}
