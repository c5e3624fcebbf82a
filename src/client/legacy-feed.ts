import { NexusError } from "../errors/nexus-error.ts";
import type { Notification } from "../protocol/json-rpc.ts";
import type { Caller } from "./caller.ts";
import { changeIn, type Change, type ChangeListener, type Feed, type Interests } from "./feed.ts";

/** Legacy servers tell list changes to everybody, and updates of the resources that were subscribed to. */
export class LegacyFeed implements Feed {
  readonly #caller: Caller;
  readonly #tell: ChangeListener;
  readonly #counts: Map<string, number>;
  #interests: Interests = {};
  #subscribed = new Set<string>();

  /** `counts` is shared by all feeds of the session. */
  constructor(caller: Caller, tell: ChangeListener, counts: Map<string, number>) {
    this.#caller = caller;
    this.#tell = tell;
    this.#counts = counts;
  }

  async set(interests: Interests): Promise<Interests> {
    this.#interests = interests;
    const wanted = new Set(this.#canSubscribe ? interests.resources : []);
    const added = [...wanted].filter((uri) => !this.#subscribed.has(uri));
    const removed = [...this.#subscribed].filter((uri) => !wanted.has(uri));
    await Promise.all(added.map((uri) => this.#subscribe(uri)));
    await Promise.all(removed.map((uri) => this.#unsubscribe(uri)));
    const declared = this.#caller.conversation.agreement.capabilities ?? {};
    return {
      lists: (interests.lists ?? []).filter((list) => declared[list]?.listChanged),
      resources: [...this.#subscribed],
      tasks: declared["tasks"] ? (interests.tasks ?? []) : [],
    };
  }

  notified(notification: Notification): void {
    const change = changeIn(notification);
    if (change && this.#concerns(change)) this.#tell(change);
  }

  async renewed(): Promise<void> {
    this.#subscribed = new Set();
    try {
      await this.set(this.#interests);
      this.#tell({ kind: "restored" });
    } catch (error) {
      if (error instanceof NexusError) this.#tell({ kind: "ended", error });
    }
  }

  abandon(): void {
    this.#interests = {};
    this.#subscribed.clear();
  }

  async close(): Promise<void> {
    const gone = [...this.#subscribed];
    this.#interests = {};
    if (!this.#caller.conversation.peer.gone) await Promise.all(gone.map((uri) => this.#unsubscribe(uri)));
  }

  get #canSubscribe(): boolean {
    return this.#caller.conversation.agreement.capabilities?.resources?.subscribe === true;
  }

  #concerns(change: Change): boolean {
    switch (change.kind) {
      case "list-changed":
        return this.#interests.lists?.includes(change.list) ?? false;
      case "resource-updated":
        // The server may name a part of what was subscribed to.
        return [...this.#subscribed].some((uri) => change.uri.startsWith(uri));
      case "task-changed":
        return this.#interests.tasks?.includes(change.taskId) ?? false;
      case "interrupted":
      case "restored":
      case "ended":
        return true;
    }
  }

  /** A resource that the server refuses is not accepted; anything else that goes wrong is an error. */
  async #subscribe(uri: string): Promise<void> {
    const count = this.#counts.get(uri) ?? 0;
    this.#counts.set(uri, count + 1);
    this.#subscribed.add(uri);
    if (count > 0) return;
    try {
      await this.#caller.request({ method: "resources/subscribe", params: { uri } });
    } catch (error) {
      this.#subscribed.delete(uri);
      this.#release(uri);
      if (!(error instanceof NexusError) || error.code !== "SERVER_ERROR") throw error;
    }
  }

  async #unsubscribe(uri: string): Promise<void> {
    this.#subscribed.delete(uri);
    if (!this.#release(uri)) return;
    try {
      await this.#caller.request({ method: "resources/unsubscribe", params: { uri } });
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
    }
  }

  /** True if nobody wants it any more. */
  #release(uri: string): boolean {
    const left = (this.#counts.get(uri) ?? 1) - 1;
    if (left > 0) this.#counts.set(uri, left);
    else this.#counts.delete(uri);
    return left <= 0;
  }
}
