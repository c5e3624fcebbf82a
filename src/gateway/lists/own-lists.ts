import type { Logger } from "../../text/logger.ts";
import type { CallRunner, ConnectionOwner } from "../upstream/call-runner.ts";
import type { Pins } from "../../host/definitions/pins.ts";
import { readKnownList, type KnownList } from "./known-list.ts";
import { changeOf, type ListKind, type ChangingList } from "../../protocol/list-kinds.ts";

export interface OwnListsOptions {
  calls: CallRunner;
  logger: Logger;
  pins: Pins;
  /** The prefix of a server's names, if it is not the server's id. */
  prefixOf: (server: string) => string | undefined;
}

/** One connection of an owner: the lists that it reported as changed, and what was read since. */
interface OwnConnection {
  changed: Set<ChangingList>;
  read: Map<ListKind, Promise<KnownList>>;
}

/**
 * Lists that a caller's own process changed for that caller only. The caller is shown them instead of the lists for
 * all, from the report of the process until it ends.
 */
export class OwnLists {
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #pins: Pins;
  readonly #prefixOf: (server: string) => string | undefined;
  readonly #connections = new Map<string, OwnConnection>();

  constructor({ calls, logger, pins, prefixOf }: OwnListsOptions) {
    this.#calls = calls;
    this.#logger = logger;
    this.#pins = pins;
    this.#prefixOf = prefixOf;
  }

  changed(connection: string, lists: readonly ChangingList[]): void {
    const own = this.#connections.get(connection) ?? { changed: new Set(), read: new Map() };
    this.#connections.set(connection, own);
    for (const list of lists) own.changed.add(list);
    this.#expire(connection, lists);
  }

  /** Reads the lists of these connections again when they are asked for. */
  expire(isMeant: (connection: string) => boolean, lists: readonly ChangingList[]): void {
    for (const connection of this.#connections.keys()) if (isMeant(connection)) this.#expire(connection, lists);
  }

  forget(connection: string): void {
    this.#connections.delete(connection);
  }

  /** Undefined if the list is not known to differ from the list for all. Concurrent callers share the reading. */
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

  #expire(connection: string, lists: readonly ChangingList[]): void {
    const read = this.#connections.get(connection)?.read;
    for (const kind of read?.keys() ?? []) if (lists.includes(changeOf(kind))) read?.delete(kind);
  }

  async #read(kind: ListKind, server: string, by: ConnectionOwner): Promise<KnownList> {
    using lease = await this.#calls.lease(server, by);
    return await readKnownList(lease.client, kind, {
      server,
      prefix: this.#prefixOf(server),
      logger: this.#logger,
      pins: this.#pins,
      isCommon: false,
      // Callers share the connection to an API.
      isApi: false,
    });
  }
}
