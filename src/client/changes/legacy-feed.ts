import { Turns } from "../../async/turns.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import type { Requester } from "../conversation/requester.ts";
import type { Interests } from "../../protocol/interests.ts";
import { changeIn, type Change, type ChangeListener, type Feed } from "./feed.ts";

/** The number of users of each resource in one session: the server has one subscription for each URI. */
export type SharedResources = Map<string, { users: number; subscribed: Promise<boolean> }>;

/** Legacy servers report list changes always, and updates of resources that were subscribed to. */
export class LegacyFeed implements Feed {
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
