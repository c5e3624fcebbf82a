import type { Logger } from "../../text/logger.ts";
import type { CallRunner, ConnectionOwner } from "../upstream/call-runner.ts";
import { readKnownList, type KnownList } from "./known-list.ts";
import { changeOf, type ListKind, type ChangingList } from "../../protocol/list-kinds.ts";

export interface OwnListsOptions {
  calls: CallRunner;
  logger: Logger;
  /** What the names of a server's things begin with, where that is not its id. */
  prefixOf: (server: string) => string | undefined;
}

/** What one connection of an owner's said of its lists, and what was read since. */
interface OwnConnection {
  changed: Set<ChangingList>;
  read: Map<ListKind, Promise<KnownList>>;
}

/**
 * Lists that a caller's own process changed for that caller alone: they are shown to the caller in place of those that
 * everybody is shown, from the moment the process says so until it ends.
 */
export class OwnLists {
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #prefixOf: (server: string) => string | undefined;
  readonly #connections = new Map<string, OwnConnection>();

  constructor({ calls, logger, prefixOf }: OwnListsOptions) {
    this.#calls = calls;
    this.#logger = logger;
    this.#prefixOf = prefixOf;
  }

  changed(connection: string, lists: readonly ChangingList[]): void {
    const own = this.#connections.get(connection) ?? { changed: new Set(), read: new Map() };
    this.#connections.set(connection, own);
    for (const list of lists) own.changed.add(list);
    for (const kind of own.read.keys()) if (lists.includes(changeOf(kind))) own.read.delete(kind);
  }

  forget(connection: string): void {
    this.#connections.delete(connection);
  }

  /** Undefined where it is the same as everybody's, as far as is known. Whoever asks at the same time shares the reading. */
  find(connection: string, kind: ListKind, { server, by }: { server: string; by: ConnectionOwner }) {
    const own = this.#connections.get(connection);
    if (!own?.changed.has(changeOf(kind))) return undefined;
    const known = own.read.get(kind);
    if (known) return known;
    const reading = this.#read(kind, server, by);
    own.read.set(kind, reading);
    reading.catch(() => own.read.delete(kind));
    return reading;
  }

  async #read(kind: ListKind, server: string, by: ConnectionOwner): Promise<KnownList> {
    using lease = await this.#calls.lease(server, by);
    return await readKnownList(lease.client, kind, {
      server,
      prefix: this.#prefixOf(server),
      logger: this.#logger,
    });
  }
}
