import type { CancelSignal } from "../../async/cancellation.ts";
import { callListener } from "../../async/call-listener.ts";
import type { Logger } from "../../text/logger.ts";
import type { Subscription } from "../../client/changes/subscriptions.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { CallRunner, ConnectionOwner } from "../upstream/call-runner.ts";
import type { ListsChanged } from "../lists/catalogs.ts";
import type { KnownList } from "../lists/known-list.ts";
import { CHANGING_LISTS, type ListKind, type ChangingList } from "../../protocol/list-kinds.ts";
import { OwnLists, type OwnListsOptions } from "../lists/own-lists.ts";

type Listener = (changed: ListsChanged) => void;

/** The listeners of one owner, and the connections of that owner which are heard. */
interface Owner {
  listeners: Set<Listener>;
  heard: Map<string, Promise<Subscription | undefined>>;
  /** Connections that were heard and are gone. */
  lost: Set<string>;
  lists: OwnLists;
}

/**
 * A process that belongs to one caller may change its lists for that caller alone, and says so there alone. It is heard
 * from the caller's first call on, and not kept running for it.
 */
export class OwnerChanges {
  readonly #options: OwnListsOptions;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #owners = new Map<string, Owner>();

  constructor(options: OwnListsOptions) {
    this.#options = options;
    this.#calls = options.calls;
    this.#logger = options.logger;
  }

  /** Call what it returns to stop. */
  on(key: string, listener: Listener): () => void {
    const owner: Owner = this.#owners.get(key) ?? this.#newOwner();
    this.#owners.set(key, owner);
    owner.listeners.add(listener);
    return () => {
      owner.listeners.delete(listener);
      if (owner.listeners.size > 0 || this.#owners.get(key) !== owner) return;
      this.#owners.delete(key);
      for (const subscription of owner.heard.values()) {
        callListener(() => subscription.then((open) => open?.close()), this.#logger);
      }
    };
  }

  /** Whether a connection of this owner's to this server is heard. */
  isHeard(key: string, server: string): boolean {
    const owner = this.#owners.get(key);
    return owner !== undefined && [...owner.heard.keys()].some((connection) => connection.startsWith(`["${server}",`));
  }

  isListening(key: string): boolean {
    return this.#owners.has(key);
  }

  /** A list that the owner's own process changed; undefined where it is everybody's. */
  findList(key: string, kind: ListKind, server: string, by: ConnectionOwner): Promise<KnownList> | undefined {
    return this.#owners.get(key)?.lists.find(connectionOf(server, by), kind, { server, by });
  }

  /** Before a call goes out, so that what it changes is heard. Never rejects: the call itself will tell. */
  async hear(key: string, server: string, by: ConnectionOwner, signal: CancelSignal): Promise<void> {
    const owner = this.#owners.get(key);
    if (!owner) return;
    const connection = connectionOf(server, by);
    const heard = owner.heard.get(connection) ?? this.#subscribe({ owner, connection, server, by, signal });
    owner.heard.set(connection, heard);
    await heard;
  }

  #newOwner(): Owner {
    const lists = new OwnLists(this.#options);
    return { listeners: new Set(), heard: new Map(), lost: new Set(), lists };
  }

  async #subscribe({ owner, connection, server, by, signal }: Hearing): Promise<Subscription | undefined> {
    const tell = (lists: readonly ChangingList[]) => {
      for (const listener of owner.listeners) callListener(() => listener({ server, lists }), this.#logger);
    };
    const changed = (lists: readonly ChangingList[]) => {
      // Whoever hears of it asks at once, and must not get what was known before.
      owner.lists.changed(connection, lists);
      tell(lists);
    };
    try {
      using lease = await this.#calls.lease(server, by, signal);
      const { client } = lease;
      const subscription = await client.subscribe({ lists: CHANGING_LISTS }, (change) => {
        if (change.kind === "list-changed") changed([change.list]);
        else if (change.kind === "restored") changed(CHANGING_LISTS);
      });
      void client.closed.then(() => {
        owner.heard.delete(connection);
        owner.lost.add(connection);
        owner.lists.forget(connection);
      });
      // Another process: what the caller's calls had changed in the one before is as it was.
      if (owner.lost.delete(connection)) tell(CHANGING_LISTS);
      return subscription;
    } catch (error) {
      owner.heard.delete(connection);
      this.#logger.debug(`cannot subscribe to changes of "${server}": ${messageOf(error)}`);
      return undefined;
    }
  }
}

interface Hearing {
  owner: Owner;
  connection: string;
  server: string;
  by: ConnectionOwner;
  signal: CancelSignal;
}

/** Calls with other capabilities go over other connections. */
function connectionOf(server: string, { caller: { capabilities, ask } }: ConnectionOwner): string {
  return JSON.stringify([server, capabilities, ask !== undefined]);
}
