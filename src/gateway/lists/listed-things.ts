import type { AccessTarget } from "../../host/directory/access-target.ts";
import { readPages, usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { SILENT } from "../../text/logger.ts";
import { sha256 } from "../../text/digest.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { CallRunner } from "../calls/upstream-call.ts";
import { CallerCapabilities } from "./declared-lists.ts";
import type { Catalogs } from "./catalogs.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import { type KnownList, offeredTools } from "./list-reader.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import type { ListSet } from "./list-cache.ts";
import { listedTarget, nameOf } from "../access/narrowed.ts";
import type { ListHashes, Pins } from "../../host/definitions/pins.ts";
import { capabilitiesFor, NO_CAPABILITIES } from "../calls/upstream-leases.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { KnownPrincipal, principalKey, type Principal } from "../../server/core/principal.ts";

/** The lists whose items are used by name. Where there are rules, an item that is not listed cannot be used. */
type NamedList = "tools" | "prompts";

interface ListedThingsOptions {
  catalogs: Catalogs;
  run: CallRunner["run"];
  pins: Pins;
  /** The list of the caller's own process, if it differs from the list for all. */
  ownList: (kind: ListKind, server: string, exchange: GatewayExchange) => Promise<KnownList> | undefined;
}

/** The items of one server's list that one caller was shown at that server's endpoint. */
interface Shown {
  server: string;
  kind: NamedList;
  things: Map<string, AccessTarget>;
  /** Whether all pages were read, and no call was made since that could have changed them. */
  isWhole: boolean;
}

type ListedItems = Pick<KnownList, "items" | "hashes" | "searched">;

/** A page of a list as the server sent it. */
export interface NotedPage {
  items: readonly Params[];
  isLast: boolean;
  /** The hashes of its definitions, if they were compared. */
  hashes: ListHashes | undefined;
}

/** How long a list that a caller was shown is used for decisions. */
const BELIEVED_MS = 15_000;
/** Maximum number of such lists. */
const MAX_SHOWN = 1_000;
const MAX_THINGS = 20_000;

/**
 * Finds how servers list a thing that a caller wants to use. Rules decide a use by its listing. A server may list the
 * same thing differently for other capabilities, so every listing counts.
 */
export class ListedThings {
  readonly #options: ListedThingsOptions;
  readonly #shown = new ExpiringMap<Shown>(BELIEVED_MS, () => {});
  /** Of each principal's last call: the next one is mostly like it, and a text that was looked up before is found sooner. */
  readonly #lastKeys = new WeakMap<Principal, ShownKey>();
  /** By the items of a list, which are replaced as a whole. */
  readonly #targets = new WeakMap<readonly Params[], Map<string, AccessTarget>>();
  readonly #stop: () => void;

  constructor(options: ListedThingsOptions) {
    this.#options = options;
    this.#stop = options.catalogs.on(({ server, lists }) => {
      this.#shown.takeAll((shown) => shown.server === server && lists.includes(changeOf(shown.kind)));
    });
  }

  close(): void {
    this.#stop();
    this.#shown.takeAll();
  }

  /** Every listing that this caller can see; empty if there is none. A promise only if something may have to be read. */
  find(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): readonly AccessTarget[] | Promise<readonly AccessTarget[]> {
    return this.findKnown(kind, server, name, exchange) ?? this.#findOrRead(kind, server, name, exchange);
  }

  /** The same, only if nothing has to be read. The usual case of each call: the lists are known and have it. */
  findKnown(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): readonly AccessTarget[] | undefined {
    const list = this.#options.catalogs.of(server).common.findCurrent(kind);
    const common = list && this.#targetsIn(list, kind, server).get(name);
    if (!common || (this.#options.pins.concerns(server) && this.#isChanging(server))) return undefined;
    // An API lists the same to all, and these not to every caller.
    if (common.isWay === true || common.through !== undefined) return [common];
    if (exchange.endpoint.kind !== "one") {
      const isForAll = Object.keys(exchange.caller.capabilities).length === 0;
      return isForAll && !this.#options.ownList(kind, server, exchange) ? [common] : undefined;
    }
    const shown = this.#shown.get(this.#keyOf(kind, server, exchange));
    const toCaller = shown?.things.get(name);
    if (!shown || !toCaller) return undefined;
    shown.isWhole = false;
    return [toCaller, common];
  }

  async #findOrRead(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): Promise<readonly AccessTarget[]> {
    if (this.#isChanging(server)) await this.#options.catalogs.settled(server);
    if (this.#options.catalogs.isApi(server)) {
      const listed = await this.findCommon(kind, server, name);
      if (listed && isOfSearching(listed)) return [listed];
    }
    if (exchange.endpoint.kind === "one") {
      const toCaller = await this.#findShown(kind, server, name, exchange);
      if (!toCaller) return [];
      const common = await this.findCommon(kind, server, name).catch(() => undefined);
      return common ? [toCaller, common] : [toCaller];
    }
    const common = await this.findCommon(kind, server, name);
    const own = await this.#options.ownList(kind, server, exchange)?.catch(() => undefined);
    const shown = own
      ? this.#targetsIn(own, kind, server).get(name)
      : await this.#findDeclared(name, { kind, server, exchange, common });
    return shown ? [shown, common ?? shown] : [];
  }

  /** Resolves when what the server has reported as changed is read, and all lists that were read are compared. */
  async compared(server: string): Promise<void> {
    const { catalogs, pins } = this.#options;
    await catalogs.settled(server);
    await pins.settled(server);
  }

  /** How the host sees a resource or template; undefined if it is not listed: it may belong to a template. */
  async findResource(server: string, uri: string): Promise<{ list: ListKind; target: AccessTarget } | undefined> {
    const { catalogs } = this.#options;
    await catalogs.settled(server);
    for (const list of ["resources", "resourceTemplates"] as const) {
      const target = this.#targetsIn(await catalogs.of(server).common.current(list), list, server).get(uri);
      if (target) return { list, target };
    }
    return undefined;
  }

  /** All listings of an API's tools that the host sees, with those that are found by searching. */
  async commonTools(server: string): Promise<ReadonlyMap<string, AccessTarget>> {
    const { common } = this.#options.catalogs.of(server);
    return this.#targetsIn(await common.current("tools"), "tools", server);
  }

  /** The listing that the host sees. */
  async findCommon(kind: NamedList, server: string, name: string): Promise<AccessTarget | undefined> {
    return this.#newestTarget(this.#options.catalogs.of(server).common, kind, server, name);
  }

  /** The listing in any known list: for all, or for certain capabilities. */
  async findAny(kind: NamedList, server: string, name: string): Promise<AccessTarget | undefined> {
    const common = await this.findCommon(kind, server, name);
    if (common) return common;
    for (const list of this.#options.catalogs.of(server).known(kind)) {
      const found = this.#targetsIn(list, kind, server).get(name);
      if (found) return found;
    }
    return undefined;
  }

  /** The listing for this caller's capabilities; if that is unknown, the listing for all. */
  async #findDeclared(
    name: string,
    {
      kind,
      server,
      exchange,
      common,
    }: { kind: NamedList; server: string; exchange: GatewayExchange; common: AccessTarget | undefined },
  ): Promise<AccessTarget | undefined> {
    const { caller, principal, signal } = exchange;
    const declared = new CallerCapabilities(caller);
    if (declared.isEmpty) return common;
    const catalog = this.#options.catalogs.of(server);
    const set = declared.of((await catalog.nature({ signal })).era);
    const lists = set && catalog.listsFor(set, principal);
    if (!lists) return common;
    try {
      return await this.#newestTarget(lists, kind, server, name);
    } catch {
      return common;
    }
  }

  /** Remembers a page that a caller is shown at a server's endpoint, before it is narrowed. */
  note(kind: ListKind, server: string, { items, isLast, hashes }: NotedPage, exchange: GatewayExchange): void {
    if (kind !== "tools" && kind !== "prompts") return;
    const isFirst = exchange.params["cursor"] === undefined;
    const before = isFirst ? undefined : this.#shown.get(this.#keyOf(kind, server, exchange));
    const shown = before ?? { server, kind, things: new Map(), isWhole: false };
    shown.isWhole = isLast && (isFirst || before !== undefined);
    this.#keep(shown, { items, hashes }, exchange);
  }

  async #findShown(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): Promise<AccessTarget | undefined> {
    const shown = this.#shown.get(this.#keyOf(kind, server, exchange));
    const found = shown?.things.get(name);
    if (shown?.isWhole && !found) return undefined;
    // The call may add items to the list.
    if (shown) shown.isWhole = false;
    if (found) return found;
    const method = LIST_METHODS[kind];
    const { capabilities } = await this.#options.catalogs.of(server).nature({ signal: exchange.signal });
    if (!capabilities[changeOf(kind)]) return undefined;
    const asking = askingFor(method, exchange);
    const listed = await readPages(method, kind, (params = {}) =>
      this.#options.run({ server, method, params, exchange: asking }),
    );
    const { pins } = this.#options;
    const hashes = pins.watches(server)
      ? await pins.compare({ server, kind, isCommon: false, items: listed })
      : undefined;
    const all = usableItems(kind, listed, { server, logger: SILENT });
    const items = kind === "tools" ? offeredTools(all, () => {}).tools : all;
    const { things } = this.#keep({ server, kind, things: new Map(), isWhole: true }, { items, hashes }, exchange);
    return things.get(name);
  }

  #keep(
    shown: Shown,
    { items, hashes }: { items: readonly Params[]; hashes: ListHashes | undefined },
    exchange: GatewayExchange,
  ): Shown {
    const { kind, server, things } = shown;
    for (const item of items) {
      // A list may have no end, so no more is kept. An item beyond the limit is looked up, and refused if it is not
      // found.
      if (things.size >= MAX_THINGS) {
        shown.isWhole = false;
        break;
      }
      const name = nameOf(kind, item);
      // If two items have the same name, the first one is offered. Schemas can be large, and no rule for one server reads them.
      if (!things.has(name)) {
        things.set(name, { ...listedTarget(kind, server, item, hashes?.get(name)), inputSchema: undefined });
      }
    }
    if (this.#shown.size >= MAX_SHOWN) this.#shown.takeOldest(() => true);
    this.#shown.set(this.#keyOf(kind, server, exchange), shown);
    return shown;
  }

  async #newestTarget(
    lists: ListSet,
    kind: NamedList,
    server: string,
    name: string,
  ): Promise<AccessTarget | undefined> {
    const known = await lists.current(kind);
    const found = this.#targetsIn(known, kind, server).get(name);
    if (found || known.freshness.isFresh) return found;
    // The item may be newer than the list.
    return this.#targetsIn(await lists.read(kind).list, kind, server).get(name);
  }

  #targetsIn(list: ListedItems, kind: ListKind, server: string): Map<string, AccessTarget> {
    const known = this.#targets.get(list.items);
    if (known) return known;
    const targets = targetsOf(list, kind, server);
    this.#targets.set(list.items, targets);
    return targets;
  }

  #keyOf(kind: NamedList, server: string, { principal, caller }: GatewayExchange): string {
    const { owner } = caller;
    const isAsked = caller.ask !== undefined;
    const declared = declaredText(capabilitiesFor(caller));
    const last = this.#lastKeys.get(principal);
    const isSame = last?.owner === owner && last.server === server && last.kind === kind && last.declared === declared;
    if (isSame && last.isAsked === isAsked) return last.text;
    const key = principalKey(principal);
    // Only the last part can be any text.
    const text = `${kind} ${server} ${isAsked ? "asked" : "told"} ${owner.length} ${key}${owner}${declared}`;
    if (principal instanceof KnownPrincipal)
      this.#lastKeys.set(principal, { kind, server, isAsked, owner, declared, text });
    return text;
  }

  /** Whether a pinned server has just reported a change: it is compared before the next call. */
  #isChanging(server: string): boolean {
    const { pins, catalogs } = this.#options;
    return pins.concerns(server) && catalogs.settled(server) !== undefined;
  }
}

