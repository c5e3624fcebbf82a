import { SILENT, type Logger } from "../text/logger.ts";
import { unknownName } from "../host/directory/unknown-name.ts";
import type { Host } from "../host/host.ts";
import { hasOwnConnections } from "../host/servers/lease-keys.ts";
import { isConnected } from "../host/servers/server-state.ts";
import type { Params, Result } from "../protocol/json-rpc.ts";
import type { Implementation } from "../protocol/mcp.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import type { GatewayResources } from "./operation/gateway-resources.ts";
import { FailureLog } from "./operation/failure-log.ts";
import type { Core, Listening, Offer } from "../server/core/core.ts";
import type { GatewayExchange, GatewayListenRequest, View } from "./names/view.ts";
import { CalledTools } from "./requests/called-tools.ts";
import {
  GatewayRequest,
  targetOf,
  type AskedRequest,
  type EndpointExchange,
  type Next,
  type ResolvedRequest,
  type ResolvedTarget,
} from "./requests/request.ts";
import { SearchView, type SearchViewOptions } from "./requests/search-view.ts";
import { Selection } from "./requests/selection.ts";
import { SetSelections, type TenantSets } from "./requests/set-selections.ts";
import type { Views } from "./requests/views.ts";
import { hostStages } from "./stages/stages.ts";
import { ownerKey, type Principal } from "../server/core/principal.ts";
import { Cursors, type AggregateOptions } from "./lists/merged-lists.ts";
import { tellWaiting, type CallRunner, type UpstreamCall } from "./calls/upstream-call.ts";
import { Catalogs } from "./lists/catalogs.ts";
import { changeOf, type ListKind } from "../protocol/list-kinds.ts";
import { versionIn, type KnownList } from "./lists/list-reader.ts";
import { ListedThings } from "./lists/listed-things.ts";
import { ServersListening } from "./changes/listening.ts";
import type { NamedThing, Own } from "./names/names.ts";
import { listedTarget, nameOf } from "./access/narrowed.ts";
import { GATEWAY_INFO, offerOfAll, offerOfOne, offerOfSearch, offerOfSet, offerWithOwn } from "./lists/offer.ts";
import { OwnerChanges } from "./changes/owner-changes.ts";
import { PassedLists } from "./lists/own-lists.ts";
import { PrincipalAccess, type AccessRules } from "./access/principal-access.ts";
import type { Seal } from "../server/core/seal.ts";
import { within } from "../async/within.ts";
import { RecentMap } from "../async/recent-map.ts";

/** For one server. The least recently noted are forgotten: then it is not known what they have seen. */
const MAX_OWNERS = 10_000;
/** Names of clients for one principal. */
const MAX_CLIENTS = 32;

/** `decide` narrows who may see and use what, beside the host's policy; it is read each time. */
export interface GatewayCoreOptions extends AccessRules {
  /** In place of the rules that are given here, where they may come and go. */
  rules?: AccessRules | undefined;
  host: Host;
  calls: CallRunner;
  seal: Seal;
  logger?: Logger | undefined;
  /** Logs why a server is missing in a list. */
  failures?: FailureLog | undefined;
  /** How long a list of all servers waits for one of them: 2 seconds. */
  waitMs?: number | undefined;
  /** The same for a server that was never seen, if the caller is not told later: as long as for the others. */
  firstWaitMs?: number | undefined;
  /** Items on a page of such a list: 500. */
  pageSize?: number | undefined;
  /** The sets of the tenant whose host it is. */
  sets?: TenantSets | undefined;
  resources?: GatewayResources | undefined;
}

const NO_HEADERS: readonly ParamHeader[] = [];
const NO_TARGET: ResolvedTarget = { kind: "nothing", problem: () => unknownName("set", "") };

