import { SILENT, type Logger } from "../text/logger.ts";
import { unknownNameWithAdvice } from "../host/directory/unknown-name.ts";
import type { Host, ServerStatus } from "../host/host.ts";
import type { Result } from "../protocol/json-rpc.ts";
import type { Implementation } from "../protocol/mcp.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import { FailureLog } from "./operation/failure-log.ts";
import type { Listening, Offer } from "../server/core/core.ts";
import { EVERYTHING, type GatewayExchange, type GatewayListenRequest, type View, type Views } from "./names/view.ts";
import { ANYBODY, ownerKey, type Principal } from "../server/core/principal.ts";
import { AggregateLists, type AggregateOptions } from "./lists/aggregate-lists.ts";
import type { CallRunner, UpstreamCall } from "./upstream/call-runner.ts";
import { Catalogs } from "./lists/catalogs.ts";
import { Cursors } from "./lists/cursors.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import { isOneHop, listRequestedBy } from "../protocol/methods.ts";
import { ListedThings } from "./lists/listed-things.ts";
import { ServersListening } from "./changes/listening.ts";
import { resolveFullName } from "./names/names.ts";
import { listedTarget, nameOf } from "./access/narrowed.ts";
import { GATEWAY_INFO, offerOfAll, offerOfOne } from "./lists/offer.ts";
import { outwardResult } from "./names/outward.ts";
import { OwnerChanges } from "./changes/owner-changes.ts";
import { PassedLists } from "./lists/passed-lists.ts";
import { Permits } from "./calls/permits.ts";
import { PrincipalAccess, type Decide } from "./access/principal-access.ts";
import type { Seal } from "../server/core/seal.ts";
import { targetOf, unknownMethod, type KnownNames, type NamedThing, type ThingKind } from "./names/target.ts";
import { within } from "../async/within.ts";

export interface GatewayCoreOptions {
  host: Host;
  calls: CallRunner;
  seal: Seal;
  /** Narrows who may see and use what, beside the host's policy. */
  decide?: Decide | undefined;
  logger?: Logger | undefined;
  /** Where it is logged why a list lacks a server. */
  failures?: FailureLog | undefined;
  /** How long a list of all servers waits for one of them: 2 seconds. */
  waitMs?: number | undefined;
  /** Items on a page of such a list: 500. */
  pageSize?: number | undefined;
}

const NO_HEADERS: readonly ParamHeader[] = [];
const LIST_OF: Record<ThingKind, ListKind> = { tool: "tools", prompt: "prompts", resource: "resources" };

