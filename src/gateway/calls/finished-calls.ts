import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { weightOf } from "../../json/weight.ts";

export interface FinishedLimits {
  /** Calls that wait for their callers, and as many that are over: 256. */
  parked: number;
  /** How long they are kept: ten minutes. */
  parkedMs: number;
  /** What the answers of calls that are over may weigh together: 32 MiB. */
  keptBytes: number;
  /** What one principal gets of these while others compete, from 0 to 1. */
  share?: number | undefined;
}

/** A call that is over, with every answer it was given. */
export interface Finished {
  id: string;
  owner: string;
  /** The key of the principal, in whose share it counts. */
  principal: string;
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
  readonly #calls: ExpiringMap<T>;
  readonly #places: FairShares;
  readonly #bytes: FairShares;

  constructor({ parked, parkedMs, keptBytes, share }: FinishedLimits) {
    this.#calls = new ExpiringMap(parkedMs, (call) => this.#gone(call));
    this.#places = new FairShares(parked, share);
    this.#bytes = new FairShares(keptBytes, share);
  }

  /** What is kept weighs this. */
  get bytes(): number {
    return this.#bytes.used;
  }

  get(id: string): T | undefined {
    return this.#calls.get(id);
  }

  keep(call: T): void {
    const [place, bytes] = [this.#places.of(call.principal), this.#bytes.of(call.principal)];
    if (call.bytes > this.#bytes.limitOf(bytes)) return;
    const dropOldest = ({ key }: Share) => this.#gone(this.#calls.takeOldest(({ principal }) => principal === key));
    if (!this.#places.makeRoom(place, dropOldest) || !this.#bytes.makeRoom(bytes, dropOldest, call.bytes)) return;
    this.#calls.set(call.id, call);
    this.#places.take(place);
    this.#bytes.take(bytes, call.bytes);
  }

  release(owner: string): void {
    for (const call of this.#calls.takeAll((one) => one.owner === owner)) this.#gone(call);
  }

  clear(): void {
    for (const call of this.#calls.takeAll()) this.#gone(call);
  }

  /** False where there was none. */
  #gone(call: T | undefined): boolean {
    if (!call) return false;
    this.#places.give(this.#places.of(call.principal));
    this.#bytes.give(this.#bytes.of(call.principal), call.bytes);
    return true;
  }
}

/** Notes what a reply weighs beside those before it. */
export function weighed(call: Finished, result: Result): Result {
  call.bytes += weightOf(result);
  return result;
}
