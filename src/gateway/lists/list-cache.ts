import { isDeepStrictEqual } from "node:util";
import type { Client } from "../../client/client.ts";
import type { Logger } from "../../text/logger.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import type { LeaseRequest } from "../../host/servers/lease.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import { ListConnection, type CapabilitySet } from "./declared-lists.ts";
import { natureOf, readKnownList, recallList, type KnownList, type ServerNature } from "./list-reader.ts";
import { changeOf, LIST_KINDS, type ChangingList, type ListKind } from "../../protocol/list-kinds.ts";
import { ownInfo } from "./offer.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { isRecord } from "../../json/is-record.ts";

/** Maximum number of lists for certain capabilities that are kept for one server. */
const MAX_SETS = 4;
/**
 * A principal may cause at most `MAX_REPLACED` replacements in this time: with a legacy server each needs a process.
 */
const REPLACED_MS = 60_000;
const MAX_REPLACED = 12;
/** Clients wait for it while they connect; after that they get what is known. */
const ASKING_MS = 5_000;
const NEVER_READ: Promise<undefined> = Promise.resolve(undefined);

/** The lists for clients with the same capabilities, and the connection that reads them. */
interface DeclaredLists {
  lists: ListSet;
  connection: ListConnection;
}

/** A list as it was read before, and what it was made of. */
interface RecalledList {
  items: readonly unknown[];
  prefix: string | undefined;
  list: Promise<KnownList>;
}

interface CatalogOptions {
  host: Host;
  server: string;
  logger: Logger;
  /** Called when a list for certain capabilities has changed, and the list for all has not. */
  onChanged: (list: ChangingList) => void;
}

/**
 * What one server offers, read on demand and kept while it is fresh: for all over the host's own connection, and for
 * clients that declare capabilities.
 */
