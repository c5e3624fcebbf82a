import type { Notification } from "../protocol/json-rpc.ts";
import type { Caller } from "./caller.ts";
import type { ChangeListener, Feed, Interests } from "./feed.ts";
import { LegacyFeed } from "./legacy-feed.ts";
import type { Logger } from "./logger.ts";
import { ModernFeed } from "./modern-feed.ts";

/** One set of interests. It can change while it runs, and no change is lost meanwhile. */
export class Subscription implements AsyncDisposable {
  /** What the server agreed to tell. */
  accepted: Interests = {};
  readonly #feed: Feed;
  readonly #forget: () => void;
  #updating: Promise<unknown> = Promise.resolve();

  constructor(feed: Feed, forget: () => void) {
    this.#feed = feed;
    this.#forget = forget;
  }

  /** Replaces the interests; one update at a time. */
  async update(interests: Interests): Promise<void> {
    const updated = this.#updating.then(() => this.#feed.set(interests));
    this.#updating = updated.catch(() => {});
    this.accepted = await updated;
  }

  async close(): Promise<void> {
    this.#forget();
    await this.#updating;
    await this.#feed.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** All subscriptions of a client. */
export class Subscriptions {
  readonly #caller: Caller;
  readonly #logger: Logger;
  readonly #feeds = new Set<Feed>();
  /** How many feeds of a legacy session want a resource: the server knows only one subscription each. */
  readonly #counts = new Map<string, number>();

  constructor(caller: Caller, logger: Logger) {
    this.#caller = caller;
    this.#logger = logger;
  }

  async open(interests: Interests, listener: ChangeListener): Promise<Subscription> {
    const tell: ChangeListener = (change) => {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error("a change listener threw", { error });
      }
    };
    const feed: Feed = this.#caller.isModern
      ? new ModernFeed(this.#caller, tell)
      : new LegacyFeed(this.#caller, tell, this.#counts);
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
    this.#counts.clear();
    await Promise.all([...this.#feeds].map((feed) => feed.renewed()));
  }

  /** The connection is about to close: nothing is told to the server any more. */
  abandon(): void {
    for (const feed of this.#feeds) feed.abandon();
    this.#feeds.clear();
  }
}
