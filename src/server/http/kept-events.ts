import type { FairShares, Share } from "../../async/fair-shares.ts";
import { shareKept, type SharingOptions } from "../core/caller-shares.ts";

/** Bounds of what is kept: for one stream, and for all of an endpoint. */
const MAX_KEPT_EVENTS = 1000;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_ALL_KEPT_BYTES = 32 * 1024 * 1024;

interface KeptEvent {
  sequence: number;
  text: string;
}

/** What all streams of an endpoint keep together. */
export class EventStore {
  readonly #shares: FairShares;
  /** Of streams that have ended, oldest first: these are the first to go. */
  readonly #ended = new Set<KeptEvents>();

  constructor(maxBytes = MAX_ALL_KEPT_BYTES, sharing: SharingOptions = {}) {
    this.#shares = shareKept(maxBytes, sharing);
  }

  get bytes(): number {
    return this.#shares.used;
  }

  /** Whether there is room, if need be after those were let go that nobody has come back for longest. */
  hasRoom(principal: string): boolean {
    const share = this.#shares.of(principal);
    while (this.#shares.isOver(share)) {
      if (!this.#shares.losersFor(share, 0).some((loser) => this.#discardOldest(loser))) return false;
    }
    return true;
  }

  add(principal: string, bytes: number): void {
    const share = this.#shares.of(principal);
    if (bytes > 0) this.#shares.take(share, bytes);
    else this.#shares.give(share, -bytes);
  }

  ended(events: KeptEvents): void {
    this.#ended.add(events);
  }

  forget(events: KeptEvents): void {
    this.#ended.delete(events);
  }

  /** False where it has no stream that has ended. */
  #discardOldest({ key }: Share): boolean {
    for (const events of this.#ended) {
      if (events.principal !== key) continue;
      events.discard();
      return true;
    }
    return false;
  }
}

/** The events of one stream that its client may still come back for. */
export class KeptEvents {
  /** In whose share they count. */
  readonly principal: string;
  readonly #store: EventStore;
  #events: KeptEvent[] = [];
  #bytes = 0;
  /** Of the newest event that is no longer kept. */
  #dropped = 0;

  constructor(store: EventStore, principal: string) {
    this.#store = store;
    this.principal = principal;
  }

  add(sequence: number, text: string): void {
    this.#events.push({ sequence, text });
    this.#count(text.length);
    while (this.#events.length > 0 && this.#isTooMuch) this.#dropOldest();
  }

  /** Whether every event after this one is still there. */
  hasAllAfter(sequence: number): boolean {
    return sequence >= this.#dropped;
  }

  after(sequence: number): string[] {
    return this.#events.filter((event) => event.sequence > sequence).map(({ text }) => text);
  }

  /** Nothing more will come. */
  end(): void {
    if (this.#events.length > 0) this.#store.ended(this);
  }

  discard(): void {
    this.#dropped = this.#events.at(-1)?.sequence ?? this.#dropped;
    this.#count(-this.#bytes);
    this.#events = [];
    this.#store.forget(this);
  }

  get #isTooMuch(): boolean {
    if (this.#events.length > MAX_KEPT_EVENTS || !this.#store.hasRoom(this.principal)) return true;
    // A single answer over the bound is kept as long as there is room: without it the call would be lost.
    return this.#bytes > MAX_KEPT_BYTES && this.#events.length > 1;
  }

  #dropOldest(): void {
    const oldest = this.#events.shift();
    if (!oldest) return;
    this.#count(-oldest.text.length);
    this.#dropped = oldest.sequence;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#store.add(this.principal, bytes);
  }
}
