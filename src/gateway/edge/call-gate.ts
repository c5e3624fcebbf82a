import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import { shuttingDown, turnedAway } from "../../server/core/turned-away.ts";
import type { Limits } from "../operation/limits.ts";

interface Waiting {
  /** Its place in the queue. */
  share: Share;
  refuse: (error: NexusError) => void;
  until: number;
}

type GateLimits = Pick<Limits, "calls" | "queue" | "queueMs" | "share">;

/** Limits concurrent calls; queues some, rejects the rest. Principals take turns, so that a busy one delays no other. */
export class CallGate {
  readonly #limits: GateLimits;
  readonly #calls: FairShares;
  readonly #queue: FairShares;
  /** Those in the queue, the oldest first. */
  readonly #waiting = new Set<Waiting>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(limits: GateLimits) {
    this.#limits = limits;
    this.#calls = new FairShares(limits.calls, limits.share);
    this.#queue = new FairShares(limits.queue, limits.share);
  }

  get running(): number {
    return this.#calls.used;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** What calls of a principal enter and leave with. */
  shareOf(principal: string): Share {
    return this.#calls.of(principal);
  }

  /** A promise only where the call has to wait. Throws, or rejects, where it cannot be taken on. */
  enter(share: Share, signal: CancelSignal): Promise<void> | undefined {
    this.requireOpen();
    if (this.#calls.tryTake(share)) return undefined;
    const place = this.#queue.of(share.key);
    // One that has more than its part in the queue makes room: it was not begun, and can be called again.
    const hasRoom = this.#queue.reclaim(place, (loser) => this.#refuseNewest(loser));
    if (!hasRoom) throw turnedAway("The gateway is overloaded. Retry later");
    return this.#wait(share, place, signal);
  }

  leave(share: Share): void {
    this.#calls.give(share);
    if (this.#calls.used === 0) this.#whenIdle?.();
  }

  requireOpen(): void {
    if (this.#closed) throw turnedAway(shuttingDown("gateway"));
  }

  /** Nobody is let in any more; resolves when those inside and in the queue are done. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.running > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #wait(share: Share, place: Share, signal: CancelSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      let stopWaiting = () => {};
      const leaveQueue = () => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(waiting);
        this.#queue.give(place);
      };
      const refuse = (error: NexusError) => {
        stopWaiting();
        leaveQueue();
        reject(error);
      };
      const onAbort = () => refuse(cancelled());
      const waiting: Waiting = { share: place, refuse, until: performance.now() + this.#limits.queueMs };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.take(place);
      this.#waiting.add(waiting);
      if (!this.#timer) this.#expireIn(this.#limits.queueMs);
      stopWaiting = this.#calls.wait(share, () => {
        leaveQueue();
        resolve();
      });
    });
  }

  /** False where it has none in the queue. */
  #refuseNewest(loser: Share): boolean {
    const newest = [...this.#waiting].findLast(({ share }) => share === loser);
    newest?.refuse(turnedAway("The gateway is overloaded: its queue is full. Retry later"));
    return newest !== undefined;
  }

  /** One timer for all: everybody waits equally long, so the first in the queue is the first to go. */
  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const { until, refuse } of this.#waiting) {
      if (until > now) return this.#expireIn(Math.max(1, Math.ceil(until - now)));
      refuse(turnedAway("The gateway is overloaded: the call waited too long. Retry later"));
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
