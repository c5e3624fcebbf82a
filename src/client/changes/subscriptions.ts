import { inBackground } from "../../async/event-loop.ts";
import { checkOptions, wrongOption, type OptionNames } from "../../errors/check-options.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Params } from "../../protocol/json-rpc.ts";
import type { Requester } from "../conversation/requester.ts";
import { type Interests, asNotifications, listsIn } from "../../protocol/interests.ts";
import { CHANGING_LISTS } from "../../protocol/list-kinds.ts";
import { type ChangeListener, type Feed, changeIn, type Change } from "./feed.ts";
import { callListener } from "../../async/call-listener.ts";
import type { Logger } from "../../text/logger.ts";
import { Turns } from "../../async/turns.ts";
import { growingPause, withJitter } from "../../async/backoff.ts";
import { isRecord } from "../../json/is-record.ts";
import { META, TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { CallScope } from "../conversation/call-scope.ts";
import { isFinalAnswer, isTemporaryStatus } from "../../errors/error-traits.ts";

const INTERESTS: OptionNames<Interests> = { lists: true, resources: true, tasks: true };

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
    checkOptions("a subscription", interests, INTERESTS);
    for (const list of interests.lists ?? []) {
      if (CHANGING_LISTS.includes(list)) continue;
      throw wrongOption(`${JSON.stringify(list)} is not a list that changes`, `Use ${CHANGING_LISTS.join(", ")}.`);
    }
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

/** The number of users of each resource in one session: the server has one subscription for each URI. */
type SharedResources = Map<string, { users: number; subscribed: Promise<boolean> }>;

/** Legacy servers report list changes always, and updates of resources that were subscribed to. */
class LegacyFeed implements Feed {
  readonly #requester: Requester;
  readonly #tell: ChangeListener;
  /** Belongs to the current session; a new session starts with nothing. */
  #shared: SharedResources;
  #interests: Interests = {};
  #subscribed = new Set<string>();
  /** Updates and renewals, one at a time. */
  readonly #turns = new Turns();
  #closed = false;

  constructor(requester: Requester, tell: ChangeListener, shared: SharedResources) {
    this.#requester = requester;
    this.#tell = tell;
    this.#shared = shared;
  }

  set(interests: Interests): Promise<Interests> {
    return this.#turns.run(() => this.#replace(interests));
  }

  notified(notification: Notification): void {
    const change = changeIn(notification);
    if (change && this.#concerns(change)) this.#tell(change);
  }

  renewed(shared: SharedResources): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#closed) return;
      this.#shared = shared;
      this.#subscribed = new Set();
      try {
        await this.#replace(this.#interests);
        this.#tell({ kind: "restored" });
      } catch (error) {
        if (error instanceof NexusError) this.#tell({ kind: "ended", error });
      }
    });
  }

  abandon(error?: NexusError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#interests = {};
    if (error) this.#tell({ kind: "ended", error });
  }

  async close(): Promise<void> {
    this.abandon();
    await this.#turns.run(async () => {
      const { gone } = this.#requester.conversation.peer;
      if (!gone) await Promise.all([...this.#subscribed].map((uri) => this.#unsubscribe(uri)));
    });
  }

  async #replace(interests: Interests): Promise<Interests> {
    if (this.#closed) throw new NexusError("CLOSED", "The subscription was closed", { mayHaveReached: false });
    const declared = this.#requester.conversation.agreement.capabilities ?? {};
    const wanted = new Set(declared.resources?.subscribe ? interests.resources : []);
    this.#interests = interests;
    await Promise.all([...wanted].filter((uri) => !this.#subscribed.has(uri)).map((uri) => this.#subscribe(uri)));
    await Promise.all([...this.#subscribed].filter((uri) => !wanted.has(uri)).map((uri) => this.#unsubscribe(uri)));
    return {
      lists: (interests.lists ?? []).filter((list) => declared[list]?.listChanged),
      resources: [...this.#subscribed],
      tasks: declared["tasks"] ? (interests.tasks ?? []) : [],
    };
  }

  #concerns(change: Change): boolean {
    if (this.#closed) return false;
    switch (change.kind) {
      case "list-changed":
        return this.#interests.lists?.includes(change.list) ?? false;
      case "resource-updated":
        return [...this.#subscribed].some((uri) => isPartOf(change.uri, uri));
      case "task-changed":
        return this.#interests.tasks?.includes(change.taskId) ?? false;
      case "interrupted":
      case "restored":
      case "ended":
        return true;
    }
  }

  async #subscribe(uri: string): Promise<void> {
    const shared = this.#shared;
    const known = shared.get(uri) ?? { users: 0, subscribed: this.#ask("resources/subscribe", uri) };
    known.users++;
    shared.set(uri, known);
    try {
      if (await known.subscribed) this.#subscribed.add(uri);
      else shared.delete(uri);
    } catch (error) {
      shared.delete(uri);
      throw error;
    }
  }

  async #unsubscribe(uri: string): Promise<void> {
    this.#subscribed.delete(uri);
    const known = this.#shared.get(uri);
    if (!known || --known.users > 0) return;
    this.#shared.delete(uri);
    await this.#ask("resources/unsubscribe", uri).catch(() => false);
  }

  /** False if the server refuses; other failures are thrown. */
  async #ask(method: string, uri: string): Promise<boolean> {
    try {
      await this.#requester.request({ method, params: { uri } });
      return true;
    } catch (error) {
      if (error instanceof NexusError && error.code === "SERVER_ERROR") return false;
      throw error;
    }
  }
}

/** The server may report an update of a part of the resource. */
function isPartOf(uri: string, whole: string): boolean {
  return uri === whole || (uri.startsWith(whole) && (/[/#?]$/.test(whole) || "/#?".includes(uri.charAt(whole.length))));
}

const REOPEN_PAUSES = { firstMs: 500, longestMs: 30_000 };
/** A stream that lasted this long was successful. One that ends sooner is reopened after a pause. */
const SETTLED_MS = 5_000;

/** Modern servers report changes on the stream of `subscriptions/listen`, and only the requested ones. */
class ModernFeed implements Feed {
  readonly #requester: Requester;
  readonly #tell: ChangeListener;
  /** As last acknowledged; requested again when the stream is reopened. */
  #interests: Interests = {};
  #stream: ListenStream | undefined;
  /** The stream that replaces the current one. A change reported on both is delivered twice, so that none is lost. */
  #next: ListenStream | undefined;
  /** Updates and reopenings, one at a time. */
  readonly #turns = new Turns();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(requester: Requester, tell: ChangeListener) {
    this.#requester = requester;
    this.#tell = tell;
  }

  set(interests: Interests): Promise<Interests> {
    return this.#turns.run(() => this.#replace(interests));
  }

  notified(notification: Notification): void {
    const isWithdrawal = notification.method === "notifications/cancelled";
    const id = isWithdrawal ? notification.params?.["requestId"] : subscriptionOf(notification);
    const stream = [this.#stream, this.#next].find((candidate) => candidate?.id === id);
    if (!stream) return;
    // Over a pipe, a server may end a subscription with a cancellation instead of a result.
    if (isWithdrawal) return stream.withdraw();
    if (notification.method === "notifications/subscriptions/acknowledged")
      return stream.acknowledge(notification.params);
    const change = changeIn(notification);
    if (change) this.#tell(change);
  }

  /** Modern servers have no session. */
  async renewed(): Promise<void> {}

  abandon(error?: NexusError): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#next?.close();
    this.#stream?.close();
    this.#stream = undefined;
    if (error) this.#tell({ kind: "ended", error });
  }

  async close(): Promise<void> {
    this.abandon();
  }

  /** Opens the new stream before it closes the old one, so that no change is lost. */
  async #replace(interests: Interests): Promise<Interests> {
    this.#refuseIfClosed();
    const params = listenParams(interests);
    const previous = this.#stream;
    let accepted: Interests = {};
    let next: ListenStream | undefined;
    if (params) {
      const opening = new ListenStream(this.#requester, params, (error) => this.#ended(opening, error));
      next = this.#next = opening;
      try {
        accepted = await opening.acknowledged;
      } finally {
        this.#next = undefined;
      }
      if (this.#closed) opening.close();
      this.#refuseIfClosed();
    }
    clearTimeout(this.#timer);
    this.#interests = interests;
    this.#stream = next;
    previous?.close();
    return accepted;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new NexusError("CLOSED", "The subscription was closed", { mayHaveReached: false });
  }

  /** Called when the current stream has ended, on purpose or by a failure. */
  #ended(stream: ListenStream, error: NexusError): void {
    if (stream !== this.#stream || this.#closed) return;
    this.#stream = undefined;
    if (stream.livedMs >= SETTLED_MS) this.#failures = 0;
    this.#tell({ kind: "interrupted", error });
    this.#reopenLater();
  }

  #reopenLater(): void {
    const pauseMs = withJitter(growingPause(this.#failures++, REOPEN_PAUSES));
    clearTimeout(this.#timer);
    this.#timer = inBackground(setTimeout(() => void this.#turns.run(() => this.#reopen()), pauseMs));
  }

  async #reopen(): Promise<void> {
    // An update may have opened a new stream in the meantime.
    if (this.#closed || this.#stream) return;
    try {
      await this.#replace(this.#interests);
      this.#tell({ kind: "restored" });
    } catch (thrown) {
      if (this.#closed) return;
      const error =
        thrown instanceof NexusError ? thrown : new NexusError("INTERNAL", String(thrown), { cause: thrown });
      if (isFinal(error)) this.abandon(error);
      else this.#reopenLater();
    }
  }
}

/** Whether the server answered and would answer the same again. */
function isFinal({ code, details: { status } }: NexusError): boolean {
  return isFinalAnswer(code) && (status === undefined || !isTemporaryStatus(status));
}

/** One `subscriptions/listen`, from its acknowledgement to its end. */
class ListenStream {
  readonly id: number;
  readonly acknowledged: Promise<Interests>;
  readonly #openedAt = performance.now();
  #acknowledge: (accepted: Interests) => void = () => {};
  #scope: CallScope | undefined;
  #isOpen = true;

  constructor(requester: Requester, params: Params, onEnd: (error: NexusError) => void) {
    this.id = requester.conversation.peer.reserveId();
    const acknowledged = new Promise<Interests>((resolve) => (this.#acknowledge = resolve));
    const ended = this.#listen(requester, params).then(endedByServer, (error: unknown) => error as NexusError);
    void ended.then((error) => {
      if (this.#isOpen) onEnd(error);
    });
    this.acknowledged = Promise.race([acknowledged, ended.then((error) => Promise.reject(error))]);
    this.acknowledged.catch(() => {});
  }

  get livedMs(): number {
    return performance.now() - this.#openedAt;
  }

  acknowledge(params: Params | undefined): void {
    this.#scope?.pause();
    this.#acknowledge(interestsIn(isRecord(params?.["notifications"]) ? params["notifications"] : (params ?? {})));
  }

  withdraw(): void {
    this.#scope?.stop(endedByServer());
  }

  close(): void {
    this.#isOpen = false;
    this.#scope?.stop(new NexusError("CLOSED", "The subscription was closed"));
  }

  /** The timeout of the call applies until the acknowledgement; after that the stream may stay open. */
  #listen(requester: Requester, params: Params): Promise<unknown> {
    const { notifications } = params;
    const extensions = isRecord(notifications) && "taskIds" in notifications ? { [TASKS_EXTENSION]: {} } : undefined;
    const call = { method: "subscriptions/listen", params, options: { totalTimeoutMs: Infinity }, extensions };
    return requester.inScope(call, (scope) => {
      this.#scope = scope;
      return requester.conversation.send(call.method, params, scope, this.id);
    });
  }
}

function endedByServer(): NexusError {
  return new NexusError("CONNECTION_LOST", "The server ended the subscription");
}

/** Undefined if there is nothing to listen for. */
function listenParams(interests: Interests): Params | undefined {
  const notifications = asNotifications(interests);
  return Object.keys(notifications).length > 0 ? { notifications } : undefined;
}

function interestsIn(accepted: Params): Interests {
  return {
    lists: listsIn(accepted),
    resources: strings(accepted["resourceSubscriptions"]),
    tasks: strings(accepted["taskIds"]),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function subscriptionOf({ params }: Notification): unknown {
  const meta = params?.["_meta"];
  return isRecord(meta) ? meta[META.subscriptionId] : undefined;
}
