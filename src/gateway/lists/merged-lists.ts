import { isDeepStrictEqual } from "node:util";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { weightOf } from "../../json/weight.ts";
import { isConnected, type ServerState } from "../../host/servers/server-state.ts";
import { viewKey, type GatewayExchange } from "../names/view.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import { dataFor, wordsFor } from "../operation/caller-error.ts";
import { CallerCapabilities } from "./declared-lists.ts";
import type { Catalogs } from "./catalogs.ts";
import type { CacheScope, KnownList } from "./list-reader.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import type { ListSet, Reading } from "./list-cache.ts";
import { narrowed, thingOf, type ShowItem } from "../access/narrowed.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import { within } from "../../async/within.ts";
import type { Seal } from "../../server/core/seal.ts";
import type { CallerOutline } from "../calls/upstream-leases.ts";

const MAX_KEPT = 256;
/** Longer declarations are not cached. */
const MAX_LENGTH = 1_024;

export interface AggregateOptions {
  host: Host;
  catalogs: Catalogs;
  access: PrincipalAccess;
  cursors: Cursors;
  /** The list of the caller's own process, if it differs from the list for all. */
  ownList: (kind: ListKind, server: string, exchange: GatewayExchange) => Promise<KnownList> | undefined;
  /** Called when a caller gets the tools of a server in this state. */
  onShown: (exchange: GatewayExchange, server: string, version: string) => void;
  failures: FailureLog;
  /** How long a list waits for a server. */
  waitMs: number;
  /** The same for a server that was never seen, if the caller cannot be told that the list has changed. */
  firstWaitMs: number;
  /** Whether the caller is told when a list changes after it was shown. */
  isTold: (exchange: GatewayExchange, kind: ListKind) => boolean;
  /** Items on a page. */
  pageSize: number;
  /** How items are shown, if not in full names. */
  show?: ShowItem | undefined;
  /** How long callers may keep a list at most, whatever the servers say. */
  maxTtlMs?: number | undefined;
}

/** A server whose list is missing or old. */
interface Unavailable {
  server: string;
  /** The same text for all failures of a kind; the log has the details. */
  reason: string;
  /** The age of the old list that is shown. */
  ageMs?: number;
  /** Further facts for programs. */
  [fact: string]: unknown;
}

/** The part of one server in a list. */
interface Part {
  server: string;
  list: KnownList | undefined;
  missing: Unavailable | undefined;
  /**
   * Whether the list belongs to the caller's own process or to callers with certain capabilities, instead of to all.
   */
  isOwn?: boolean;
  /** The same list as all other callers see it. */
  common?: readonly Params[] | undefined;
  /** Whether it replaces a list that could not be read yet. */
  isProvisional?: boolean;
  /** Whether it is the list as it was read before the server was started. */
  isRecalled?: boolean;
}

/** The list that a caller asked for, with its capabilities. */
interface AskedList {
  kind: ListKind;
  exchange: GatewayExchange;
  declared: CallerCapabilities;
}

/** The position after a page: the server, and the number of its items shown so far. */
interface Position {
  server: string;
  taken: number;
}

const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** `_meta` key of a list: the servers that are missing in it. */
export const UNAVAILABLE = "dev.nexus/unavailable";
/** `_meta` key of a list: the servers that are starting, and are listed as they were the last time. */
const STARTING = "dev.nexus/starting";

/** A server in these states is connected, or will be when it is used. */
const BEFORE_CONNECTED: ReadonlySet<ServerState["kind"]> = new Set(["idle", "paused", "starting"]);

/**
 * Joins the lists of all servers, in the order of the configuration. A server that is away is named and delays nobody.
 */
export class AggregateLists {
  readonly #options: AggregateOptions;
  /** Items are the same objects from page to page. */
  readonly #weights = new WeakMap<Params, number>();
  readonly #declared = new DeclaredCapabilities();

