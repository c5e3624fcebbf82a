import { isDeepStrictEqual } from "node:util";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { weightOf } from "../../json/weight.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { FailureLog } from "../operation/failure-log.ts";
import type { Principal } from "../../server/core/principal.ts";
import { dataFor, wordsFor } from "../operation/caller-error.ts";
import { DeclaredCapabilities, type CallerCapabilities } from "./capability-set.ts";
import type { Catalogs } from "./catalogs.ts";
import { invalidCursor, type Cursors } from "./cursors.ts";
import type { CacheScope } from "./freshness.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import type { ListSet, Reading } from "./list-set.ts";
import type { KnownList } from "./known-list.ts";
import { narrowed, thingOf } from "../access/narrowed.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import { within } from "../../async/within.ts";

export interface AggregateOptions {
  host: Host;
  catalogs: Catalogs;
  access: PrincipalAccess;
  cursors: Cursors;
  /** What the caller's own process has in place of what everybody is shown, if there is such a thing. */
  ownList: (kind: ListKind, server: string, exchange: GatewayExchange) => Promise<KnownList> | undefined;
  failures: FailureLog;
  /** How long a list waits for a server. */
  waitMs: number;
  /** Items on a page. */
  pageSize: number;
}

/** A server whose list is not there, or is an old one. */
interface Unavailable {
  server: string;
  /** In words that are the same for all failures of a kind; the log tells more. */
  reason: string;
  /** Of the list that is shown in its place. */
  ageMs?: number;
  /** What errors about it say for programs. */
  [fact: string]: unknown;
}

/** What one server brings to a list. */
interface Part {
  server: string;
  list: KnownList | undefined;
  missing: Unavailable | undefined;
  /** Of the caller's own process, or for those who declare the same: not everybody's. */
  isOwn?: boolean;
  /** The same list as everybody else's process has it. */
  common?: readonly Params[] | undefined;
  /** It stands for one that could not be read yet. */
  isProvisional?: boolean;
}

/** What a caller wants listed, and what it declares. */
interface AskedList {
  kind: ListKind;
  exchange: GatewayExchange;
  declared: CallerCapabilities;
}

/** How far into which server's items a page reached. */
interface Position {
  server: string;
  taken: number;
}

const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** `_meta` of a list: the servers that it lacks. */
const UNAVAILABLE = "dev.nexus/unavailable";

/** The lists of all servers as one, in the order of the configuration. One that is away is named, and holds nobody up. */
export class AggregateLists {
  readonly #options: AggregateOptions;
  /** Items stay the same from page to page. */
  readonly #weights = new WeakMap<Params, number>();
  readonly #declared = new DeclaredCapabilities();

  constructor(options: AggregateOptions) {
    this.#options = options;
  }

  async page(kind: ListKind, exchange: GatewayExchange): Promise<Result> {
    const { access, cursors } = this.#options;
    const position = positionIn(cursors.open(exchange));
    const { principal } = exchange;
    const asked: AskedList = { kind, exchange, declared: this.#declared.of(exchange.caller) };
    const shown = this.shownTo(principal);
    const known = shown.map((status) => this.#knownPart(status, asked));
    const parts = known.every((part) => part !== undefined)
      ? known
      : await Promise.all(shown.map(async (status, at) => known[at] ?? this.#part(status, asked)));
    const items: Params[] = [];
    let start = position ? -1 : 0;
    const starts: { server: string; at: number }[] = [];
    for (const { server, list, common } of parts) {
      const at = items.length;
      starts.push({ server, at });
      for (const item of list ? narrowed(kind, list, { access, principal, server, common }) : []) items.push(item);
      // Fewer than there were: what follows belongs to the next server, and must not be skipped.
      if (position?.server === server) start = Math.min(at + position.taken, items.length);
    }
    // The server it had come to is gone: what follows cannot be told.
    if (start < 0) throw invalidCursor();
    const end = this.#endOfPage(items, start);
    const result: Result = { resultType: "complete", [kind]: items.slice(start, end) };
    if (end < items.length) result["nextCursor"] = cursors.seal(positionAt(end, starts), exchange);
    const missing = parts.flatMap((part) => part.missing ?? []);
    if (missing.length > 0) result._meta = { [UNAVAILABLE]: missing };
    return Object.assign(result, freshnessOf(parts, access.isSameForAll));
  }

  /** So many items, and no heavier than a message can be: one server's large definitions must not cost the others theirs. */
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

  /** What is known now of what a principal may see, without waiting for any server. */
  known(kind: ListKind, principal: Principal): Params[] {
    const { catalogs, access } = this.#options;
    return this.shownTo(principal).flatMap(({ id: server }) => {
      const list = catalogs.of(server).common.find(kind);
      return list ? narrowed(kind, list, { access, principal, server }) : [];
    });
  }

  /** The servers whose things a principal is shown: those that are switched on, and that it may know of. */
  shownTo(principal: Principal): ServerStatus[] {
    const { host, access } = this.#options;
    return host
      .servers()
      .filter(({ id, state: { kind } }) => kind !== "disabled" && kind !== "stopped" && access.sees(principal, id));
  }

  /** What can be shown at once: nearly always. */
  #knownPart({ id: server, state }: ServerStatus, asked: AskedList): Part | undefined {
    const { kind, exchange } = asked;
    const { catalogs, ownList, access } = this.#options;
    if (!("era" in state) || ownList(kind, server, exchange)) return undefined;
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
    return asked.declared.isEmpty ? this.#commonPart(status, kind) : this.#declaredPart(status, asked);
  }

  /** The host tries again by itself, and everybody is told when the server is back: nobody has to wait for that. */
  #downPart({ id: server, state }: ServerStatus, asked: AskedList): Part | undefined {
    const { kind } = asked;
    const error = this.#options.catalogs.downBecause(server);
    // In any other state it is there, or nobody has tried it since.
    if (!error || (state.kind !== "failed" && state.kind !== "starting")) return undefined;
    const { common } = this.#options.catalogs.of(server);
    const known = this.#setFor(server, asked)?.find(kind) ?? common.find(kind);
    if (state.kind !== "failed") return this.#without(server, known, error);
    // Nothing else tries such a server again.
    if (state.retryAt === undefined) common.read(kind).list.catch(() => {});
    const retryAfterMs = state.retryAt && Math.max(0, Math.ceil(state.retryAt - Date.now()));
    return this.#without(server, known, retryAfterMs === undefined ? error : error.amended({ retryAfterMs }));
  }

  /** The lists for callers that declare the same; undefined where they are those that everybody is shown. */
  #setFor(server: string, { declared, exchange }: AskedList): ListSet | undefined {
    const { catalogs } = this.#options;
    const era = declared.isEmpty ? undefined : catalogs.eraOf(server);
    const set = era && declared.of(era);
    return set && catalogs.of(server).listsFor(set, exchange.principal);
  }

  async #commonPart({ id: server }: ServerStatus, kind: ListKind): Promise<Part> {
    const { catalogs, waitMs } = this.#options;
    const { common } = catalogs.of(server);
    const known = common.find(kind);
    if (known?.freshness.isFresh) return { server, list: known, missing: undefined };
    const reading = common.read(kind);
    try {
      const read = await within(reading.list, patienceFor(reading, waitMs));
      if (read) return { server, list: read, missing: undefined };
      return this.#without(server, known, new NexusError("TIMEOUT", `${kind} were not read within ${waitMs} ms`));
    } catch (error) {
      return this.#without(server, known, error);
    }
  }

