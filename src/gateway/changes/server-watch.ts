import { growingPause, withJitter } from "../../async/backoff.ts";
import { Turns } from "../../async/turns.ts";
import type { Interests } from "../../protocol/interests.ts";
import type { Change } from "../../client/changes/feed.ts";
import type { Logger } from "../../text/logger.ts";
import type { Subscription } from "../../client/changes/subscriptions.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Lease } from "../../host/servers/lease.ts";
import { needsReconfiguration } from "../../errors/error-traits.ts";

interface ServerWatchOptions {
  server: string;
  /** Opens the connection to listen on. */
  lease: (signal: AbortSignal) => Promise<Lease>;
  onChange: (change: Change) => void;
  /** Called when there is a new connection after a loss: changes in between were not reported. */
  onRestored: () => void;
  logger: Logger;
}

const REOPEN_PAUSES = { firstMs: 250, longestMs: 30_000 };

/** The subscription of one caller to one server, over as many connections as it takes. */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  #interests: Interests = {};
  #open: { lease: Lease; subscription: Subscription } | undefined;
  /** Changes of the interests and reopenings, one at a time. */
  readonly #turns = new Turns();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  readonly #ending = new AbortController();

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** Replaces the interests; resolves with those that the server agreed to. */
  set(interests: Interests): Promise<Interests> {
    return this.#turns.run(async () => {
      this.#interests = interests;
      if (this.#open) await this.#open.subscription.update(interests);
      else await this.#connect();
      return this.#open?.subscription.accepted ?? {};
    });
  }

  /** Call this when the server is back: reopens the subscription if it was lost. */
  wake(): void {
    if (!this.#ending.signal.aborted) void this.#turns.run(() => this.#reopen());
  }

  /** Call this when the server is disabled: lets go of its connection until the server is back. */
  rest(): void {
    void this.#turns.run(() => this.#disconnect());
  }

  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#turns.run(() => this.#disconnect());
  }

  async #connect(): Promise<void> {
    const lease = await this.#options.lease(this.#ending.signal);
    const { client } = lease;
    try {
      const subscription = await client.subscribe(this.#interests, (change) => this.#options.onChange(change));
      this.#open = { lease, subscription };
    } catch (error) {
      lease.release();
      throw error;
    }
    clearTimeout(this.#timer);
    void client.closed.then(() => this.#lost(lease));
  }

  async #disconnect(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    try {
      await open.subscription.close();
    } catch (error) {
      this.#options.logger.debug(`cannot end the subscription to "${this.#options.server}": ${messageOf(error)}`);
    } finally {
      open.lease.release();
    }
  }

  #lost(lease: Lease): void {
    if (this.#open?.lease !== lease) return;
    this.#open = undefined;
    lease.release();
    this.#reopenLater();
  }

  #reopenLater(): void {
    if (this.#ending.signal.aborted) return;
    const pauseMs = withJitter(growingPause(this.#failures++, REOPEN_PAUSES));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), pauseMs).unref();
  }

  async #reopen(): Promise<void> {
    if (this.#open || this.#ending.signal.aborted) return;
    try {
      await this.#connect();
    } catch (error) {
      const { server, logger } = this.#options;
      logger.debug(`cannot subscribe to changes of "${server}": ${messageOf(error)}`);
      if (!(error instanceof NexusError && needsReconfiguration(error.code))) this.#reopenLater();
      return;
    }
    this.#failures = 0;
    this.#options.onRestored();
  }
}
