import { FEW, type Share } from "../../async/fair-shares.ts";
import { isKeyOf } from "../../server/core/principal.ts";

/** So long after calls of two principals they count as calling at the same time. */
const SHARED_MS = 1_000;
/** Nobody waits longer: servers that work on many calls at once get them. */
const PATIENCE_MS = 100;

interface Waiting {
  share: Share;
  begin: () => void;
  until: number;
}

/**
 * Keeps one busy principal from delaying others. While several call, each begins one call in a turn of the event loop, and one that
 * has several running begins the next when one of them ends, or after a short time. So what a busy one has to do waits here,
 * where others pass it, and not in front of them in the event loop or at a server that works on one call after the other.
 */
export class CallPacing {
  /** By principal, in the order of arrival. */
  readonly #waiting = new Map<Share, Set<Waiting>>();
  /** All of them, in the order of arrival. */
  readonly #all = new Set<Waiting>();
  /** Who began a call in this turn. */
  readonly #begun = new Set<Share>();
  #latest: Share | undefined;
  #sharedUntil = -Infinity;
  #isTurning = false;
  #timer: NodeJS.Timeout | undefined;

  get waiting(): number {
    return this.#all.size;
  }

  waitingOf(tenant: string): number {
    let count = 0;
    for (const { share } of this.#all) if (isKeyOf(tenant, share.key)) count++;
    return count;
  }

  /** False if a call that comes now has to wait. */
  tryBegin(share: Share, now: number): boolean {
    if (share !== this.#latest) {
      if (this.#latest) this.#sharedUntil = now + SHARED_MS;
      this.#latest = share;
    }
    if (now >= this.#sharedUntil) return true;
    if (share.held >= FEW || this.#begun.has(share) || this.#waiting.has(share)) return false;
    this.#begun.add(share);
    this.#turn();
    return true;
  }

  /** Resolves when it may begin. */
  wait(share: Share): Promise<void> {
    return new Promise((begin) => {
      const waiting: Waiting = { share, begin, until: performance.now() + PATIENCE_MS };
      const others = this.#waiting.get(share);
      if (others) others.add(waiting);
      else this.#waiting.set(share, new Set([waiting]));
      this.#all.add(waiting);
      this.#turn();
    });
  }

  /** A call has ended: the next one of its principal may begin. */
  left(): void {
    if (this.#all.size > 0) this.#turn();
  }

  #turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(this.#next);
  }

  readonly #next = () => {
    this.#isTurning = false;
    this.#begun.clear();
    const now = performance.now();
    for (const [share, [first]] of this.#waiting) {
      if (!first || (share.held >= FEW && first.until > now)) continue;
      this.#begun.add(share);
      this.#begin(first);
    }
    if (this.#begun.size > 0) return this.#turn();
    const [oldest] = this.#all;
    if (!oldest || this.#timer) return;
    this.#timer = setTimeout(this.#expire, Math.max(1, Math.ceil(oldest.until - now)));
    this.#timer.unref();
  };

  /** Every call may wait equally long, so the oldest expires first. */
  readonly #expire = () => {
    this.#timer = undefined;
    this.#turn();
  };

  #begin(waiting: Waiting): void {
    const { share, begin } = waiting;
    const own = this.#waiting.get(share);
    own?.delete(waiting);
    if (own?.size === 0) this.#waiting.delete(share);
    this.#all.delete(waiting);
    begin();
  }
}
