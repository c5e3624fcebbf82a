import type { CancelSignal } from "../../client/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { INTERNAL_ERROR, type ErrorObject } from "../../protocol/json-rpc.ts";
import type { Limits } from "../limits.ts";

/** When a caller who was turned away should come again. */
const COME_AGAIN_MS = 1000;

interface Waiting {
  admit: () => void;
  refuse: (error: NexusError) => void;
  until: number;
}

/** Lets only so many calls in at a time; some wait, the rest are turned away. */
export class CallGate {
  readonly #limits: Pick<Limits, "calls" | "queue" | "queueMs">;
  readonly #queue: Waiting[] = [];
  #running = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(limits: Pick<Limits, "calls" | "queue" | "queueMs">) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** A promise only where the call has to wait. Throws, or rejects, where it cannot be taken on. */
  enter(signal: CancelSignal): Promise<void> | undefined {
    this.requireOpen();
    if (this.#running < this.#limits.calls) {
      this.#running++;
      return undefined;
    }
    if (this.#queue.length >= this.#limits.queue) throw turnedAway("The gateway has too many calls to do");
    return this.#wait(signal);
  }

  leave(): void {
    // The next in the queue takes over the place.
    const next = this.#queue.shift();
    if (next) next.admit();
    else if (--this.#running === 0) this.#whenIdle?.();
  }

  requireOpen(): void {
    if (this.#closed) throw turnedAway("The gateway is shutting down");
  }

  /** Nobody is let in any more; resolves when those inside and in the queue are done. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #wait(signal: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        admit: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
        refuse: (error) => {
          signal.removeEventListener("abort", onAbort);
          reject(error);
        },
        until: performance.now() + this.#limits.queueMs,
      };
      const onAbort = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(new NexusError("CANCELLED", "The call was cancelled", { mayHaveReached: false }));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(waiting);
      if (!this.#timer) this.#expireIn(this.#limits.queueMs);
    });
  }

  /** One timer for all: everybody waits equally long, so the first in the queue is the first to go. */
  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    while (this.#queue[0] && this.#queue[0].until <= now) {
      this.#queue.shift()?.refuse(turnedAway("The gateway has too many calls to do, and none ended in time"));
    }
    const [first] = this.#queue;
    if (first) this.#expireIn(Math.max(1, Math.ceil(first.until - now)));
  }

  #expireIn(ms: number): void {
    this.#timer = setTimeout(() => this.#expire(), ms);
    this.#timer.unref();
  }
}

/** The call was not made; the caller may make it again later. */
export function turnedAway(message: string): NexusError {
  const data = { code: "BUSY", mayHaveReached: false, retryAfterMs: COME_AGAIN_MS };
  return new NexusError("CLOSED", message, {
    rpc: { code: INTERNAL_ERROR, message, data },
    retryAfterMs: COME_AGAIN_MS,
    mayHaveReached: false,
  });
}

/** After how many seconds to come again, where an error says that the call was turned away. */
export function retryAfter({ data }: ErrorObject): number | undefined {
  const { code, retryAfterMs } = (data ?? {}) as { code?: unknown; retryAfterMs?: unknown };
  return code === "BUSY" && typeof retryAfterMs === "number" ? Math.ceil(retryAfterMs / 1000) : undefined;
}