/** The core of the gateway: finds the server of a request, checks access, and answers with a list or a call. */
export class GatewayCore implements Views {
  readonly #host: Host;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #waitMs: number;
  readonly #catalogs: Catalogs;
  /** Of the endpoints of all servers, and of one. */
  readonly #everything: Selection;
  readonly #searchOptions: SearchViewOptions;
  #searchView: SearchView | undefined;
  readonly #sets: SetSelections;
  readonly #one: PassedLists;
  readonly #owners: OwnerChanges;
  readonly #listed: ListedThings;
  readonly #resources: GatewayResources | undefined;
  readonly #seen = new SeenVersions();
  readonly #listenings = new Set<ServersListening>();
  readonly #stages: Next;

  constructor(options: GatewayCoreOptions) {
    const { host, calls, logger = SILENT, waitMs = 2_000, pageSize = 500, rules = options } = options;
    const firstWaitMs = Math.max(waitMs, options.firstWaitMs ?? 0);
    this.#host = host;
    this.#calls = calls;
    this.#logger = logger;
    this.#waitMs = waitMs;
    this.#resources = options.resources;
    const access = new PrincipalAccess(host.policy, rules, { pins: host.pins });
    const catalogs = (this.#catalogs = new Catalogs(host, logger));
    const cursors = new Cursors(options.seal);
    const owners = (this.#owners = new OwnerChanges({
      calls,
      logger,
      pins: host.pins,
      prefixOf: (server) => host.find(server)?.definition.prefix,
    }));
    catalogs.on((changed) => owners.expire(changed));
    const ownList: AggregateOptions["ownList"] = (kind, server, { principal, caller }) =>
      owners.isUsed
        ? owners.findList(ownerKey(principal, caller.owner), kind, server, { principal, caller })
        : undefined;
    const failures = options.failures ?? new FailureLog(logger);
    const pass = this.#pass;
    const listed = (this.#listed = new ListedThings({ catalogs, run: pass, ownList, pins: host.pins }));
    this.#one = new PassedLists({ catalogs, run: pass, access, pins: host.pins, listed, cursors, logger });
    const onShown = this.#seen.note.bind(this.#seen);
    const isTold: AggregateOptions["isTold"] = (exchange, list) => this.#isTold(exchange, list);
    const waiting = { waitMs, firstWaitMs, isTold };
    const shared = { host, catalogs, onShown, cursors, ownList, failures, ...waiting, pageSize, listed, calls, logger };
    this.#everything = new Selection(access, shared);
    this.#stages = hostStages({
      resources: options.resources,
      calls,
      calledTools: new CalledTools(catalogs, listed),
      resolve: ({ exchange }) => this.resolve(exchange),
      pass,
      page: (list, exchange, selection) =>
        list === "tools" && exchange.endpoint.search
          ? this.#search.list(exchange, selection)
          : this.#page(list, exchange, selection),
      search: (tool, exchange, selection) => this.#search.answer(tool, exchange, selection),
    });
    this.#searchOptions = {
      host,
      catalogs,
      listed,
      cursors,
      page: (exchange, selection) => this.#page("tools", exchange, selection),
      handle: (exchange) => this.handle(exchange),
      listsTool: (server, tool) => this.listsTool(server, tool),
    };
    this.#sets = new SetSelections({ ...shared, everything: access, rules, sets: options.sets });
  }

  /** Made when a search view is first used. */
  get #search(): SearchView {
    return (this.#searchView ??= new SearchView(this.#searchOptions));
  }

  reaches(principal: Principal, view: View): boolean {
    if (view.kind === "set") return this.#sets.find(view.name, principal) !== undefined;
    return view.kind === "all" || this.sees(principal, view.server);
  }

  sees(principal: Principal, server: string): boolean {
    return this.#everything.sees(server, principal);
  }

  resolve(asked: AskedRequest): ResolvedRequest {
    const selection = this.#findSelection(asked.endpoint, asked.principal);
    if (!selection) return { selection, target: NO_TARGET };
    const isSearch = asked.endpoint.search === true;
    return { selection, target: isSearch ? this.#search.targetOf(asked, selection) : targetOf(asked, selection) };
  }

  listsTool(server: string, tool: string): boolean {
    const known = this.#catalogs.of(server).known("tools");
    if (known.some(({ hashes }) => hashes.has(tool))) return true;
    const { tools, searched } = this.#host.offered(server);
    return [...tools, ...searched].some(({ name }) => name === tool);
  }

  async offer(view: View, principal: Principal): Promise<Offer> {
    const offer = await this.#offerOf(view, principal);
    return view.search ? offerOfSearch(offer) : offer;
  }

  async #offerOf(view: View, principal: Principal): Promise<Offer> {
    const selection = this.#selectionOf(view, principal);
    if (view.kind === "one") {
      const status = selection.get(view.server, principal);
      const own = offerOfOne(status, await this.#catalogs.of(view.server).introduction());
      const offer = view.search ? offerWithOwn("tools", own) : own;
      return this.#ownResources(principal) ? offerWithOwn("resources", offer) : offer;
    }
    const shown = selection.lists.shownTo(principal);
    // No server is started for this: what it adds can be reported when it is connected.
    const isDown = (id: string) => this.#catalogs.downBecause(id) !== undefined;
    const running = shown.filter(({ id, state }) => isConnected(state) || (state.kind === "starting" && !isDown(id)));
    const natures = running.map(({ id }) =>
      this.#catalogs
        .of(id)
        .nature({ canWait: true })
        .catch(() => undefined),
    );
    const known = await Promise.all(natures.map((nature) => within(nature, this.#waitMs)));
    const there = known.filter((nature) => nature !== undefined);
    return selection.set ? offerOfSet(selection.set, there) : offerOfAll(shown, there);
  }

  serverInfo(view: View): Implementation | undefined {
    if (view.kind === "set") return this.#sets.serverInfo(view.name);
    return view.kind === "all" ? GATEWAY_INFO : this.#catalogs.of(view.server).serverInfo;
  }

  async handle(exchange: EndpointExchange): Promise<Result> {
    return this.#stages(GatewayRequest.of(exchange));
  }

  async listen(request: GatewayListenRequest): Promise<Listening> {
    const { view, principal, owner } = request;
    const selection = this.#selectionOf(view, principal);
    if (view.kind === "one") selection.get(view.server, principal);
    const listening = await ServersListening.open(request, {
      host: this.#host,
      calls: this.#calls,
      catalogs: this.#catalogs,
      findSelection: view.kind === "set" ? () => this.#findSelection(view, principal) : () => selection,
      onSetsChanged: (listener) => this.#sets.onChanged(listener),
      owners: this.#owners,
      ownerKey: ownerKey(principal, owner),
      logger: this.#logger,
      onClosed: (closed) => this.#listenings.delete(closed),
    });
    this.#listenings.add(listening);
    return listening;
  }

  paramHeaders(exchange: EndpointExchange): ReturnType<Core["paramHeaders"]> {
    // Its caller was shown no definition but that of call_tool.
    if (exchange.endpoint.search) return NO_HEADERS;
    const request = GatewayRequest.of(exchange);
    const { selection, target } = (request.resolved ??= this.resolve(exchange));
    if (!selection || target.kind !== "thing") return NO_HEADERS;
    const { server, name } = target.thing;
    const isThere = exchange.endpoint.kind !== "one" || this.#host.find(server) !== undefined;
    const catalog = isThere ? this.#catalogs.of(server) : undefined;
    const known = catalog?.common.findCurrent("tools");
    // In the usual case nothing has to be asked: whether the caller may know of the tool makes no difference.
    if (known?.headers.has(name) === false && !catalog?.hasSets) return NO_HEADERS;
    return selection.sees(server, exchange.principal) ? this.#headersOf(target.thing, exchange, selection) : NO_HEADERS;
  }

  #declaredFor(server: string, name: string, { headers }: KnownList): readonly ParamHeader[] | undefined {
    return headers.get(name) ?? this.#catalogs.of(server).declaredHeaders(name);
  }

  /** If the tools cannot be read, the call fails: headers that could not be compared must not count as compared. */
  async #headersOf(
    { server, name }: NamedThing,
    { principal }: EndpointExchange,
    selection: Selection,
  ): Promise<readonly ParamHeader[]> {
    const declared = this.#declaredFor(server, name, await this.#catalogs.of(server).common.current("tools"));
    if (!declared) return NO_HEADERS;
    const { access } = selection;
    return access.isOpen("tool", server) ? declared : this.#headersSeen({ server, own: name }, selection, principal);
  }

  release(owner: string): void {
    this.#calls.release(owner);
  }

  async close(): Promise<void> {
    this.#listed.close();
    this.#catalogs.close();
    this.#sets.close();
    await Promise.all([...this.#listenings].map((listening) => listening.close()));
  }

  /** Whether the caller hears of changes after it was shown a list. What is sent on a pipe may not be read by anybody. */
  #isTold(exchange: GatewayExchange, list: ListKind): boolean {
    const { era, hearsChanges } = exchange.caller;
    if (era === "legacy") return hearsChanges?.() ?? false;
    return [...this.#listenings].some((listening) => listening.tells(exchange, changeOf(list)));
  }

  /** An unknown set, or one that the principal may not use, has none. */
  #findSelection(view: View, principal: Principal): Selection | undefined {
    return view.kind === "set" ? this.#sets.find(view.name, principal) : this.#everything;
  }

  #selectionOf(view: View, principal: Principal): Selection {
    if (view.kind !== "set") return this.#everything;
    const selection = this.#sets.find(view.name, principal);
    if (!selection) throw unknownName("set", view.name);
    return selection;
  }

  async #page(list: ListKind, exchange: GatewayExchange, selection: Selection): Promise<Result> {
    const { endpoint: view } = exchange;
    return view.kind === "one"
      ? this.#pageOfOne(list, view.server, exchange, selection)
      : this.#withOwn(list, exchange, selection.lists.page(list, exchange));
  }

  async #pageOfOne(list: ListKind, server: string, exchange: GatewayExchange, selection: Selection): Promise<Result> {
    const status = selection.get(server, exchange.principal);
    const isOfResources = changeOf(list) === "resources";
    const own = isOfResources ? this.#ownResources(exchange.principal) : undefined;
    if (own && !(await this.#one.isOffered(list, server, exchange.signal))) return onlyOwn(list, own);
    const page = await this.#one.page(list, status, exchange);
    if (own && list === "resources") return withOwn(page, own);
    const version = list === "tools" && this.#isApi(server) ? versionIn(page) : undefined;
    if (version !== undefined) this.#seen.note(exchange, server, version);
    return page;
  }

  /** Whether the server is made of an API in this process: its tools may change while callers have seen earlier ones. */
  #isApi(server: string): boolean {
    return this.#catalogs.isApi(server);
  }

  /** The resources of the gateway itself follow those of the servers. */
  async #withOwn(
    list: ListKind,
    { endpoint: view, principal }: GatewayExchange,
    page: Promise<Result>,
  ): Promise<Result> {
    const own = list === "resources" && view.kind === "all" ? this.#ownResources(principal) : undefined;
    return own ? withOwn(await page, own) : page;
  }

  /** Undefined where the principal has none. */
  #ownResources(principal: Principal): readonly Params[] | undefined {
    const own = this.#resources?.list(principal) ?? [];
    return own.length > 0 ? own : undefined;
  }

  /** The hash of what is used, as the list for all has it: at the endpoint of one server, the gateway may not have read it. */
  #findHash({ server, method, params: { name } }: UpstreamCall): string | undefined {
    const kind = method === "tools/call" ? "tools" : method === "prompts/get" ? "prompts" : undefined;
    if (kind === undefined || typeof name !== "string") return undefined;
    return (
      this.#catalogs.of(server).common.find(kind)?.hashes.get(name) ?? this.#host.definitionHash(server, kind, name)
    );
  }

  /** No headers are compared for a tool that the principal may not see, because comparing would show that it exists. */
  #headersSeen({ server, own: name }: Own, { access, set }: Selection, principal: Principal): readonly ParamHeader[] {
    for (const { items, headers } of this.#catalogs.of(server).known("tools")) {
      const item = items.find((tool) => nameOf("tools", tool) === name);
      if (!item) continue;
      const isSeen = access.allows(principal, listedTarget("tools", server, item));
      const sent = (isSeen ? headers.get(name) : undefined) ?? NO_HEADERS;
      return set ? sent.filter(({ path: [argument] }) => !set.isFixed(server, name, argument)) : sent;
    }
    return NO_HEADERS;
  }

  /**
   * Uses the caller's own connection. If the caller has a subscription, changes of this connection are followed from
   * now on.
   */
  readonly #pass = (call: UpstreamCall): Promise<Result> => {
    if (call.method === "tools/call" && this.#catalogs.isApi(call.server))
      call.seen = this.#seen.find(call.exchange, call.server);
    const { receipt } = call.exchange;
    if (receipt && receipt.definition === undefined) receipt.definition = this.#findHash(call);
    if (!this.#owners.isUsed) return this.#calls.run(call);
    const { principal, caller } = call.exchange;
    const key = ownerKey(principal, caller.owner);
    const status = this.#owners.isListening(key) ? this.#host.find(call.server) : undefined;
    if (!status || !hasOwnConnections(status.state, status.definition)) return this.#calls.run(call);
    return this.#passHeard(call, key);
  };

  /** Kept during the call: otherwise its process could be stopped for another one before the call. */
  async #passHeard(call: UpstreamCall, key: string): Promise<Result> {
    const { principal, caller, signal } = call.exchange;
    const onWait = (reason: string) => tellWaiting(caller, reason);
    using _heard = await this.#owners.hear(key, call.server, { principal, caller, onWait }, signal);
    return await this.#calls.run(call);
  }
}