export class ServerCatalog {
  readonly #options: CatalogOptions;
  /** The lists for all, independent of capabilities. */
  readonly common = new ListSet({ load: (kind) => this.#read(kind), hurry: () => this.#hurry() });
  /** The least recently used one comes first. */
  readonly #sets = new Map<string, DeclaredLists>();
  #latest: string | undefined;
  /** The times of replacements by principal, within `REPLACED_MS`. */
  readonly #replacedAt = new Map<string, number[]>();
  readonly #recalled = new Map<ListKind, RecalledList>();
  #nature: ServerNature | undefined;
  #serverInfo: Implementation | undefined;
  /** The server reported a change, so what it says about itself may be another version's. */
  #mayHaveChanged = false;
  #asking: Promise<ServerNature> | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** The server's name and version as it said them last. */
  get serverInfo(): Implementation | undefined {
    return this.#serverInfo;
  }

  /**
   * The lists for these capabilities; undefined if too many others are being read, or the principal declares different
   * ones too often.
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

  /**
   * The list for all as it was read the last time, perhaps by an earlier process; undefined if it never was. Concurrent
   * callers share it.
   */
  recall(kind: ListKind): Promise<KnownList | undefined> {
    const { host, server } = this.#options;
    const definition = host.find(server)?.definition;
    const last = definition && host.lastLists.find(definition, kind);
    if (!last) return NEVER_READ;
    const known = this.#recalled.get(kind);
    const { prefix } = definition;
    if (known?.items === last.items && known.prefix === prefix) return known.list;
    const list = recallList(last, kind, { server, prefix, pins: host.pins });
    this.#recalled.set(kind, { items: last.items, prefix, list });
    return list;
  }

  /** The lists that were shown as they were read before the server was started. Forgets that they were. */
  takeRecalled(): ListKind[] {
    const kinds = [...this.#recalled.keys()];
    this.#recalled.clear();
    return kinds;
  }

  /** All known versions of a list. */
  known(kind: ListKind): KnownList[] {
    return [this.common, ...[...this.#sets.values()].map(({ lists }) => lists)].flatMap((set) => set.find(kind) ?? []);
  }

  /** The arguments of a tool that are sent as headers, according to a list for certain capabilities. */
  declaredHeaders(tool: string): readonly ParamHeader[] | undefined {
    for (const { lists } of this.#sets.values()) {
      const headers = lists.find("tools")?.headers.get(tool);
      if (headers) return headers;
    }
    return undefined;
  }

  /** Whether there are lists for certain capabilities. */
  get hasSets(): boolean {
    return this.#sets.size > 0;
  }

  /** Marks lists as outdated, including those that are being read. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    this.#mayHaveChanged = true;
    this.common.invalidate(kinds);
    for (const { lists } of this.#sets.values()) lists.invalidate(kinds);
  }

  /** Forgets what is known of the server, because its connection has ended or was replaced. */
  reset(): void {
    this.#nature = undefined;
    this.invalidate();
    this.#mayHaveChanged = false;
  }

  /** What the server declared when it was connected; connects it if necessary. */
  async nature(request: Pick<LeaseRequest, "signal" | "canWait"> = {}): Promise<ServerNature> {
    if (this.#nature) return this.#nature;
    using lease = await this.#options.host.lease(this.#options.server, request);
    return this.#meet(lease.client);
  }

  /** What the server says about itself now: a modern one is asked again after it reported a change. */
  async introduction(): Promise<ServerNature> {
    const nature = await this.nature();
    if (!this.#mayHaveChanged || nature.era !== "modern") return nature;
    this.#asking ??= this.#askAgain(nature).finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #askAgain(known: ServerNature): Promise<ServerNature> {
    const { host, server, logger } = this.#options;
    this.#mayHaveChanged = false;
    try {
      using lease = await host.lease(server, {});
      const said = await lease.client.request("server/discover", undefined, { timeoutMs: ASKING_MS });
      return this.#know(discoveredNature(known, said));
    } catch (error) {
      logger.debug(messageOf(error));
      // Whoever cannot answer it will not be able to the next time.
      this.#mayHaveChanged ||= !(error instanceof NexusError && error.details.rpc);
      return known;
    }
  }

  #meet(client: Client): ServerNature {
    return this.#know(natureOf(client));
  }

  #know(nature: ServerNature): ServerNature {
    const definition = this.#options.host.find(this.#options.server)?.definition;
    if (definition) this.#serverInfo = ownInfo(definition, nature.serverInfo);
    return (this.#nature = nature);
  }

  async #read(kind: ListKind): Promise<KnownList> {
    const { host, server } = this.#options;
    // The lists of all servers are read at once, so calls go first.
    using lease = await host.lease(server, { canWait: true });
    if (!this.#nature) this.#meet(lease.client);
    return await this.#readList(lease.client, kind, true);
  }

  #readList(client: Client, kind: ListKind, isCommon: boolean): Promise<KnownList> {
    const { host, server, logger } = this.#options;
    const { prefix, entry } = host.find(server)?.definition ?? {};
    const isApi = entry?.reach.kind === "api";
    return readKnownList(client, kind, { server, prefix, logger, pins: host.pins, isCommon, isApi });
  }

  /** A call waits for a list, so its server must not wait in the queue of starts. */
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
    // Reading the list needs a process. If nothing was reported and the list for all is unchanged, the old list is
    // used.
    if (era === "legacy" && isSameBeside && !known.freshness.isOutdated) {
      return { ...known, freshness: common.freshness, beside: common.items };
    }
    const list = await connection.use(era, (client) => this.#readList(client, kind, false));
    const isSame = common !== undefined && isDeepStrictEqual(common.items, list.items);
    return { ...(isSame ? common : list), freshness: list.freshness, beside: common?.items };
  }

  async #freshCommon(kind: ListKind): Promise<KnownList> {
    const known = this.common.find(kind);
    return known?.freshness.isFresh ? known : this.common.read(kind).list;
  }

  /**
   * Reads a changed list at once, over the connection that reported it: a new connection might report the same change
   * again.
   */
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

export interface Reading {
  list: Promise<KnownList>;
  startedAt: number;
}

interface ListSetOptions {
  /** Reads a list; `known` is the list as last read. */
  load: (kind: ListKind, known: KnownList | undefined) => Promise<KnownList>;
  /** Called when a call waits for a list. */
  hurry: () => void;
}

const REREAD_MS = 5_000;

/** The lists of one server for clients with the same capabilities, kept while they are fresh. */
export class ListSet {
  readonly #options: ListSetOptions;
  readonly #known = new Map<ListKind, KnownList>();
  readonly #readings = new Map<ListKind, Reading>();

  constructor(options: ListSetOptions) {
    this.#options = options;
  }

  get isBeingRead(): boolean {
    return this.#readings.size > 0;
  }

  /** The current or last reading; undefined if the list was never asked for. */
  latest(kind: ListKind): Promise<KnownList> | undefined {
    const known = this.#known.get(kind);
    return this.#readings.get(kind)?.list ?? (known && Promise.resolve(known));
  }

  /** The list as last read, no matter how long ago. */
  find(kind: ListKind): KnownList | undefined {
    return this.#known.get(kind);
  }

  /** Reads the list. Concurrent callers share the reading. */
  read(kind: ListKind): Reading {
    const running = this.#readings.get(kind);
    if (running) return running;
    const reading: Reading = { list: this.#options.load(kind, this.#known.get(kind)), startedAt: performance.now() };
    this.#readings.set(kind, reading);
    const forget = () => {
      if (this.#readings.get(kind) === reading) this.#readings.delete(kind);
    };
    reading.list.then(
      (list) => {
        // A list that changed while it was read must be read again.
        if (this.#readings.get(kind) === reading) this.#known.set(kind, list);
        forget();
      },
      (error: unknown) => {
        // A list that is invalid or has no end is not read again for each caller.
        const isBroken = error instanceof NexusError && error.code === "PROTOCOL_VIOLATION";
        if (isBroken) setTimeout(forget, REREAD_MS).unref();
        else forget();
      },
    );
    return reading;
  }

  /**
   * The list for checking a call: read once, and again after the server reports a change. If that fails, the old list
   * is used.
   */
  async current(kind: ListKind): Promise<KnownList> {
    const current = this.findCurrent(kind);
    if (current) return current;
    const known = this.#known.get(kind);
    this.#options.hurry();
    return this.read(kind).list.catch((error: unknown) => {
      if (!known) throw error;
      return known;
    });
  }

  /** The same, but only if nothing has to be read. */
  findCurrent(kind: ListKind): KnownList | undefined {
    const known = this.#known.get(kind);
    return known?.freshness.isOutdated ? undefined : known;
  }

  /** Marks lists as outdated, including those that are being read. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    for (const kind of kinds) {
      this.#known.get(kind)?.freshness.expire();
      this.#readings.delete(kind);
    }
  }
}

/** What is known of a server, with its own answer to `server/discover`. */
function discoveredNature(known: ServerNature, { _meta, instructions, capabilities }: Result): ServerNature {
  const info = _meta?.[META.serverInfo];
  return {
    ...known,
    serverInfo: isRecord(info) ? (info as Implementation) : known.serverInfo,
    instructions: typeof instructions === "string" ? instructions : undefined,
    capabilities: isRecord(capabilities) ? capabilities : known.capabilities,
  };
}