/** A tool that finds, describes or calls others, or that is found by searching. */
function isOfSearching({ isWay, through }: AccessTarget): boolean {
  return isWay === true || through !== undefined;
}

/** If two items have the same name, the first one is offered. */
function targetsOf(
  { items, hashes, searched }: ListedItems,
  kind: ListKind,
  server: string,
): Map<string, AccessTarget> {
  const targets = new Map<string, AccessTarget>();
  for (const item of items) {
    const name = nameOf(kind, item);
    if (!targets.has(name)) targets.set(name, listedTarget(kind, server, item, hashes.get(name), searched));
  }
  for (const target of searched ?? []) if (!targets.has(target.name)) targets.set(target.name, target);
  return targets;
}

/** What tells apart the lists that callers were shown: calls with different capabilities may see different ones. */
interface ShownKey {
  kind: NamedList;
  server: string;
  isAsked: boolean;
  owner: string;
  declared: string;
  text: string;
}

/** Longer declarations are hashed, because callers choose how long theirs are. */
const MAX_DECLARED = 256;

/** Most callers declare nothing. */
function declaredText(capabilities: ClientCapabilities): string {
  if (capabilities === NO_CAPABILITIES) return "{}";
  const text = JSON.stringify(capabilities);
  return text.length > MAX_DECLARED ? sha256(text) : text;
}

/** A request of the gateway itself on the caller's connection; its progress and logs are not passed to the caller. */
function askingFor(method: string, exchange: GatewayExchange): GatewayExchange {
  const silent = { logLevel: undefined, progressToken: undefined, pause: undefined };
  return { ...exchange, method, params: {}, caller: { ...exchange.caller, ...silent } };
}