  constructor(options: AggregateOptions) {
    this.#options = options;
  }

  async page(kind: ListKind, exchange: GatewayExchange): Promise<Result> {
    const { access, cursors, show, onShown, maxTtlMs = Infinity } = this.#options;
    const position = positionIn(cursors.open(exchange));
    const { principal } = exchange;
    const asked: AskedList = { kind, exchange, declared: this.#declared.of(exchange.caller) };
    const shown = this.shownTo(principal);
    const known = shown.map((status) => this.#knownPart(status, asked));
    const parts = known.every((part) => part !== undefined)
      ? known
      : (await Promise.all(shown.map(async (status, at) => known[at] ?? this.#part(status, asked)))).map(
          (part) => this.#startedMeanwhile(part, asked) ?? part,
        );
    await this.#untilCompared(parts);
    const items: Params[] = [];
    let start = position ? -1 : 0;
    const starts: { server: string; at: number }[] = [];
    for (const { server, list, common } of parts) {
      const at = items.length;
      if (list?.version !== undefined) onShown(exchange, server, list.version);
      starts.push({ server, at });
      for (const item of list ? narrowed(kind, list, { access, principal, server, common, show }) : [])
        items.push(item);
      // The list became shorter: continue with the next server and skip nothing of it.
      if (position?.server === server) start = Math.min(at + position.taken, items.length);
    }
    // The server of the cursor is gone, so the position is unknown.
    if (start < 0) throw invalidCursor();
    const end = this.#endOfPage(items, start);
    const result: Result = { resultType: "complete", [kind]: items.slice(start, end) };
    if (end < items.length) result["nextCursor"] = cursors.seal(positionAt(end, starts), exchange);
    const missing = parts.flatMap((part) => part.missing ?? []);
    const starting = parts.flatMap(({ server, list, isRecalled }) =>
      isRecalled && list ? [{ server, ageMs: Math.round(list.freshness.ageMs) }] : [],
    );
    if (missing.length > 0) result._meta = { [UNAVAILABLE]: missing };
    if (starting.length > 0) result._meta = { ...result._meta, [STARTING]: starting };
    const { ttlMs, cacheScope } = freshnessOf(parts, access.isSameForAll);
    return Object.assign(result, { ttlMs: Math.min(ttlMs, maxTtlMs), cacheScope });
  }

  /** A server that was starting when the list was begun may be ready when the last part of the list is there. */
  #startedMeanwhile({ isRecalled, server }: Part, asked: AskedList): Part | undefined {
    const status = isRecalled ? this.#options.host.find(server) : undefined;
    return status && this.#knownPart(status, asked);
  }

  /** Where everything is pinned, a list that was just read is compared first. */
  async #untilCompared(parts: readonly Part[]): Promise<void> {
    const { access, waitMs } = this.#options;
    if (!access.isPinned) return;
    const read = parts.filter(({ isRecalled }) => !isRecalled);
    await Promise.all(read.map(({ server }) => within(access.compared(server), waitMs)));
  }

  /**
   * A page is limited in items and in size, so that large definitions of one server do not push out those of the
   * others.
   */
  #endOfPage(items: readonly Params[], start: number): number {
    const last = Math.min(start + this.#options.pageSize, items.length);
    let bytes = 0;
    for (let at = start; at < last; at++) {
      bytes += this.#weightOf(items[at] ?? {});
      if (bytes > MAX_PAGE_BYTES && at > start) return at;
    }
    return last;
  }

  #weightOf(item: Params): number {
    const known = this.#weights.get(item);
    if (known !== undefined) return known;
    const weight = weightOf(item);
    this.#weights.set(item, weight);
    return weight;
  }

  /** What is known now and the principal may see, without waiting for a server. */
  known(kind: ListKind, principal: Principal): Params[] {
    const { catalogs, access, show } = this.#options;
    return this.shownTo(principal).flatMap(({ id: server }) => {
      const list = catalogs.of(server).common.find(kind);
      return list ? narrowed(kind, list, { access, principal, server, show }) : [];
    });
  }

  /** The servers that are switched on and that the principal may know of. */
  shownTo(principal: Principal): ServerStatus[] {
    const { host, access } = this.#options;
    return host
      .servers()
      .filter(({ id, state: { kind } }) => kind !== "disabled" && kind !== "stopped" && access.sees(principal, id));
  }

  /** The usual case: a list that is known and fresh needs no waiting. */
  #knownPart({ id: server, state }: ServerStatus, asked: AskedList): Part | undefined {
    const { kind, exchange } = asked;
    const { catalogs, ownList, access } = this.#options;
    if (!isConnected(state) || ownList(kind, server, exchange)) return undefined;
    const { common } = catalogs.of(server);
    const set = this.#setFor(server, asked);
    const list = (set ?? common).find(kind);
    if (!list?.freshness.isFresh) return undefined;
    if (!set) return { server, list, missing: undefined };
    if (access.isOpen(thingOf(kind), server)) return partOfSet(server, list, undefined);
    const current = common.findCurrent(kind);
    return current && partOfSet(server, list, current.items);
  }

