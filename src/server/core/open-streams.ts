import type { FairShares, Share } from "../../async/fair-shares.ts";
import { shareReclaimablePlaces, type SharingOptions } from "./caller-shares.ts";
import type { ServerLimits } from "./limits.ts";
import { isKeyOf } from "./principal.ts";

interface OpenStream {
  share: Share;
  /** Undefined where ending it would end more than the stream. */
  end: (() => void) | undefined;
}

export const TOO_MANY_STREAMS = "Stream limit reached. Retry later or raise limits.streams.";

/** Streams that stay open without a call: subscriptions, and those of older clients. Bounded, and shared fairly. */
export class OpenStreams {
  readonly #shares: FairShares;
  /** The oldest first. */
  readonly #open = new Set<OpenStream>();

  constructor({ streams, ...sharing }: Pick<ServerLimits, "streams"> & SharingOptions) {
    this.#shares = shareReclaimablePlaces(streams, sharing);
  }

  get size(): number {
    return this.#open.size;
  }

  openOf(tenant: string): number {
    return this.#shares.usedBy((key) => isKeyOf(tenant, key));
  }

  /**
   * Counts one more. Call what it returns when it has ended; undefined where there is no room. `end` ends it in good order
   * when another principal, which has fewer, needs the room: its client can open it again.
   */
  open(principal: string, end?: () => void): (() => void) | undefined {
    const share = this.#shares.of(principal);
    if (!this.#shares.reclaim(share, (loser) => this.#endOldest(loser))) return undefined;
    const stream = { share, end };
    this.#shares.take(share);
    this.#open.add(stream);
    return () => this.#leave(stream);
  }

  /** False where it has none that can be ended. */
  #endOldest(loser: Share): boolean {
    for (const stream of this.#open) {
      if (stream.share !== loser || !stream.end) continue;
      this.#leave(stream);
      stream.end();
      return true;
    }
    return false;
  }

  #leave(stream: OpenStream): void {
    if (this.#open.delete(stream)) this.#shares.give(stream.share);
  }
}
