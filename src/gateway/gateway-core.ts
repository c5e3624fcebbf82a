import { SILENT, type Logger } from "../text/logger.ts";
import { unknownName } from "../host/directory/unknown-name.ts";
import type { Host } from "../host/host.ts";
import { hasOwnConnections } from "../host/servers/lease-keys.ts";
import { isConnected } from "../host/servers/server-state.ts";
import type { Params, Result } from "../protocol/json-rpc.ts";
import type { Implementation } from "../protocol/mcp.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import { findGatewayUri, type GatewayResources } from "./operation/gateway-resources.ts";
import { FailureLog } from "./operation/failure-log.ts";
import type { Listening, Offer } from "../server/core/core.ts";
import { EVERYTHING, type GatewayExchange, type GatewayListenRequest, type View, type Views } from "./names/view.ts";
import { ownerKey, type Principal } from "../server/core/principal.ts";
import type { AggregateOptions } from "./lists/aggregate-lists.ts";
import type { CallRunner, UpstreamCall } from "./upstream/call-runner.ts";
import { tellWaiting } from "./upstream/upstream-reports.ts";
import { Catalogs } from "./lists/catalogs.ts";
import { Cursors } from "./lists/cursors.ts";
import { changeOf, type ListKind } from "../protocol/list-kinds.ts";
import { isOneHop, listRequestedBy } from "../protocol/methods.ts";
import { versionIn } from "./lists/known-list.ts";
import { ListedThings } from "./lists/listed-things.ts";
import { SeenVersions } from "./calls/seen-versions.ts";
import { ServersListening } from "./changes/listening.ts";
import { fullName, type Own } from "./names/names.ts";
import { listedTarget, nameOf } from "./access/narrowed.ts";
import { GATEWAY_INFO, offerOfAll, offerOfOne, offerOfResources, offerOfSet } from "./lists/offer.ts";
import { outwardResult } from "./names/outward.ts";
import { OwnerChanges } from "./changes/owner-changes.ts";
import { PassedLists } from "./lists/passed-lists.ts";
import { PrincipalAccess, type AccessRules } from "./access/principal-access.ts";
import { SearchingTools } from "./searching-tools.ts";
import { Selection } from "./selection.ts";
import { SetSelections, type TenantSets } from "./set-selections.ts";
import type { Seal } from "../server/core/seal.ts";
import { targetOf, unknownMethod, type NamedThing, type ThingKind } from "./names/target.ts";
import { within } from "../async/within.ts";

/** `decide` narrows who may see and use what, beside the host's policy; it is read each time. */
export interface GatewayCoreOptions extends AccessRules {
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

/** The core of the gateway: finds the server of a request, checks access, and answers with a list or a call. */
export class GatewayCore implements Views {
  readonly #host: Host;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #waitMs: number;
  readonly #catalogs: Catalogs;
  /** Of the endpoints of all servers, and of one. */
  readonly #everything: Selection;
  readonly #sets: SetSelections;
  readonly #one: PassedLists;
  readonly #owners: OwnerChanges;
  readonly #listed: ListedThings;
  readonly #searching: SearchingTools;
  readonly #resources: GatewayResources | undefined;
  readonly #seen = new SeenVersions();
  readonly #listenings = new Set<ServersListening>();
  readonly #passing = (call: UpstreamCall) => this.#pass(call);

