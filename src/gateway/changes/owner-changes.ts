import type { CancelSignal } from "../../async/cancellation.ts";
import { callListener } from "../../async/call-listener.ts";
import type { Logger } from "../../text/logger.ts";
import type { Subscription } from "../../client/changes/subscriptions.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Lease } from "../../host/servers/lease.ts";
import type { CallRunner, ConnectionOwner } from "../calls/upstream-call.ts";
import type { ListsChanged } from "../lists/catalogs.ts";
import type { KnownList } from "../lists/list-reader.ts";
import { CHANGING_LISTS, type ChangingList, type ListKind } from "../../protocol/list-kinds.ts";
import { OwnLists, type OwnListsOptions } from "../lists/own-lists.ts";

type Listener = (changed: ListsChanged) => void;

/** The listeners of one owner, and its connections whose changes are followed. */
interface Owner {
  listeners: Set<Listener>;
  heard: Map<string, Promise<Subscription | undefined>>;
  /** Followed connections that have ended. */
  lost: Set<string>;
  lists: OwnLists;
}

/**
 * Follows the changes of connections that belong to one caller: such a process may change its lists for this caller
 * only, and reports that only there. It is followed from the caller's first call on, and not kept running for it.
 */
export class OwnerChanges {
  readonly #options: OwnListsOptions;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  /** Those that listen. */
  readonly #owners = new Map<string, Owner>();
  /** Whether anybody listens: without it, each call and list would ask. */
  isUsed = false;

  constructor(options: OwnListsOptions) {
    this.#options = options;
    this.#calls = options.calls;
    this.#logger = options.logger;
  }

  /** The returned function removes the listener. */
  on(key: string, listener: Listener): () => void {
    const owner: Owner = this.#owners.get(key) ?? this.#newOwner();
    this.#owners.set(key, owner);
    this.isUsed = true;
    owner.listeners.add(listener);
    return () => {
      owner.listeners.delete(listener);
      if (owner.listeners.size > 0 || this.#owners.get(key) !== owner) return;
      this.#owners.delete(key);
      this.isUsed = this.#owners.size > 0;
      for (const subscription of owner.heard.values()) {
        callListener(() => subscription.then((open) => open?.close()), this.#logger);
      }
    };
  }

  /** Whether the changes of this owner's connection to the server are followed. */
  isHeard(key: string, server: string): boolean {
    const owner = this.#owners.get(key);
    return owner !== undefined && [...owner.heard.keys()].some((connection) => isOf(server, connection));
  }

  /** Reads the own lists of all owners again when they are asked for. */
  expire({ server, lists }: ListsChanged): void {
    for (const owner of this.#owners.values()) {
      owner.lists.expire((connection) => isOf(server, connection), lists);
    }
  }

  isListening(key: string): boolean {
    return this.#owners.has(key);
  }

  /** A list that the owner's own process changed; undefined if it is the same as for all. */
  findList(key: string, kind: ListKind, server: string, by: ConnectionOwner): Promise<KnownList> | undefined {
    return this.#owners.get(key)?.lists.find(connectionOf(server, by), kind, { server, by });
  }

  /**
   * Follows a connection before a call uses it, so that changes by the call are noticed. Returns the connection if it was
   * opened for that; it is to be released after the call. Rejects only if no process was free: any other failure is the
   * call's own.
   */
  async hear(key: string, server: string, by: ConnectionOwner, signal: CancelSignal): Promise<Lease | undefined> {
    const owner = this.#owners.get(key);
    if (!owner) return undefined;
    const connection = connectionOf(server, by);
    const known = owner.heard.get(connection);
    const opening = known ? undefined : this.#subscribe({ owner, connection, server, by, signal });
    const heard = known ?? opening?.then((opened) => opened?.subscription);
    if (heard) owner.heard.set(connection, heard);
    await heard;
    return (await opening)?.lease;
  }

  #newOwner(): Owner {
    const lists = new OwnLists(this.#options);
    return { listeners: new Set(), heard: new Map(), lost: new Set(), lists };
  }

  async #subscribe({ owner, connection, server, by, signal }: Hearing): Promise<Heard | undefined> {
    const tell = (lists: readonly ChangingList[]) => {
      for (const listener of owner.listeners) callListener(() => listener({ server, lists }), this.#logger);
    };
    const changed = (lists: readonly ChangingList[]) => {
      // Invalidate first: listeners read the list at once and must not get the old one.
      owner.lists.changed(connection, lists);
      tell(lists);
    };
    let lease: Lease | undefined;
    try {
      lease = await this.#calls.lease(server, by, signal);
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
      // It is a new process: changes by the caller's earlier calls are gone.
      if (owner.lost.delete(connection)) tell(CHANGING_LISTS);
      return { subscription, lease };
    } catch (error) {
      lease?.release();
      owner.heard.delete(connection);
      // The call would wait as long again.
      if (error instanceof NexusError && error.code === "BUSY") throw error;
      this.#logger.debug(`cannot subscribe to changes of "${server}": ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** A subscription, and the connection that it was made on. */
interface Heard {
  subscription: Subscription;
  lease: Lease;
}

interface Hearing {
  owner: Owner;
  connection: string;
  server: string;
  by: ConnectionOwner;
  signal: CancelSignal;
}

function isOf(server: string, connection: string): boolean {
  return connection.startsWith(`["${server}",`);
}

/** Calls with different capabilities use different connections. */
function connectionOf(server: string, { caller: { capabilities, ask } }: ConnectionOwner): string {
  return JSON.stringify([server, capabilities, ask !== undefined]);
}