/** The gateway's own resources follow those of the servers. One server may be a gateway with resources of the same URIs. */
function withOwn(page: Result, own: readonly Params[]): Result {
  const uris = new Set(own.map(({ uri }) => uri));
  const theirs = (page["resources"] as Params[]).filter(({ uri }) => !uris.has(uri));
  return { ...page, cacheScope: "private", resources: page["nextCursor"] === undefined ? [...theirs, ...own] : theirs };
}

/** For a server without resources. */
function onlyOwn(list: ListKind, own: readonly Params[]): Result {
  return { resultType: "complete", [list]: list === "resources" ? own : [], ttlMs: 0, cacheScope: "private" };
}

type Asking = Pick<GatewayExchange, "caller">;

/**
 * Which state of a server's tools each caller has seen in its last list. A caller is a session or, where there is none, a
 * principal with the name of its client. Maps inside of maps, because a joined key would cost more than the rest of a call.
 */
class SeenVersions {
  /** By server, owner of connections (a session or a principal), and name of the client. */
  readonly #noted = new Map<string, RecentMap<string, Map<string, string>>>();

  note({ caller }: Asking, server: string, version: string): void {
    const owners = this.#noted.get(server) ?? new RecentMap<string, Map<string, string>>({ most: MAX_OWNERS });
    const clients = owners.get(caller.owner) ?? new RecentMap<string, string>({ most: MAX_CLIENTS });
    this.#noted.set(server, owners);
    clients.set(clientOf(caller), version);
    owners.set(caller.owner, clients);
  }

  /** Empty if it is not known. */
  find({ caller }: Asking, server: string): string {
    return this.#noted.get(server)?.get(caller.owner)?.get(clientOf(caller)) ?? "";
  }
}

/** A session has one client. */
function clientOf({ era, client }: Asking["caller"]): string {
  return era === "modern" ? (client?.name ?? "") : "";
}
