import type { ChangingList } from "../../client/feed.ts";
import { guarded } from "../../client/guarded.ts";
import type { Logger } from "../../client/logger.ts";
import type { Subscription } from "../../client/subscriptions.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { CallRunner, ConnectionOwner } from "./call-runner.ts";
import type { ListsChanged } from "./catalogs.ts";
import { CHANGING_LISTS } from "./list-kind.ts";

type Listener = (changed: ListsChanged) => void;

/** The listeners of one owner, and the connections of that owner which are heard. */
interface Owner {
  listeners: Set<Listener>;
  heard: Map<string, Promise<Subscription | undefined>>;
  /** Connections that were heard and are gone. */
  lost: Set<string>;
}

/**
 * A process that belongs to one caller may change its lists for that caller alone, and says so there alone. It is heard
 * from the caller's first call on, and not kept running for it.
 */
export class OwnerChanges {
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #owners = new Map<string, Owner>();

  constructor(calls: CallRunner, logger: Logger) {
    this.#calls = calls;
    this.#logger = logger;
  }

  /** Call what it returns to stop. */
  on(key: string, listener: Listener): () => void {
    const owner: Owner = this.#owners.get(key) ?? { listeners: new Set(), heard: new Map(), lost: new Set() };
    this.#owners.set(key, owner);
    owner.listeners.add(listener);
    return () => {
      owner.listeners.delete(listener);
      if (owner.listeners.size > 0 || this.#owners.get(key) !== owner) return;
      this.#owners.delete(key);
      for (const subscription of owner.heard.values()) void subscription.then((open) => open?.close());
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

  /** Before a call goes out, so that what it changes is heard. Never rejects: the call itself will tell. */
  async hear(key: string, server: string, by: ConnectionOwner, signal: AbortSignal): Promise<void> {
    const owner = this.#owners.get(key);
    if (!owner) return;
    const { capabilities, ask } = by.caller;
    const connection = JSON.stringify([server, capabilities, ask !== undefined]);
    const heard = owner.heard.get(connection) ?? this.#subscribe({ owner, connection, server, by, signal });
    owner.heard.set(connection, heard);
    await heard;
  }

  async #subscribe({ owner, connection, server, by, signal }: Hearing): Promise<Subscription | undefined> {
    const tell = (lists: readonly ChangingList[]) => {
      for (const listener of owner.listeners) guarded(() => listener({ server, lists }), this.#logger);
    };
    try {
      using lease = await this.#calls.lease(server, by, signal);
      const { client } = lease;
      const subscription = await client.subscribe({ lists: CHANGING_LISTS }, (change) => {
        if (change.kind === "list-changed") tell([change.list]);
        else if (change.kind === "restored") tell(CHANGING_LISTS);
      });
      void client.closed.then(() => {
        owner.heard.delete(connection);
        owner.lost.add(connection);
      });
      // Another process: what the caller's calls had changed in the one before is as it was.
      if (owner.lost.delete(connection)) tell(CHANGING_LISTS);
      return subscription;
    } catch (error) {
      owner.heard.delete(connection);
      this.#logger.debug(`"${server}" cannot be heard: ${messageOf(error)}`);
      return undefined;
    }
  }
}

interface Hearing {
  owner: Owner;
  connection: string;
  server: string;
  by: ConnectionOwner;
  signal: AbortSignal;
}
