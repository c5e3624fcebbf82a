import { SILENT, type Logger } from "../text/logger.ts";
import { unknownNameWithAdvice } from "../host/directory/unknown-name.ts";
import type { Host, ServerStatus } from "../host/host.ts";
import { hasOwnConnections } from "../host/servers/lease-keys.ts";
import { isConnected } from "../host/servers/server-state.ts";
import type { Result } from "../protocol/json-rpc.ts";
import type { Implementation } from "../protocol/mcp.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import { FailureLog } from "./operation/failure-log.ts";
import type { Listening, Offer } from "../server/core/core.ts";
import { EVERYTHING, type GatewayExchange, type GatewayListenRequest, type View, type Views } from "./names/view.ts";
import { ANYBODY, ownerKey, type Principal } from "../server/core/principal.ts";
import { AggregateLists, type AggregateOptions } from "./lists/aggregate-lists.ts";
import type { CallRunner, UpstreamCall } from "./upstream/call-runner.ts";
import { tellWaiting } from "./upstream/upstream-reports.ts";
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
import { PrincipalAccess, type AccessRules } from "./access/principal-access.ts";
import type { Seal } from "../server/core/seal.ts";
import { targetOf, unknownMethod, type KnownNames, type NamedThing, type ThingKind } from "./names/target.ts";
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
  /** Items on a page of such a list: 500. */
  pageSize?: number | undefined;
}

const NO_HEADERS: readonly ParamHeader[] = [];
const LIST_OF: Record<ThingKind, ListKind> = { tool: "tools", prompt: "prompts", resource: "resources" };

/** The core of the gateway: finds the server of a request, checks access, and answers with a list or a call. */
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
  /** For callers that may know of every server. */
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
    const access = (this.#access = new PrincipalAccess(host.policy, options));
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
    // A method that the gateway does not know may be an extension of the server.
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
    // If the tools cannot be read, the call fails: headers that could not be compared must not count as compared.
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

  /** No headers are compared for a tool that the principal may not see, because comparing would show that it exists. */
  #headersSeen(name: string, server: string, principal: Principal): readonly ParamHeader[] {
    for (const { items, headers } of this.#catalogs.of(server).known("tools")) {
      const item = items.find((tool) => nameOf("tools", tool) === name);
      if (!item) continue;
      const isSeen = this.#access.allows(principal, listedTarget("tools", server, item));
      return (isSeen ? headers.get(name) : undefined) ?? NO_HEADERS;
    }
    return NO_HEADERS;
  }

  /**
   * Uses the caller's own connection. If the caller has a subscription, changes of this connection are followed from
   * now on.
   */
  async #pass(call: UpstreamCall): Promise<Result> {
    const { principal, caller, signal } = call.exchange;
    const key = ownerKey(principal, caller.owner);
    if (!this.#owners.isListening(key)) return this.#calls.run(call);
    const { state, definition } = this.#get(call.server, principal);
    if (!hasOwnConnections(state, definition)) return this.#calls.run(call);
    const onWait = (reason: string) => tellWaiting(caller, reason);
    // Kept during the call: otherwise its process could be stopped for another one before the call.
    using _heard = await this.#owners.hear(key, call.server, { principal, caller, onWait }, signal);
    return await this.#calls.run(call);
  }

  /** The id of a task contains its server. */
  async #askTask(exchange: GatewayExchange): Promise<Result> {
    const { endpoint: view, method, params, principal } = exchange;
    const task = this.#calls.findTask(params["taskId"], principal);
    const isHidden = task && !(await this.#permits.mayFollow(task, principal));
    // A hidden task is answered like an unknown id.
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

  /** Nothing on the endpoint of one server: its names are the server's own, and the caller was shown its list. */
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

/** Other principals may not be allowed to read the result. */
function asPrivate(result: Result): Result {
  return result["cacheScope"] === "public" ? { ...result, cacheScope: "private" } : result;
}
