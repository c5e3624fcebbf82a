import type { NexusError } from "../../errors/nexus-error.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import type { Requester } from "../conversation/requester.ts";
import type { Interests } from "../../protocol/interests.ts";
import type { ChangeListener, Feed } from "./feed.ts";
import { LegacyFeed, type SharedResources } from "./legacy-feed.ts";
import { callListener } from "../../async/call-listener.ts";
import type { Logger } from "../../text/logger.ts";
import { ModernFeed } from "./modern-feed.ts";

/** A subscription to changes. Its interests can be updated without losing a change. */
export class Subscription implements AsyncDisposable {
  readonly #feed: Feed;
  readonly #forget: () => void;
  #accepted: Interests = {};

  /** @internal Made by `client.subscribe`. */
  constructor(feed: Feed, forget: () => void) {
    this.#feed = feed;
    this.#forget = forget;
  }

  /** The interests that the server accepted. */
  get accepted(): Interests {
    return this.#accepted;
  }

  /** Replaces the interests. Updates run one at a time. */
  async update(interests: Interests): Promise<void> {
    this.#accepted = await this.#feed.set(interests);
  }

  async close(): Promise<void> {
    await this.#feed.close();
    this.#forget();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** All subscriptions of a client. */
export class Subscriptions {
  readonly #requester: Requester;
  readonly #logger: Logger;
  readonly #feeds = new Set<Feed>();
  #shared: SharedResources = new Map();

  constructor(requester: Requester, logger: Logger) {
    this.#requester = requester;
    this.#logger = logger;
  }

  async open(interests: Interests, listener: ChangeListener): Promise<Subscription> {
    const tell: ChangeListener = (change) => callListener(() => listener(change), this.#logger);
    const feed: Feed = this.#requester.isModern
      ? new ModernFeed(this.#requester, tell)
      : new LegacyFeed(this.#requester, tell, this.#shared);
    const subscription = new Subscription(feed, () => this.#feeds.delete(feed));
    this.#feeds.add(feed);
    try {
      await subscription.update(interests);
      return subscription;
    } catch (error) {
      await subscription.close();
      throw error;
    }
  }

  notified(notification: Notification): void {
    for (const feed of this.#feeds) feed.notified(notification);
  }

  async renewed(): Promise<void> {
    this.#shared = new Map();
    await Promise.all([...this.#feeds].map((feed) => feed.renewed(this.#shared)));
  }

  /** Ends all subscriptions because the connection closes. If it was lost, listeners get `error`. */
  abandon(error?: NexusError): void {
    for (const feed of this.#feeds) feed.abandon(error);
    this.#feeds.clear();
  }
}
