import type { Result } from "../../protocol/json-rpc.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { weightOf } from "./weight.ts";

export interface FinishedLimits {
  /** Calls that wait for their callers, and as many that are over: 256. */
  parked: number;
  /** How long they are kept: ten minutes. */
  parkedMs: number;
  /** What the answers of calls that are over may weigh together: 32 MiB. */
  keptBytes: number;
}

/** A call that is over, with every answer it was given. */
export interface Finished {
  id: string;
  owner: string;
  /** What was answered in each round, and what came of it. */
  taken: { answers: string; reply: Promise<Result> }[];
  /** What the replies weigh. */
  bytes: number;
}

/**
 * Calls that are over, kept because an answer may have been lost on its way and be asked for again. So many, so heavy and
 * so long at most: whoever comes back later than that is refused, and nothing is executed again for it.
 */
export class FinishedCalls<T extends Finished> {
  readonly #limits: FinishedLimits;
  readonly #calls: ExpiringMap<T>;
  #bytes = 0;

  constructor(limits: FinishedLimits) {
    this.#limits = limits;
    this.#calls = new ExpiringMap(limits.parkedMs, (call) => this.#gone(call));
  }

  /** What is kept weighs this. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): T | undefined {
    return this.#calls.get(id);
  }

  keep(call: T): void {
    const { parked, keptBytes } = this.#limits;
    if (call.bytes > keptBytes) return;
    while (this.#calls.size >= parked || (this.#calls.size > 0 && this.#bytes + call.bytes > keptBytes)) {
      this.#gone(this.#calls.dropOldest());
    }
    this.#calls.set(call.id, call);
    this.#bytes += call.bytes;
  }

  release(owner: string): void {
    for (const call of this.#calls.takeAll((one) => one.owner === owner)) this.#gone(call);
  }

  clear(): void {
    for (const call of this.#calls.takeAll()) this.#gone(call);
  }

  #gone(call: T | undefined): void {
    this.#bytes -= call?.bytes ?? 0;
  }
}

/** Notes what a reply weighs beside those before it. */
export function weighed(call: Finished, result: Result): Result {
  call.bytes += weightOf(result);
  return result;
}
