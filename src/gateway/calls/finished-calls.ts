import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { weightOf } from "../../json/weight.ts";

export interface FinishedLimits {
  /** Maximum number of parked calls, and of finished calls that are kept: 256. */
  parked: number;
  /** How long they are kept: ten minutes. */
  parkedMs: number;
  /** Maximum size of the answers of all finished calls that are kept: 32 MiB. */
  keptBytes: number;
  /** The part of these that one principal may use while others compete, from 0 to 1. */
  share?: number | undefined;
}

/** A finished call with all its answers. */
export interface Finished {
  id: string;
  owner: string;
  /** The key of the principal whose share it uses. */
  principal: string;
  /** For each round, a digest of the caller's answers and the reply. */
  taken: { answers: string; reply: Promise<Result> }[];
  /** The size of the replies. */
  bytes: number;
}

/**
 * Finished calls, kept for callers that ask again because an answer was lost. Number, size and time are limited: a
 * caller that comes back later is refused, and nothing is run again.
 */
export class FinishedCalls<T extends Finished> {
  readonly #calls: ExpiringMap<T>;
  readonly #places: FairShares;
  readonly #bytes: FairShares;

  constructor({ parked, parkedMs, keptBytes, share }: FinishedLimits) {
    this.#calls = new ExpiringMap(parkedMs, (call) => this.#gone(call));
    this.#places = new FairShares(parked, { share });
    this.#bytes = new FairShares(keptBytes, { share });
  }

  /** The size of what is kept. */
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

  /** False if there was none. */
  #gone(call: T | undefined): boolean {
    if (!call) return false;
    this.#places.give(this.#places.of(call.principal));
    this.#bytes.give(this.#bytes.of(call.principal), call.bytes);
    return true;
  }
}

/** Adds the size of a reply to the call. */
export function weighed(call: Finished, result: Result): Result {
  call.bytes += weightOf(result);
  return result;
}
