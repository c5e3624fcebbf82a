import { isDeepStrictEqual } from "node:util";
import type { Client } from "../../client/client.ts";
import type { Logger } from "../../text/logger.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import type { LeaseRequest } from "../../host/servers/lease.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { CapabilitySet } from "./capability-set.ts";
import { readKnownList, type KnownList } from "./known-list.ts";
import { ListConnection } from "./list-connection.ts";
import { changeOf, LIST_KINDS, type ListKind, type ChangingList } from "../../protocol/list-kinds.ts";
import { ListSet } from "./list-set.ts";
import { ownInfo } from "./offer.ts";
import { natureOf, type ServerNature } from "./server-nature.ts";

/** What else of a server's lists is kept beside those that everybody is shown. */
const MAX_SETS = 4;
/** In so long one principal can have so many of them replaced: with a legacy server each takes a process of its own. */
const REPLACED_MS = 60_000;
const MAX_REPLACED = 12;

/** The lists for clients that declare the same, and how they are read. */
interface DeclaredLists {
  lists: ListSet;
  connection: ListConnection;
}

export interface CatalogOptions {
  host: Host;
  server: string;
  logger: Logger;
  /** A list is another for clients that declare something, though not for everybody. */
  onChanged: (list: ChangingList) => void;
}

/**
 * What one server offers, read when it is asked for, and kept while it is good: to everybody, over the host's own
 * connection, and to clients that declare something, by what they declare.
 */