  async #part(status: ServerStatus, asked: AskedList): Promise<Part> {
    const { kind, exchange } = asked;
    const { ownList, waitMs } = this.#options;
    const { id: server } = status;
    const own = ownList(kind, server, exchange);
    const list = own && (await within(own, waitMs).catch(() => undefined));
    if (list) return { server, list, missing: undefined, isOwn: true, common: await this.#commonItems(server, kind) };
    const down = this.#downPart(status, asked);
    if (down) return down;
    return asked.declared.isEmpty ? this.#commonPart(status, asked) : this.#declaredPart(status, asked);
  }

  /**
   * The part of a server that is down. The host tries it again and callers are notified when it is back, so nobody
   * waits.
   */
  #downPart({ id: server, state }: ServerStatus, asked: AskedList): Part | undefined {
    const { kind } = asked;
    const error = this.#options.catalogs.downBecause(server);
    // In any other state it is connected, or was not tried since it failed.
    if (!error || (state.kind !== "failed" && state.kind !== "starting")) return undefined;
    const { common } = this.#options.catalogs.of(server);
    const known = this.#setFor(server, asked)?.find(kind) ?? common.find(kind);
    if (state.kind !== "failed") return this.#without(server, known, error);
    // The host does not try this server again by itself.
    if (state.retryAt === undefined) common.read(kind).list.catch(() => {});
    const retryAfterMs = state.retryAt && Math.max(0, Math.ceil(state.retryAt - Date.now()));
    return this.#without(server, known, retryAfterMs === undefined ? error : error.amended({ retryAfterMs }));
  }

  /** The lists for callers with the same capabilities; undefined if they are the lists for all. */
  #setFor(server: string, { declared, exchange }: AskedList): ListSet | undefined {
    const { catalogs } = this.#options;
    const era = declared.isEmpty ? undefined : catalogs.eraOf(server);
    const set = era && declared.of(era);
    return set && catalogs.of(server).listsFor(set, exchange.principal);
  }

  async #commonPart({ id: server, state }: ServerStatus, asked: AskedList): Promise<Part> {
    const { kind } = asked;
    const catalog = this.#options.catalogs.of(server);
    const { common } = catalog;
    const known = common.find(kind);
    if (known?.freshness.isFresh) return { server, list: known, missing: undefined };
    // This starts the server.
    const reading = common.read(kind);
    const recalled = known ? undefined : await catalog.recall(kind);
    if (recalled && BEFORE_CONNECTED.has(state.kind)) return recalledPart(server, recalled);
    try {
      const isNew = !known && !recalled;
      const read = await (isNew ? this.#firstList(reading, asked) : this.#listInTime(reading));
      if (read) return { server, list: read, missing: undefined };
      if (!recalled) return this.#without(server, known, tooSlow(kind, performance.now() - reading.startedAt));
      this.#tellLater(server, kind, { reading, shown: recalled.items });
      // The host has just read the list of a server that is ready.
      return { ...recalledPart(server, recalled), isRecalled: state.kind !== "ready" };
    } catch (error) {
      return this.#without(server, known, error);
    }
  }

  /** Undefined if it takes too long. */
  #listInTime(reading: Reading, waitMs = this.#options.waitMs): Promise<KnownList | undefined> {
    return within(reading.list, patienceFor(reading, waitMs));
  }

  /** A list that was never read: a caller that would not be told of it later waits longer. */
  async #firstList(reading: Reading, { exchange, kind }: AskedList): Promise<KnownList | undefined> {
    const { firstWaitMs, isTold } = this.#options;
    const read = await this.#listInTime(reading);
    // Asked only now, because clients often begin to listen at the same time as they list.
    return read || isTold(exchange, kind) ? read : this.#listInTime(reading, firstWaitMs);
  }

  /** The list for this caller's capabilities; until it is known, the list for all. */
  async #declaredPart(status: ServerStatus, asked: AskedList): Promise<Part> {
    const { kind } = asked;
    const { catalogs, waitMs } = this.#options;
    const { id: server } = status;
    const deadline = performance.now() + waitMs;
    // The era of a server that was never connected is unknown, so it has to be connected first.
    const met = catalogs.eraOf(server) ? undefined : await this.#commonPart(status, asked);
    const lists = this.#setFor(server, asked);
    if (!lists) return met ?? this.#commonPart(status, asked);
    const known = lists.find(kind);
    if (known?.freshness.isFresh) return partOfSet(server, known, await this.#commonItems(server, kind));
    const reading = lists.read(kind);
    const patienceMs = Math.min(patienceFor(reading, waitMs), deadline - performance.now());
    let failure = tooSlow(kind, waitMs);
    try {
      const read = await within(reading.list, patienceMs);
      if (read) return partOfSet(server, read, await this.#commonItems(server, kind));
    } catch (error) {
      failure = this.#options.failures.report(error, { server });
    }
    const shown = known ? this.#without(server, known, failure) : (met ?? (await this.#commonPart(status, asked)));
    this.#tellLater(server, kind, { reading, shown: shown.list?.items ?? [] });
    return { ...shown, isProvisional: true };
  }

  /** The list for all, which access rules also use. Not read if there are no rules. */
  async #commonItems(server: string, kind: ListKind): Promise<readonly Params[] | undefined> {
    const { access, catalogs, waitMs } = this.#options;
    if (access.isOpen(thingOf(kind), server)) return undefined;
    const current = catalogs.of(server).common.current(kind);
    return (await within(current, waitMs).catch(() => undefined))?.items;
  }

  /** Notifies the caller when the list is there, because it was shown something else instead. */
  #tellLater(server: string, kind: ListKind, { reading, shown }: { reading: Reading; shown: readonly Params[] }): void {
    reading.list.then(
      ({ items }) => {
        if (!isDeepStrictEqual(items, shown)) this.#options.catalogs.tell({ server, lists: [changeOf(kind)] });
      },
      () => {},
    );
  }

  /** Shows an old list with its age rather than none. */
  #without(server: string, known: KnownList | undefined, thrown: unknown): Part {
    const error = this.#options.failures.report(thrown, { server });
    const { mayHaveReached: _, ...facts } = dataFor(error);
    const missing: Unavailable = { server, reason: wordsFor(error), ...facts };
    if (known) missing.ageMs = Math.round(known.freshness.ageMs);
    return { server, list: known, missing };
  }
}