  constructor(options: GatewayCoreOptions) {
    const { host, calls, logger = SILENT, waitMs = 2_000, pageSize = 500 } = options;
    const firstWaitMs = Math.max(waitMs, options.firstWaitMs ?? 0);
    this.#host = host;
    this.#calls = calls;
    this.#logger = logger;
    this.#waitMs = waitMs;
    this.#resources = options.resources;
    const access = new PrincipalAccess(host.policy, options, { pins: host.pins });
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
      owners.findList(ownerKey(principal, caller.owner), kind, server, { principal, caller });
    const failures = options.failures ?? new FailureLog(logger);
    const run = this.#passing;
    const listed = (this.#listed = new ListedThings({ catalogs, run, ownList, pins: host.pins }));
    this.#searching = new SearchingTools(catalogs, listed);
    this.#one = new PassedLists({ catalogs, run, access, pins: host.pins, listed, cursors, logger });
    const onShown = this.#seen.note.bind(this.#seen);
    const isTold: AggregateOptions["isTold"] = (exchange, list) => this.#isTold(exchange, list);
    const waiting = { waitMs, firstWaitMs, isTold };
    const shared = { host, catalogs, onShown, cursors, ownList, failures, ...waiting, pageSize, listed, calls, logger };
    this.#everything = new Selection(access, shared);
    this.#sets = new SetSelections({ ...shared, everything: access, rules: options, sets: options.sets });
  }

  reaches(principal: Principal, view: View): boolean {
    if (view.kind === "set") return this.#sets.find(view.name, principal) !== undefined;
    return view.kind === "all" || this.sees(principal, view.server);
  }

  sees(principal: Principal, server: string, view = EVERYTHING): boolean {
    return this.#findSelection(view, principal)?.find(server, principal) !== undefined;
  }

  findFullName(view: View, kind: ThingKind, name: string): string | undefined {
    const own = view.kind === "set" ? this.#sets.findRenamed(view.name, kind, name) : undefined;
    return own && fullName(this.#host.find(own.server)?.definition.prefix ?? own.server, own.own);
  }

  serverOfPrefix(prefix: string): string | undefined {
    return this.#host.directory.findIdByPrefix(prefix);
  }

  listsTool(server: string, tool: string): boolean {
    const known = this.#catalogs.of(server).known("tools");
    if (known.some(({ hashes }) => hashes.has(tool))) return true;
    const { tools, searched } = this.#host.offered(server);
    return [...tools, ...searched].some(({ name }) => name === tool);
  }

  async offer(view: View, principal: Principal): Promise<Offer> {
    const selection = this.#selectionOf(view, principal);
    if (view.kind === "one") {
      const status = selection.get(view.server, principal);
      const offer = offerOfOne(status, await this.#catalogs.of(view.server).introduction());
      return this.#ownResources(principal) ? offerOfResources(offer) : offer;
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

  async handle(exchange: GatewayExchange): Promise<Result> {
    const { endpoint: view, method, params } = exchange;
    if (isOneHop(method)) throw unknownMethod(method);
    const selection = this.#selectionOf(view, exchange.principal);
    const list = listRequestedBy(method);
    if (list) return this.#page(list, exchange, selection);
    if (method.startsWith("tasks/")) return this.#askTask(exchange, selection);
    const own = this.#readOwn(exchange);
    if (own) return own;
    const thing = targetOf(method, params, view, selection.namesFor(exchange));
    if (thing) return this.#useNamed(thing, exchange, selection);
    if (view.kind !== "one") throw unknownMethod(method);
    // A method that the gateway does not know may be an extension of the server.
    const { id: server } = selection.get(view.server, exchange.principal);
    const call = { server, method, params, exchange };
    return selection.access.isOpen("method", server)
      ? this.#pass(call)
      : selection.permits.useMethod(call, this.#passing);
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

  async paramHeaders(view: View, principal: Principal, tool: string): Promise<readonly ParamHeader[]> {
    const selection = this.#findSelection(view, principal);
    const own = view.kind === "one" ? { server: view.server, own: tool } : selection?.findNamed("tool", tool);
    if (!selection || !own || !selection.find(own.server, principal)) return NO_HEADERS;
    const { server, own: name } = own;
    // If the tools cannot be read, the call fails: headers that could not be compared must not count as compared.
    const catalog = this.#catalogs.of(server);
    const { headers } = catalog.common.findCurrent("tools") ?? (await catalog.common.current("tools"));
    const declared = headers.get(name) ?? catalog.declaredHeaders(name);
    if (!declared) return NO_HEADERS;
    return selection.access.isOpen("tool", server) ? declared : this.#headersSeen(own, selection, principal);
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

  #page(list: ListKind, exchange: GatewayExchange, selection: Selection): Promise<Result> {
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

  /** A set is only what somebody chose for it. */
  #readOwn({ endpoint: view, principal, method, params }: GatewayExchange): Promise<Result> | undefined {
    const uri = view.kind === "set" ? undefined : findGatewayUri(method, params);
    return uri === undefined ? undefined : this.#resources?.read(principal, uri);
  }

  #useNamed(named: NamedThing, exchange: GatewayExchange, selection: Selection): Promise<Result> {
    const thing = selection.set?.prepare(named, exchange.method) ?? named;
    if (!this.#searching.concerns(thing)) return this.#use(thing, exchange, selection);
    // Who may not see the server learns nothing of its tools.
    selection.get(thing.server, exchange.principal);
    return this.#searching
      .resolve(thing, exchange, selection)
      .then((resolved) => this.#use(resolved, exchange, selection));
  }

  async #use(thing: NamedThing, exchange: GatewayExchange, selection: Selection): Promise<Result> {
    const { kind, params, shown } = thing;
    const { method, endpoint: view, principal } = exchange;
    const { id: server } = selection.get(thing.server, principal);
    const isOpen = selection.access.isOpen(kind, server);
    const result = await (isOpen
      ? this.#pass({ server, method, params, exchange, shown })
      : selection.permits.use(thing, exchange, this.#passing));
    const own = selection.access.isSameForAll ? result : asPrivate(result);
    return view.kind === "one" ? own : outwardResult(server, method, own);
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
  async #pass(given: UpstreamCall): Promise<Result> {
    const isSeen = given.method === "tools/call" && this.#isApi(given.server);
    const call = isSeen ? seenCall(given, this.#seen.find(given.exchange, given.server)) : given;
    const { receipt } = call.exchange;
    if (receipt && receipt.definition === undefined) receipt.definition = this.#findHash(call);
    const { principal, caller, signal } = call.exchange;
    const key = ownerKey(principal, caller.owner);
    if (!this.#owners.isListening(key)) return this.#calls.run(call);
    const status = this.#host.find(call.server);
    if (!status || !hasOwnConnections(status.state, status.definition)) return this.#calls.run(call);
    const onWait = (reason: string) => tellWaiting(caller, reason);
    // Kept during the call: otherwise its process could be stopped for another one before the call.
    using _heard = await this.#owners.hear(key, call.server, { principal, caller, onWait }, signal);
    return await this.#calls.run(call);
  }

  /** The id of a task contains its server. */
  async #askTask(exchange: GatewayExchange, { permits }: Selection): Promise<Result> {
    const { endpoint: view, method, params, principal } = exchange;
    const task = this.#calls.findTask(params["taskId"], principal);
    const isHidden = task && !(await permits.mayFollow(task, principal));
    // A hidden task is answered like an unknown id.
    const asked = isHidden ? { ...params, taskId: "" } : params;
    const result = await this.#calls.run({ server: "", method, params: asked, exchange });
    return task && view.kind !== "one" ? outwardResult(task.server, method, result) : result;
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

/** Other principals may not be allowed to read the result. */
function asPrivate(result: Result): Result {
  return result["cacheScope"] === "public" ? { ...result, cacheScope: "private" } : result;
}

/** A literal, because a copy of all members costs several times as much. */
function seenCall({ server, method, params, exchange, isConsented, shown }: UpstreamCall, seen: string): UpstreamCall {
  return { server, method, params, exchange, isConsented, seen, shown };
}
