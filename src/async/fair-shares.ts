/** The holders that belong together, such as those of one tenant. */
interface ShareGroup {
  held: number;
  reserved: number;
  /** When one of its waiters was served last, as a number that grows. */
  servedAt: number;
}

/** The part of a shared resource that one holder has. */
export interface Share {
  readonly key: string;
  readonly group: ShareGroup;
  /** What it gets at most, even if nobody competes. */
  readonly most: number;
  held: number;
  /** How much of it is of the reserve. */
  reserved: number;
  /** How much of it is idle and given up on demand. A holder with nothing else does not compete. */
  resting: number;
  /** Called, in this order, when one becomes free. */
  readonly waiting: Set<() => void>;
}

/** The fraction of the total that one holder gets while others compete. */
export const DEFAULT_SHARE = 0.25;

/** A holder with fewer may also have what is reserved. */
export const FEW = 8;

/** What no holder and no group gets more of, even if nobody competes; whoever comes then finds the rest. */
const MOST = 0.75;

/** What is reserved, beyond the total and at most this fraction of it. */
const RESERVED = 0.25;
const MAX_RESERVED = 256;

/** The rest of the reserve is for holders whose group has few. */
const RESERVED_FOR_ALL = 0.75;

interface ShareRules {
  /** What one holder gets of the total while others compete, from 0 to 1. */
  share?: number | undefined;
  /** For what cannot be taken away from its holders: no holder and no group gets all of it. */
  isBounded?: boolean | undefined;
  /** Holders of a few also get what is reserved for them, beyond the total. */
  hasReserve?: boolean | undefined;
  /** The name of the group that a holder belongs to; undefined where all belong together. */
  groupOf?: ((key: string) => string) | undefined;
  /** A holder that stands for everybody: it gets everything while nobody competes with it. */
  isEverybody?: ((key: string) => boolean) | undefined;
}

/** Above this number, shares of holders that have nothing are forgotten. */
const MANY_SHARES = 1024;

/**
 * A semaphore that is fair between holders. A single holder may have everything or, where the rules say so, most of it; while
 * another one competes (uses some of it or waits for it), each gets at most its part. Nothing is taken away: a holder with
 * more than its part gets no more, and `losersFor` names those that should give something up. What becomes free goes to the
 * waiting groups in turn, and to their holders in turn.
 */
export class FairShares {
  readonly #total: number;
  readonly #part: number;
  readonly #most: number;
  readonly #reserve: number;
  readonly #few: number;
  readonly #rules: ShareRules;
  readonly #shares = new Map<string, Share>();
  /** Shares that had nothing and are found again while somebody still has them: a holder never has two. */
  readonly #forgotten = new Map<string, WeakRef<Share>>();
  readonly #groups = new Map<string, ShareGroup>();
  /** Shares that have waiters; within a group, the first is served next. */
  readonly #waiting = new Set<Share>();
  #used = 0;
  #reserved = 0;
  #competing = 0;
  #served = 0;