/** If the list differs from the list for all, the result is private. */
function partOfSet(server: string, list: KnownList, common: readonly Params[] | undefined): Part {
  return { server, list, missing: undefined, isOwn: list.items !== list.beside, common };
}

/** What a server listed the last time. It is shown until the server has started. */
function recalledPart(server: string, list: KnownList): Part {
  return { server, list, missing: undefined, isProvisional: true, isRecalled: true };
}

function tooSlow(kind: ListKind, waitedMs: number): NexusError {
  return new NexusError("TIMEOUT", `${kind} were not read within ${Math.round(waitedMs)} ms`);
}

/** The remaining time to wait for a reading that may have begun earlier. */
function patienceFor({ startedAt }: Reading, waitMs: number): number {
  return startedAt + waitMs - performance.now();
}

/** The shortest lifetime and the strictest scope of all parts. */
function freshnessOf(parts: readonly Part[], isSameForAll: boolean): { ttlMs: number; cacheScope: CacheScope } {
  const isComplete =
    parts.length > 0 && parts.every(({ list, missing, isProvisional }) => list && !missing && !isProvisional);
  if (!isComplete) return { ttlMs: 0, cacheScope: "private" };
  const all = parts.flatMap(({ list }) => list?.freshness ?? []);
  const ttlMs = Math.floor(Math.min(...all.map(({ remainingMs }) => remainingMs)));
  const isPublic = isSameForAll && !parts.some(({ isOwn }) => isOwn) && all.every(({ scope }) => scope === "public");
  // No server has such a list, so no lifetime is known.
  return { ttlMs: Number.isFinite(ttlMs) ? ttlMs : 0, cacheScope: isPublic ? "public" : "private" };
}