export class ServerCatalog {
  readonly #options: CatalogOptions;
  /** As everybody is shown it, whatever they declare. */
  readonly common = new ListSet({ load: (kind) => this.#read(kind), hurry: () => this.#hurry() });
  /** The least recently used one comes first. */
  readonly #sets = new Map<string, DeclaredLists>();
  #latest: string | undefined;
  /** When principals had sets replaced, within the time that counts. */
  readonly #replacedAt = new Map<string, number[]>();
  #nature: ServerNature | undefined;
  #serverInfo: Implementation | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** As it last introduced itself, however long ago. */
  get serverInfo(): Implementation | undefined {
    return this.#serverInfo;
  }

  /**
   * The lists for clients that declare this; undefined where too many others are being read, or this principal declares
   * something else each time.
   */
  listsFor(set: CapabilitySet, principal: Principal): ListSet | undefined {
    const known = this.#sets.get(set.key);
    if (known && this.#latest === set.key) return known.lists;
    if (!known && !this.#makeRoom(principalKey(principal))) return undefined;
    const declared = known ?? this.#declare(set);
    this.#sets.delete(set.key);
    this.#sets.set(set.key, declared);
    this.#latest = set.key;
    return declared.lists;
  }

  /** Every version of a list that is known. */
  known(kind: ListKind): KnownList[] {
    return [this.common, ...[...this.#sets.values()].map(({ lists }) => lists)].flatMap((set) => set.find(kind) ?? []);
  }

  /** Which arguments of a tool travel as headers, where a list for clients that declare something says so. */
  declaredHeaders(tool: string): readonly ParamHeader[] | undefined {
    for (const { lists } of this.#sets.values()) {
      const headers = lists.find("tools")?.headers.get(tool);
      if (headers) return headers;
    }
    return undefined;
  }

  /** Whether any clients that declare something were shown lists of their own. */
  get hasSets(): boolean {
    return this.#sets.size > 0;
  }

  /** It may have changed: what is known is old, and what is being read may be. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    this.common.invalidate(kinds);
    for (const { lists } of this.#sets.values()) lists.invalidate(kinds);
  }

  /** The connection is gone, or another one: nothing that is known of the server has to be so any more. */
  reset(): void {
    this.#nature = undefined;
    this.invalidate();
  }

  /** What the server said of itself; connects it, if it is not. */
  async nature(request: Pick<LeaseRequest, "signal" | "canWait"> = {}): Promise<ServerNature> {
    if (this.#nature) return this.#nature;
    using lease = await this.#options.host.lease(this.#options.server, request);
    return this.#meet(lease.client);
  }

  #meet(client: Client): ServerNature {
    const nature = natureOf(client);
    const definition = this.#options.host.find(this.#options.server)?.definition;
    if (definition) this.#serverInfo = ownInfo(definition, nature.serverInfo);
    return (this.#nature = nature);
  }

  async #read(kind: ListKind): Promise<KnownList> {
    const { host, server } = this.#options;
    // The lists of all servers are read at once: what somebody calls goes first.
    using lease = await host.lease(server, { canWait: true });
    if (!this.#nature) this.#meet(lease.client);
    return await this.#readList(lease.client, kind);
  }

  #readList(client: Client, kind: ListKind): Promise<KnownList> {
    const { host, server, logger } = this.#options;
    return readKnownList(client, kind, { server, prefix: host.find(server)?.definition.prefix, logger });
  }

  /** A call waits for a list, so its server must not stand in line. */
  #hurry(): void {
    if (!this.#nature) this.nature().catch(() => {});
  }

  #makeRoom(principal: string): boolean {
    if (this.#sets.size < MAX_SETS) return true;
    const [key, spare] = [...this.#sets].find(([, { lists }]) => !lists.isBeingRead) ?? [];
    if (key === undefined || !this.#mayReplace(principal)) return false;
    this.#sets.delete(key);
    spare?.connection.close();
    return true;
  }

  #mayReplace(principal: string): boolean {
    if (this.#nature?.era === "modern") return true;
    const now = performance.now();
    for (const [key, times] of this.#replacedAt) {
      const recent = times.filter((at) => at > now - REPLACED_MS);
      if (recent.length > 0) this.#replacedAt.set(key, recent);
      else this.#replacedAt.delete(key);
    }
    const own = this.#replacedAt.get(principal) ?? [];
    if (own.length >= MAX_REPLACED) return false;
    this.#replacedAt.set(principal, [...own, now]);
    return true;
  }

  #declare(set: CapabilitySet): DeclaredLists {
    const { host, server } = this.#options;
    const onChanged = (list: ChangingList) => this.#reread(lists, list);
    const connection = new ListConnection({ host, server, set, onChanged });
    const lists: ListSet = new ListSet({
      load: (kind, known) => this.#readDeclared(connection, kind, known),
      hurry: () => this.#hurry(),
    });
    return { lists, connection };
  }

  async #readDeclared(connection: ListConnection, kind: ListKind, known: KnownList | undefined): Promise<KnownList> {
    const { era } = await this.nature({ canWait: true });
    const common = await this.#freshCommon(kind).catch(() => undefined);
    const isSameBeside = common && known?.beside && isDeepStrictEqual(common.items, known.beside);
    // Reading it takes a process of its own: where only time has passed, that everybody's list is the same is enough.
    if (era === "legacy" && isSameBeside && !known.freshness.isOutdated) {
      return { ...known, freshness: common.freshness, beside: common.items };
    }
    const list = await connection.use(era, (client) => this.#readList(client, kind));
    const isSame = common !== undefined && isDeepStrictEqual(common.items, list.items);
    return { ...(isSame ? common : list), freshness: list.freshness, beside: common?.items };
  }

  async #freshCommon(kind: ListKind): Promise<KnownList> {
    const known = this.common.find(kind);
    return known?.freshness.isFresh ? known : this.common.read(kind).list;
  }

  /** Read again at once, over the connection that told of it: a new one might tell the same each time. */
  #reread(lists: ListSet, list: ChangingList): void {
    for (const kind of LIST_KINDS.filter((each) => changeOf(each) === list)) {
      const before = lists.latest(kind);
      if (before === undefined) continue;
      lists.invalidate([kind]);
      Promise.all([before, lists.read(kind).list]).then(
        ([shown, now]) => {
          if (!isDeepStrictEqual(shown.items, now.items)) this.#options.onChanged(list);
        },
        (error: unknown) => this.#options.logger.debug(messageOf(error)),
      );
    }
  }
}