  constructor(total: number, rules: ShareRules = {}) {
    this.#total = total;
    this.#rules = rules;
    this.#part = Math.max(1, Math.ceil(total * (rules.share ?? DEFAULT_SHARE)));
    this.#most = rules.isBounded === true ? Math.max(this.#part, Math.floor(total * MOST)) : total;
    this.#reserve = rules.hasReserve === true ? Math.min(MAX_RESERVED, Math.floor(total * RESERVED)) : 0;
    this.#few = Math.min(FEW, this.#part);
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

  /** Callers that take and give often look it up once. It is the same one for as long as anybody has it. */
  of(key: string): Share {
    const known = this.#shares.get(key) ?? this.#forgotten.get(key)?.deref();
    if (known) return known;
    if (this.#shares.size >= MANY_SHARES) this.#forgetUnused();
    const group = this.#groupOf(this.#rules.groupOf?.(key) ?? "");
    const most = this.#rules.isEverybody?.(key) === true ? this.#total : this.#most;
    const share: Share = { key, group, most, held: 0, reserved: 0, resting: 0, waiting: new Set() };
    this.#shares.set(key, share);
    return share;
  }

  /** How much the holder may have at the moment. */
  limitOf(share: Share): number {
    return this.#competing > (competes(share) ? 1 : 0) ? this.#part : share.most;
  }

  hasRoom(share: Share, amount = 1): boolean {
    return this.#hasOrdinaryRoom(share, amount) || this.#hasReserved(share, amount);
  }

  /** Whether more is taken than allowed, which `take` makes possible. */
  isOver(share: Share): boolean {
    return !this.#hasOrdinaryRoom(share, 0);
  }

  tryTake(share: Share, amount = 1): boolean {
    const isOrdinary = this.#hasOrdinaryRoom(share, amount);
    const hasRoom = isOrdinary || this.#hasReserved(share, amount);
    if (hasRoom) this.take(share, amount, isOrdinary);
    return hasRoom;
  }

  /** Takes it even if there is no room. */
  take(share: Share, amount = 1, isOrdinary = this.#hasOrdinaryRoom(share, amount)): void {
    if (share.held === 0 && this.#forgotten.size > 0) this.#remember(share);
    this.#note(share, amount, isOrdinary || !this.#hasReserved(share, amount) ? 0 : amount);
  }

  give(share: Share, amount = 1): void {
    this.#note(share, -amount, -Math.min(share.reserved, amount));
    if (this.#waiting.size > 0) this.#serve();
  }

  /** One of its items becomes idle, and is given up on demand. */
  rest(share: Share): void {
    share.resting++;
    if (share.held !== share.resting || share.waiting.size > 0) return;
    this.#competing--;
    if (this.#waiting.size > 0) this.#serve();
  }

  /** One of its idle items is used again. */
  stir(share: Share): void {
    share.resting--;
    if (share.held === share.resting + 1 && share.waiting.size === 0) this.#competing++;
  }

  /** Takes one when there is room, and calls `admit`. The returned function stops waiting. */
  wait(share: Share, admit: () => void): () => void {
    const didCompete = competes(share);
    if (this.#forgotten.size > 0) this.#remember(share);
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
   * it back here; it returns false if the holder has none. A holder that has its part replaces its own items. What is
   * reserved is used last.
   */
  makeRoom(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    const { held } = share;
    const isReplaced = () => held - share.held >= amount && this.#used - this.#reserved + amount <= this.#total;
    while (!this.#hasOrdinaryRoom(share, amount) && !isReplaced()) {
      if (!this.losersFor(share, amount).some(evict)) return this.#hasReserved(share, amount);
    }
    return true;
  }

  /** The same for items in use: only holders and groups with more than their part give something up. */
  reclaim(share: Share, evict: (loser: Share) => boolean, amount = 1): boolean {
    while (!this.#hasOrdinaryRoom(share, amount)) {
      if (!this.overfullFor(share, amount).some(evict)) return this.#hasReserved(share, amount);
    }
    return true;
  }

  /** Holders of more than their part, the largest group and holder first, that make room for one with less than its part. */
  overfullFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [];
    const isOverfull = (other: Share) =>
      isBeside(share, other)
        ? other.held > this.#part
        : other.group.held > Math.max(this.#part, share.group.held + amount);
    return this.#losersBut(share, amount).filter(isOverfull);
  }

  /**
   * The holders that give something up for this one, in this order: holders of more than their part, the holder itself,
   * then holders that have more than it. A holder with its part or more can only replace its own items.
   */
  losersFor(share: Share, amount = 1): Share[] {
    if (share.held + amount > this.limitOf(share)) return [share];
    const overfull = this.overfullFor(share, amount);
    const hasMore = (other: Share) =>
      isBeside(share, other) ? other.held > share.held : other.group.held > share.group.held;
    const larger = this.#losersBut(share, amount).filter((other) => hasMore(other) && !overfull.includes(other));
    return [...overfull, share, ...larger];
  }

  /** Other holders, the largest group and holder first; only those of its own group where that group has as much as it may. */
  #losersBut(share: Share, amount: number): Share[] {
    const isGroupFull = this.#rules.groupOf !== undefined && !this.#hasGroupRoom(share, amount);
    return [...this.#shares.values()]
      .filter((other) => other.held > 0 && other !== share && (!isGroupFull || isBeside(share, other)))
      .sort((a, b) => b.group.held - a.group.held || b.held - a.held);
  }

  #hasOrdinaryRoom(share: Share, amount: number): boolean {
    return (
      this.#used - this.#reserved + amount <= this.#total &&
      share.held + amount <= this.limitOf(share) &&
      (this.#rules.groupOf === undefined || this.#hasGroupRoom(share, amount))
    );
  }

  #hasGroupRoom(share: Share, amount: number): boolean {
    const { held, reserved } = share.group;
    return held - reserved + amount <= Math.max(this.#most, share.most);
  }

  #hasReserved({ held, group }: Share, amount: number): boolean {
    if (held + amount > this.#few) return false;
    const isForAll = !this.#rules.groupOf || group.held + amount <= this.#few;
    return this.#reserved + amount <= (isForAll ? this.#reserve : this.#reserve * RESERVED_FOR_ALL);
  }

  /** The holder has so much more or less, and may compete now, or no longer. */
  #note(share: Share, held: number, reserved: number): void {
    const didCompete = competes(share);
    const { group } = share;
    this.#used += held;
    share.held += held;
    group.held += held;
    this.#reserved += reserved;
    share.reserved += reserved;
    group.reserved += reserved;
    this.#noteCompeting(share, didCompete);
  }

  /** One group after the other, then one holder after the other; within one holder in the order of arrival. */
  #serve(): void {
    for (let next = this.#nextWaiting(); next; next = this.#nextWaiting()) {
      const [admit] = next.waiting;
      this.#waiting.delete(next);
      if (!admit) continue;
      this.take(next);
      next.waiting.delete(admit);
      if (next.waiting.size > 0) this.#waiting.add(next);
      next.group.servedAt = ++this.#served;
      admit();
    }
  }

  #nextWaiting(): Share | undefined {
    let next: Share | undefined;
    for (const share of this.#waiting) {
      if (next && share.group.servedAt >= next.group.servedAt) continue;
      if (this.hasRoom(share)) next = share;
    }
    return next;
  }

  #noteCompeting(share: Share, did: boolean): void {
    const does = competes(share);
    if (does !== did) this.#competing += does ? 1 : -1;
  }

  #groupOf(name: string): ShareGroup {
    const known = this.#groups.get(name);
    if (known) return known;
    const group = { held: 0, reserved: 0, servedAt: 0 };
    this.#groups.set(name, group);
    return group;
  }

  /** Those that have something or wait are found by others. */
  #remember(share: Share): void {
    if (this.#forgotten.delete(share.key)) this.#shares.set(share.key, share);
  }

  #forgetUnused(): void {
    const inUse = new Set<ShareGroup>();
    for (const [key, reference] of this.#forgotten) {
      const share = reference.deref();
      if (share) inUse.add(share.group);
      else this.#forgotten.delete(key);
    }
    for (const [key, share] of this.#shares) {
      inUse.add(share.group);
      if (share.held > 0 || share.waiting.size > 0) continue;
      this.#shares.delete(key);
      this.#forgotten.set(key, new WeakRef(share));
    }
    for (const [name, group] of this.#groups) if (!inUse.has(group)) this.#groups.delete(name);
  }
}

function isBeside({ group }: Share, other: Share): boolean {
  return other.group === group;
}

function competes({ held, resting, waiting }: Share): boolean {
  return held > resting || waiting.size > 0;
}