/** All servers of a host, behind the edges: which one is meant, who may, and what it is called for whom. */
export class GatewayCore implements Views {
  readonly #host: Host;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #waitMs: number;
  readonly #access: PrincipalAccess;
  readonly #catalogs: Catalogs;
  readonly #all: AggregateLists;
  readonly #one: PassedLists;
  readonly #owners: OwnerChanges;
  readonly #listed: ListedThings;
  readonly #permits: Permits;
  readonly #listenings = new Set<ServersListening>();
  readonly #passing = (call: UpstreamCall) => this.#pass(call);
  /** For callers who may know of every server. */
  readonly #names: KnownNames = {
    isServer: (id) => this.#host.find(id) !== undefined,
    serverOf: (prefix) => this.#host.directory.findIdByPrefix(prefix),
    candidates: (kind) => this.#candidates(kind, { endpoint: EVERYTHING, principal: ANYBODY }),
  };

  constructor(options: GatewayCoreOptions) {
    const { host, calls, logger = SILENT, waitMs = 2_000, pageSize = 500 } = options;
    this.#host = host;
    this.#calls = calls;
    this.#logger = logger;
    this.#waitMs = waitMs;
    const access = (this.#access = new PrincipalAccess(host.policy, options.decide));
    const catalogs = (this.#catalogs = new Catalogs(host, logger));
    const cursors = new Cursors(options.seal);
    const owners = (this.#owners = new OwnerChanges({
      calls,
      logger,
      prefixOf: (server) => host.find(server)?.definition.prefix,
    }));
    const ownList: AggregateOptions["ownList"] = (kind, server, { principal, caller }) =>
      owners.findList(ownerKey(principal, caller.owner), kind, server, { principal, caller });
    const failures = options.failures ?? new FailureLog(logger);
    this.#all = new AggregateLists({ host, catalogs, access, cursors, ownList, failures, waitMs, pageSize });
    const run = this.#passing;
    const listed = (this.#listed = new ListedThings({ catalogs, run, ownList }));
    this.#one = new PassedLists({ catalogs, run, access, listed, cursors, logger });
    const candidates = (kind: ThingKind, exchange: GatewayExchange) => this.#candidates(kind, exchange);
    this.#permits = new Permits({ access, listed, calls, candidates, logger });
  }

  sees(principal: Principal, server: string): boolean {
    return this.#find(server, principal) !== undefined;
  }

  serverOfPrefix(prefix: string): string | undefined {
    return this.#host.directory.findIdByPrefix(prefix);
  }

  async offer(view: View, principal: Principal): Promise<Offer> {
    if (view.kind === "one") {
      const status = this.#get(view.server, principal);
      return offerOfOne(status, await this.#catalogs.of(view.server).nature());
    }
    const shown = this.#all.shownTo(principal);
    // Nobody is started for it: a server that is not there yet adds nothing that could not be told later.
    const isDown = (id: string) => this.#catalogs.downBecause(id) !== undefined;
    const running = shown.filter(({ id, state }) => "era" in state || (state.kind === "starting" && !isDown(id)));
    const natures = running.map(({ id }) =>
      this.#catalogs
        .of(id)
        .nature({ canWait: true })
        .catch(() => undefined),
    );
    const known = await Promise.all(natures.map((nature) => within(nature, this.#waitMs)));
    const there = known.filter((nature) => nature !== undefined);
    return offerOfAll(shown, there);
  }

  serverInfo(view: View): Implementation | undefined {
    return view.kind === "all" ? GATEWAY_INFO : this.#catalogs.of(view.server).serverInfo;
  }

  async handle(exchange: GatewayExchange): Promise<Result> {
    const { endpoint: view, method, params } = exchange;
    if (isOneHop(method)) throw unknownMethod(method);
    const list = listRequestedBy(method);
    if (list) return this.#page(list, exchange);
    if (method.startsWith("tasks/")) return this.#askTask(exchange);
    const thing = targetOf(method, params, view, this.#namesFor(exchange));
    if (thing) return this.#use(thing, exchange);
    if (view.kind === "all") throw unknownMethod(method);
    // What is not known here may be an extension of the server's.
    const { id: server } = this.#get(view.server, exchange.principal);
    const call = { server, method, params, exchange };
    return this.#access.isOpen("method", server) ? this.#pass(call) : this.#permits.useMethod(call, this.#passing);
  }

  async listen(request: GatewayListenRequest): Promise<Listening> {
    const { view, principal, owner } = request;
    if (view.kind === "one") this.#get(view.server, principal);
    const listening = await ServersListening.open(request, {
      host: this.#host,
      calls: this.#calls,
      catalogs: this.#catalogs,
      access: this.#access,
      mayFollow: (task) => this.#permits.mayFollow(task, principal),
      owners: this.#owners,
      ownerKey: ownerKey(principal, owner),
      logger: this.#logger,
      onClosed: (closed) => this.#listenings.delete(closed),
    });
    this.#listenings.add(listening);
    return listening;
  }

  async paramHeaders(view: View, principal: Principal, tool: string): Promise<readonly ParamHeader[]> {
    const own = view.kind === "one" ? { server: view.server, own: tool } : resolveFullName(tool, this.#names.serverOf);
    if (!own || !this.sees(principal, own.server)) return NO_HEADERS;
    const { server, own: name } = own;
    // Where they cannot be read the call is refused: a header that was not compared must not pass for one that was.
    const catalog = this.#catalogs.of(server);
    const { headers } = catalog.common.findCurrent("tools") ?? (await catalog.common.current("tools"));
    if (!this.#access.isOpen("tool", server)) return this.#headersSeen(name, server, principal);
    return headers.get(name) ?? catalog.declaredHeaders(name) ?? NO_HEADERS;
  }

  release(owner: string): void {
    this.#calls.release(owner);
  }

  async close(): Promise<void> {
    this.#listed.close();
    this.#catalogs.close();
    await Promise.all([...this.#listenings].map((listening) => listening.close()));
  }

  #page(list: ListKind, exchange: GatewayExchange): Promise<Result> {
    const { endpoint: view, principal } = exchange;
    return view.kind === "all"
      ? this.#all.page(list, exchange)
      : this.#one.page(list, this.#get(view.server, principal), exchange);
  }

  async #use(thing: NamedThing, exchange: GatewayExchange): Promise<Result> {
    const { kind, params } = thing;
    const { method, endpoint: view, principal } = exchange;
    const { id: server } = this.#get(thing.server, principal);
    const result = await (this.#access.isOpen(kind, server)
      ? this.#pass({ server, method, params, exchange })
      : this.#permits.use(thing, exchange, this.#passing));
    const own = this.#access.isSameForAll ? result : asPrivate(result);
    return view.kind === "one" ? own : outwardResult(server, method, own);
  }

  /** A header that is compared shows that there is such a tool: none of one that the principal may not see is. */
  #headersSeen(name: string, server: string, principal: Principal): readonly ParamHeader[] {
    for (const { items, headers } of this.#catalogs.of(server).known("tools")) {
      const item = items.find((tool) => nameOf("tools", tool) === name);
      if (!item) continue;
      const isSeen = this.#access.allows(principal, listedTarget("tools", server, item));
      return (isSeen ? headers.get(name) : undefined) ?? NO_HEADERS;
    }
    return NO_HEADERS;
  }

  /** Over the caller's own connection, which is heard from then on if the caller listens. */
  async #pass(call: UpstreamCall): Promise<Result> {
    const { principal, caller, signal } = call.exchange;
    const key = ownerKey(principal, caller.owner);
    if (this.#owners.isListening(key) && isOwned(this.#get(call.server, principal))) {
      await this.#owners.hear(key, call.server, { principal, caller }, signal);
    }
    return this.#calls.run(call);
  }

  /** The id of a task tells whose it is. */
  async #askTask(exchange: GatewayExchange): Promise<Result> {
    const { endpoint: view, method, params, principal } = exchange;
    const task = this.#calls.findTask(params["taskId"], principal);
    const isHidden = task && !(await this.#permits.mayFollow(task, principal));
    // A hidden one takes the way of an id that means nothing.
    const asked = isHidden ? { ...params, taskId: "" } : params;
    const result = await this.#calls.run({ server: "", method, params: asked, exchange });
    return task && view.kind === "all" ? outwardResult(task.server, method, result) : result;
  }

  #namesFor(exchange: GatewayExchange): KnownNames {
    if (this.#access.showsAllServers) return this.#names;
    return {
      isServer: (id) => this.sees(exchange.principal, id),
      serverOf: (prefix) => {
        const server = this.#host.directory.findIdByPrefix(prefix);
        return server !== undefined && this.sees(exchange.principal, server) ? server : undefined;
      },
      candidates: (kind) => this.#candidates(kind, exchange),
    };
  }

  /** One server's names need not be guessed: it was listed to the caller under no others. */
  #candidates(
    kind: ThingKind,
    { endpoint: view, principal }: Pick<GatewayExchange, "endpoint" | "principal">,
  ): string[] {
    if (view.kind === "one") return [];
    return this.#all.known(LIST_OF[kind], principal).map(({ name, uri }) => String(kind === "resource" ? uri : name));
  }

  #find(server: string, principal: Principal): ServerStatus | undefined {
    const found = this.#host.find(server);
    return found && this.#access.sees(principal, server) ? found : undefined;
  }

  #get(server: string, principal: Principal): ServerStatus {
    const found = this.#find(server, principal);
    if (found) return found;
    const shown = this.#all.shownTo(principal).map(({ id }) => id);
    throw unknownNameWithAdvice("server", server, shown).with({ server });
  }
}

/** What one principal may read, another may not. */
function asPrivate(result: Result): Result {
  return result["cacheScope"] === "public" ? { ...result, cacheScope: "private" } : result;
}

/** Whether callers have connections of their own to this server, as far as that is known. */
function isOwned({ state, definition: { isolation, entry } }: ServerStatus): boolean {
  if (isolation !== "owner") return false;
  const isStateless = "era" in state && state.era === "modern" && entry?.reach.kind !== "stdio";
  return !isStateless;
}
