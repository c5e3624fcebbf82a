/** What one holder has of something that several want. */
export interface Share {
  readonly key: string;
  held: number;
  /** Of these, how much is not used and given up on demand: who has nothing else does not compete. */
  resting: number;
  /** Called when one becomes free, in this order. */
  readonly waiting: Set<() => void>;
}

/** What one holder gets of the whole while others compete. */
export const DEFAULT_SHARE = 0.25;

/** More shares than that are not kept for holders that have nothing. */
const MANY_SHARES = 1024;

/**
 * Divides a bounded amount between holders. One that is alone may have everything; while another one competes, that is,
 * uses or waits for some of it, each gets at most its part. Nothing is taken away: a holder that has more than its part
 * gets no more, and `losersFor` names those who should give something up. What becomes free goes to those who wait, one
 * holder after the other.
 */
export class FairShares {
  readonly #total: number;
  readonly #part: number;
  readonly #shares = new Map<string, Share>();
  /** Shares that somebody waits with; the next to be served stands first. */
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

  /** Looked up once by those who take and give often. Valid until it has been given back and nobody waits with it. */
  of(key: string): Share {
    const known = this.#shares.get(key);
    if (known) return known;
    if (this.#shares.size >= MANY_SHARES) this.#forgetUnused();
    const share: Share = { key, held: 0, resting: 0, waiting: new Set() };
    this.#shares.set(key, share);
    return share;
  }

  /** How much it may have at the moment. */
  limitOf(share: Share): number {
    return this.#competing > (competes(share) ? 1 : 0) ? this.#part : this.#total;
  }

  hasRoom(share: Share, amount = 1): boolean {
    return this.#used + amount <= this.#total && share.held + amount <= this.limitOf(share);
  }

  /** Whether there is more of it than there may be, which `take` allows. */
  isOver(share: Share): boolean {
    return this.#used > this.#total || share.held > this.limitOf(share);
  }

  tryTake(share: Share, amount = 1): boolean {
    if (!this.hasRoom(share, amount)) return false;
    this.take(share, amount);
    return true;
  }

  /** Whether there is room or not. */
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

  /** One of what it holds is not used any more, and given up on demand. */
  rest(share: Share): void {
    const didCompete = competes(share);
    share.resting++;
    this.#noteCompeting(share, didCompete);
    this.#serve();
  }

  /** One that rested is used again. */
  stir(share: Share): void {
    const didCompete = competes(share);
    share.resting--;
    this.#noteCompeting(share, didCompete);
  }

  /** Takes one as soon as there is room, and says so. Call what it returns to wait no longer. */
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

  /** How many wait that would be served if this holder gave one back. */
  waitingFor(giver: Share): number {
    let count = 0;
    for (const share of this.#waiting) {
      if (share === giver || share.held < this.limitOf(share)) count += share.waiting.size;
    }
    return count;
  }

  /**
   * Whether something may be taken, if need be after something else was given up. `evict` takes one thing from a holder,
   * and gives it back here; it is false where there is none to take. One that has more than its part replaces what it has.
   */
  makeRoom(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    const { held } = share;
    const isReplaced = () => held - share.held >= amount && this.#used + amount <= this.#total;
    while (!this.hasRoom(share, amount) && !isReplaced()) {
      if (!this.losersFor(share, amount).some(evict)) return false;
    }
    return true;
  }

  /** The same for what is in use: only those who have more than their part give something up. */
  reclaim(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    while (!this.hasRoom(share, amount)) if (!this.overfullFor(share, amount).some(evict)) return false;
    return true;
  }

  /** Holders of more than their part, the largest first, who make room for one that has less than its own. */
  overfullFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [];
    return this.#largestFirst().filter((other) => other !== share && other.held > this.#part);
  }

  /**
   * Who gives something up for this one, in this order: holders of more than their part, then the holder itself, then
   * those who have more than it has. One that has its part, or more, can only replace what it has.
   */
  losersFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [share];
    const overfull = this.overfullFor(share, amount);
    const larger = this.#largestFirst().filter((other) => other.held > share.held && !overfull.includes(other));
    return [...overfull, share, ...larger.filter((other) => other !== share)];
  }

  /** One holder after the other; within one, whoever has waited longest. */
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
