import type { Logger } from "../../text/logger.ts";
import type { CallRunner, ConnectionOwner } from "../calls/upstream-call.ts";
import { type ListHashes, NO_HASHES, type Pins } from "../../host/definitions/pins.ts";
import { type KnownList, offeredTools, readKnownList } from "./list-reader.ts";
import { changeOf, type ChangingList, type ListKind } from "../../protocol/list-kinds.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import { usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ServerStatus } from "../../host/host.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Cursors } from "./merged-lists.ts";
import type { ListedThings, NotedPage } from "./listed-things.ts";
import { narrowed, thingOf } from "../access/narrowed.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";

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

interface PassedListsOptions {
  catalogs: Catalogs;
  run: CallRunner["run"];
  access: PrincipalAccess;
  pins: Pins;
  listed: ListedThings;
  cursors: Cursors;
  logger: Logger;
}

/** The lists of one server, passed on page by page from the caller's own connection. */
export class PassedLists {
  readonly #options: PassedListsOptions;

  constructor(options: PassedListsOptions) {
    this.#options = options;
  }

  async isOffered(kind: ListKind, server: string, signal: CancelSignal): Promise<boolean> {
    const { capabilities } = await this.#options.catalogs.of(server).nature({ signal });
    return capabilities[changeOf(kind)] !== undefined;
  }

  async page(kind: ListKind, status: ServerStatus, exchange: GatewayExchange): Promise<Result> {
    const { cursors, run, access, pins } = this.#options;
    const position = cursors.open(exchange);
    const method = LIST_METHODS[kind];
    if (!(await this.isOffered(kind, status.id, exchange.signal))) throw notOffered(status.id, method);
    const params = position === undefined ? exchange.params : { ...exchange.params, cursor: position };
    const result = await run({ server: status.id, method, params, exchange });
    const given: unknown[] = Array.isArray(result[kind]) ? result[kind] : [];
    const hashes = pins.watches(status.id) ? await this.#compared(kind, status.id, given) : undefined;
    const listed = usableItems(kind, given, { server: status.id, logger: this.#options.logger });
    const items = kind === "tools" ? this.#tools(listed, status.id) : listed;
    const { ttlMs, cacheScope, nextCursor } = result;
    const isLast = typeof nextCursor !== "string";
    const page: Result = {
      ...result,
      resultType: "complete",
      [kind]: access.isOpen(thingOf(kind), status.id)
        ? items
        : await this.#narrowed(kind, status.id, { items, isLast, hashes }, exchange),
      ttlMs: typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0,
      cacheScope: cacheScope === "public" && access.isSameForAll ? "public" : "private",
    };
    if (!isLast) page["nextCursor"] = cursors.seal(nextCursor, exchange);
    return page;
  }

  /** The list for all is compared first: a new server's list is accepted as a whole. */
  async #compared(kind: ListKind, server: string, items: readonly unknown[]): Promise<ListHashes> {
    const { catalogs, pins } = this.#options;
    await catalogs
      .of(server)
      .common.current(kind)
      .catch(() => {});
    return pins.compare({ server, kind, isCommon: false, items });
  }

  /**
   * Tools are also checked as the host sees them, because a server may list them to a caller with milder annotations.
   */
  async #narrowed(
    kind: ListKind,
    server: string,
    page: NotedPage,
    exchange: GatewayExchange,
  ): Promise<readonly Params[]> {
    const { access, catalogs, listed } = this.#options;
    const { items, hashes = NO_HASHES } = page;
    listed.note(kind, server, page, exchange);
    const reading = kind === "tools" ? catalogs.of(server).common.current(kind) : undefined;
    const { items: common, searched } = (await reading?.catch(() => undefined)) ?? {};
    const { principal } = exchange;
    return narrowed(kind, { items, outward: items, hashes, searched }, { access, principal, server, common });
  }

  #tools(listed: readonly Params[], server: string): readonly Params[] {
    const { tools } = offeredTools(listed, (name, reason) =>
      this.#options.logger.debug(`tool "${name}" of "${server}" is skipped: ${reason}`),
    );
    return tools;
  }
}

function notOffered(server: string, method: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `Server "${server}" does not offer ${method}`, {
    server,
    method,
    mayHaveReached: false,
  });
}
