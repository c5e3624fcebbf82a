import type { Sending, StreamEnd } from "../transport/transport.ts";
import type { Logger } from "./logger.ts";
import type { Peer } from "./peer.ts";

const REOPEN_MS = { first: 1_000, longest: 30_000 };

/** The stream on which a legacy HTTP server speaks outside any request; opened again when it ends. */
export class ServerStream {
  readonly #peer: Peer;
  readonly #logger: Logger;
  #sending: Sending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reopenMs = REOPEN_MS.first;
  #closed = false;

  constructor(peer: Peer, logger: Logger) {
    this.#peer = peer;
    this.#logger = logger;
    this.#open();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#sending?.abandon();
  }

  #open(): void {
    this.#sending = this.#peer.http?.listen({
      headers: this.#peer.sessionHeaders,
      onHead: () => (this.#reopenMs = REOPEN_MS.first),
      onEnd: (end) => this.#ended(end),
    });
  }

  #ended(end: StreamEnd): void {
    if (this.#closed) return;
    if (end.kind === "refused" && end.status < 500 && end.status !== 429) {
      // 405: the server has no such stream, and need not have one.
      if (end.status !== 405) this.#logger.debug("the server refused the standalone stream", { status: end.status });
      return;
    }
    this.#timer = setTimeout(() => this.#open(), this.#reopenMs).unref();
    this.#reopenMs = Math.min(this.#reopenMs * 2, REOPEN_MS.longest);
  }
}
