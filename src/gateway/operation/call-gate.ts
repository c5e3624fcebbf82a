import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FEW, type FairShares, type Share } from "../../async/fair-shares.ts";
import { shuttingDown, busyError } from "../../server/core/busy-error.ts";
import { sharePlaces, shareReclaimablePlaces, type SharingOptions } from "../../server/core/caller-shares.ts";
import { isKeyOf } from "../../server/core/principal.ts";
import type { Limits } from "./limits.ts";

/** So long after calls of two principals they count as calling at the same time. */
const SHARED_MS = 1_000;
/** Nobody waits longer: servers that work on many calls at once get them. */
const PATIENCE_MS = 100;

interface QueuedCall {
  /** Its share of the queue. */
  share: Share;
  refuse: (error: NexusError) => void;
  until: number;
}

type GateLimits = Pick<Limits, "calls" | "queue" | "queueMs"> & SharingOptions;

/** Limits concurrent calls; queues some, rejects the rest. Principals take turns, so that a busy one does not delay others. */
export class CallGate {
  readonly #limits: GateLimits;
  readonly #calls: FairShares;
  readonly #queue: FairShares;
  readonly #pacing = new CallPacing();
  /** The oldest comes first. */
  readonly #queued = new Set<QueuedCall>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(limits: GateLimits) {
    this.#limits = limits;
    this.#calls = sharePlaces(limits.calls, limits);
    this.#queue = shareReclaimablePlaces(limits.queue, limits);
  }

  get running(): number {
    return this.#calls.used;
  }

  get queued(): number {
    return this.#queued.size + this.#pacing.waiting;
  }

  /** Calls of one tenant: those that run, and those in the queue. */
  callsOf(tenant: string): { running: number; queued: number } {
    const isMeant = (key: string) => isKeyOf(tenant, key);
    const queued = this.#queue.usedBy(isMeant) + this.#pacing.waitingOf(tenant);
    return { running: this.#calls.usedBy(isMeant), queued };
  }

  /** The share of a principal: its calls enter and leave with it. */
  shareOf(principal: string): Share {
    return this.#calls.of(principal);
  }

  /** False if the call has to be queued. Call `leave` when a call that entered has ended. */
  tryEnter(share: Share, now: number): boolean {
    return this.#pacing.tryBegin(share, now) && this.#calls.tryTake(share);
  }

  /** Waits and enters. Rejects if the queue is full, the wait is too long, or the call is cancelled. */
  async queue(share: Share, signal: CancelSignal): Promise<void> {
    if (this.#calls.hasRoom(share)) {
      await this.#pacing.wait(share);
      if (this.#calls.tryTake(share)) {
        if (!signal.aborted) return;
        this.leave(share);
        throw cancelled();
      }
    }
    const place = this.#queue.of(share.key);
    // A principal with more than its share of the queue makes room: its newest call has not begun and can be repeated.
    const hasRoom = this.#queue.reclaim(place, (loser) => this.#refuseNewest(loser));
    if (!hasRoom) throw busyError("The gateway is overloaded. Retry later");
    if (signal.aborted) throw cancelled();
    return this.#wait(share, place, signal);
  }

  leave(share: Share): void {
    this.#calls.give(share);
    this.#pacing.left();
    if (this.#whenIdle && this.#isIdle) this.#whenIdle();
  }

  /** Throws while the gateway shuts down. */
  requireOpen(): void {
    if (this.#closed) throw busyError(shuttingDown("gateway"));
  }

  /** Accepts no more calls; resolves when running and queued calls have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (!this.#isIdle) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  get #isIdle(): boolean {
    return this.#calls.used === 0 && this.#pacing.waiting === 0;
  }

  #wait(share: Share, place: Share, signal: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let stopWaiting = () => {};
      const leaveQueue = () => {
        signal.removeEventListener("abort", onAbort);
        this.#queued.delete(queued);
        this.#queue.give(place);
      };
      const refuse = (error: NexusError) => {
        stopWaiting();
        leaveQueue();
        reject(error);
      };
      const onAbort = () => refuse(cancelled());
      const queued: QueuedCall = { share: place, refuse, until: performance.now() + this.#limits.queueMs };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.take(place);
      this.#queued.add(queued);
      if (!this.#timer) this.#expireIn(this.#limits.queueMs);
      stopWaiting = this.#calls.wait(share, () => {
        leaveQueue();
        resolve();
      });
    });
  }

  /** False if the principal has no call in the queue. */
  #refuseNewest(loser: Share): boolean {
    const newest = [...this.#queued].findLast(({ share }) => share === loser);
    newest?.refuse(busyError("The gateway is overloaded: its queue is full. Retry later"));
    return newest !== undefined;
  }

  /** One timer for all: every call may wait equally long, so the oldest expires first. */
  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const { until, refuse } of this.#queued) {
      if (until > now) return this.#expireIn(Math.max(1, Math.ceil(until - now)));
      refuse(busyError("The gateway is overloaded: the call waited too long. Retry later"));
    }
  }

  #expireIn(ms: number): void {
    this.#timer = setTimeout(() => this.#expire(), ms);
    this.#timer.unref();
  }
}

function cancelled(): NexusError {
  return new NexusError("CANCELLED", "The call was cancelled", { mayHaveReached: false });
}

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