function positionIn(opened: unknown): Position | undefined {
  if (opened === undefined) return undefined;
  if (!isRecord(opened) || typeof opened["server"] !== "string" || typeof opened["taken"] !== "number") {
    throw invalidCursor();
  }
  return { server: opened["server"], taken: opened["taken"] };
}

function positionAt(index: number, starts: readonly { server: string; at: number }[]): Position {
  const reached = starts.findLast(({ at }) => at <= index) ?? { server: "", at: 0 };
  return { server: reached.server, taken: index - reached.at };
}

/** Cursors as callers get them: sealed, and valid only for the same caller, endpoint and list. */
export class Cursors {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  seal(position: unknown, exchange: GatewayExchange): string {
    return this.#seal.seal(position, boundTo(exchange));
  }

  /** Undefined for the first page. */
  open(exchange: GatewayExchange): unknown {
    const { cursor } = exchange.params;
    if (cursor === undefined) return undefined;
    const position = typeof cursor === "string" ? this.#seal.open(cursor, boundTo(exchange)) : undefined;
    if (position === undefined) throw invalidCursor();
    return position;
  }
}

function invalidCursor(): NexusError {
  return new NexusError("ARGUMENTS_INVALID", "The cursor is not valid for this list. Start again without a cursor", {
    mayHaveReached: false,
  });
}

function boundTo({ principal, endpoint: view, method }: GatewayExchange): string {
  return JSON.stringify(["cursor", principalKey(principal), viewKey(view), method]);
}

/** Caches the capabilities: a caller declares the same with each request. */
class DeclaredCapabilities {
  readonly #kept = new Map<string, CallerCapabilities>();

  of(caller: CallerOutline): CallerCapabilities {
    const { era, capabilities, ask } = caller;
    const text = JSON.stringify(capabilities);
    if (text.length > MAX_LENGTH) return new CallerCapabilities(caller);
    const key = `${era} ${ask ? "asked" : "told"} ${text}`;
    const known = this.#kept.get(key);
    if (known) return known;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    // Keep nothing else of the caller.
    const kept = new CallerCapabilities({ era, owner: "", capabilities, ask: ask && unasked });
    this.#kept.set(key, kept);
    return kept;
  }
}

const unasked = () => Promise.reject(new NexusError("CLOSED", "The call has ended"));