  /** As the server lists it to clients that declare what this caller does; until that is known, as it does to all. */
  async #declaredPart(status: ServerStatus, asked: AskedList): Promise<Part> {
    const { kind } = asked;
    const { catalogs, waitMs } = this.#options;
    const { id: server } = status;
    const deadline = performance.now() + waitMs;
    // A server that was never there has to be met first.
    const met = catalogs.eraOf(server) ? undefined : await this.#commonPart(status, kind);
    const lists = this.#setFor(server, asked);
    if (!lists) return met ?? this.#commonPart(status, kind);
    const known = lists.find(kind);
    if (known?.freshness.isFresh) return partOfSet(server, known, await this.#commonItems(server, kind));
    const reading = lists.read(kind);
    const patienceMs = Math.min(patienceFor(reading, waitMs), deadline - performance.now());
    let failure = new NexusError("TIMEOUT", `${kind} were not read within ${waitMs} ms`);
    try {
      const read = await within(reading.list, patienceMs);
      if (read) return partOfSet(server, read, await this.#commonItems(server, kind));
    } catch (error) {
      failure = this.#options.failures.report(error, { server });
    }
    const shown = known ? this.#without(server, known, failure) : (met ?? (await this.#commonPart(status, kind)));
    this.#tellLater(server, kind, { reading, shown: shown.list?.items ?? [] });
    return { ...shown, isProvisional: true };
  }

  /** Rules judge an item as everybody is shown it, too; where there are none, that is not looked at. */
  async #commonItems(server: string, kind: ListKind): Promise<readonly Params[] | undefined> {
    const { access, catalogs, waitMs } = this.#options;
    if (access.isOpen(thingOf(kind), server)) return undefined;
    const current = catalogs.of(server).common.current(kind);
    return (await within(current, waitMs).catch(() => undefined))?.items;
  }

  /** The caller was shown something else in its place, and is told when it is there. */
  #tellLater(server: string, kind: ListKind, { reading, shown }: { reading: Reading; shown: readonly Params[] }): void {
    reading.list.then(
      ({ items }) => {
        if (!isDeepStrictEqual(items, shown)) this.#options.catalogs.tell({ server, lists: [changeOf(kind)] });
      },
      () => {},
    );
  }

  /** An old list is better than none, if it is said how old. */
  #without(server: string, known: KnownList | undefined, thrown: unknown): Part {
    const error = this.#options.failures.report(thrown, { server });
    const { mayHaveReached: _, ...facts } = dataFor(error);
    const missing: Unavailable = { server, reason: wordsFor(error), ...facts };
    if (known) missing.ageMs = Math.round(known.freshness.ageMs);
    return { server, list: known, missing };
  }
}

/** Where it differs from everybody's, nobody who declares something else may be given it. */
function partOfSet(server: string, list: KnownList, common: readonly Params[] | undefined): Part {
  return { server, list, missing: undefined, isOwn: list.items !== list.beside, common };
}

/** How long a list still waits for a reading that others may have begun. */
function patienceFor({ startedAt }: Reading, waitMs: number): number {
  return startedAt + waitMs - performance.now();
}

/** The least and the strictest of the parts. */
function freshnessOf(parts: readonly Part[], isSameForAll: boolean): { ttlMs: number; cacheScope: CacheScope } {
  const isComplete =
    parts.length > 0 && parts.every(({ list, missing, isProvisional }) => list && !missing && !isProvisional);
  if (!isComplete) return { ttlMs: 0, cacheScope: "private" };
  const all = parts.flatMap(({ list }) => list?.freshness ?? []);
  const ttlMs = Math.floor(Math.min(...all.map(({ remainingMs }) => remainingMs)));
  const isPublic = isSameForAll && !parts.some(({ isOwn }) => isOwn) && all.every(({ scope }) => scope === "public");
  // No server has such a list: nothing says for how long.
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
