import { SILENT, type Logger } from "../../client/logger.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import { VERSION } from "../../protocol/version.ts";
import { FailureLog } from "../failure-log.ts";
import type { Core, Exchange, Listening, ListenRequest, Offer, View } from "../exchange.ts";
import { ownerKey, type Principal } from "../principal.ts";
import { Access, type Decide } from "./access.ts";
import { AggregateLists, type AggregateOptions } from "./aggregate-lists.ts";
import type { CallRunner, UpstreamCall } from "./call-runner.ts";
import { Catalogs } from "./catalogs.ts";
import { Cursors } from "./cursors.ts";
import { isOfOneHop, methodUnknown } from "./hop-methods.ts";
import { listAskedBy, type ListKind } from "./list-kind.ts";
import { ServersListening } from "./listening.ts";
import { resolveFullName } from "./names.ts";
import { offerOfAll, offerOfOne } from "./offer.ts";
import { outwardResult } from "./outward.ts";
import { OwnerChanges } from "./owner-changes.ts";
import { PassedLists } from "./passed-lists.ts";
import type { Seal } from "./seal.ts";
import { targetOf, type KnownNames, type Target, type ThingKind } from "./target.ts";
import { within } from "./within.ts";

export interface GatewayCoreOptions {
  host: Host;
  calls: CallRunner;
  seal: Seal;
  /** As callers are told who they talk to. */
  serverInfo?: Implementation | undefined;
  /** Narrows who may see and use what; without it everybody may use what the servers' entries allow. */
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
export class GatewayCore implements Core {
  readonly #host: Host;
  readonly #calls: CallRunner;
  readonly #logger: Logger;
  readonly #serverInfo: Implementation;
  readonly #waitMs: number;
  readonly #access: Access;
  readonly #catalogs: Catalogs;
  readonly #all: AggregateLists;
  readonly #one: PassedLists;
  readonly #owners: OwnerChanges;
  readonly #names: KnownNames;
  readonly #listenings = new Set<ServersListening>();

  constructor(options: GatewayCoreOptions) {
    const { host, calls, logger = SILENT, waitMs = 2_000, pageSize = 500 } = options;
    this.#host = host;
    this.#calls = calls;
    this.#logger = logger;
    this.#waitMs = waitMs;
    this.#serverInfo = options.serverInfo ?? { name: "nexus", title: "Nexus", version: VERSION };
    const access = (this.#access = new Access(options.decide));
    const catalogs = (this.#catalogs = new Catalogs(host, logger));
    const cursors = new Cursors(options.seal);
    const owners = (this.#owners = new OwnerChanges(calls, logger));
    const ownList: AggregateOptions["ownList"] = (kind, server, { principal, caller }) =>
      owners.findList(ownerKey(principal, caller.owner), kind, server, { principal, caller });
    const failures = options.failures ?? new FailureLog(logger);
    this.#all = new AggregateLists({ host, catalogs, access, cursors, ownList, failures, waitMs, pageSize });
    this.#one = new PassedLists({ catalogs, run: (call) => this.#pass(call), access, cursors, logger });
    this.#names = { isServer: (id) => this.#find(id) !== undefined, candidates: (kind) => this.#candidates(kind) };
  }

  async offer(view: View, _principal: Principal): Promise<Offer> {
    if (view.kind === "one") {
      const nature = await this.#catalogs.of(view.server).nature();
      return offerOfOne(this.#serverInfo, this.#get(view.server), nature);
    }
    const shown = this.#all.shown();
    // Nobody is started for it: a server that is not there yet adds nothing that could not be told later.
    const running = shown.filter(({ state }) => state.kind === "starting" || "era" in state);
    const natures = running.map(({ id }) =>
      this.#catalogs
        .of(id)
        .nature()
        .catch(() => undefined),
    );
    const known = await Promise.all(natures.map((nature) => within(nature, this.#waitMs)));
    const there = known.filter((nature) => nature !== undefined);
    return offerOfAll(this.#serverInfo, shown, there);
  }

  async handle(exchange: Exchange): Promise<Result> {
    const { view, method, params } = exchange;
    if (isOfOneHop(method)) throw methodUnknown(method);
    const list = listAskedBy(method);
    if (list) return this.#page(list, exchange);
    if (method.startsWith("tasks/")) return this.#askTask(exchange);
    const target = targetOf(method, params, view, this.#names);
    if (target) return this.#use(target, exchange);
    if (view.kind === "all") throw methodUnknown(method);
    // What is not known here may be an extension of the server's.
    return this.#pass({ server: this.#get(view.server).id, method, params, exchange });
  }

  async listen(request: ListenRequest): Promise<Listening> {
    const { view, principal, owner } = request;
    if (view.kind === "one") this.#get(view.server);
    const listening = await ServersListening.open(request, {
      host: this.#host,
      calls: this.#calls,
      catalogs: this.#catalogs,
      access: this.#access,
      owners: this.#owners,
      ownerKey: ownerKey(principal, owner),
      logger: this.#logger,
      onClosed: (closed) => this.#listenings.delete(closed),
    });
    this.#listenings.add(listening);
    return listening;
  }

  paramHeaders(view: View, _principal: Principal, tool: string): ReturnType<Core["paramHeaders"]> {
    const own = view.kind === "one" ? { server: view.server, own: tool } : resolveFullName(tool, this.#names.isServer);
    if (!own || !this.#find(own.server)) return NO_HEADERS;
    // Where they cannot be read the call is refused: a header that was not compared must not pass for one that was.
    return this.#catalogs.of(own.server).paramHeaders(own.own);
  }

  release(owner: string): void {
    this.#calls.release(owner);
  }

  async close(): Promise<void> {
    this.#catalogs.close();
    await Promise.all([...this.#listenings].map((listening) => listening.close()));
  }

  #page(list: ListKind, exchange: Exchange): Promise<Result> {
    const { view } = exchange;
    return view.kind === "all"
      ? this.#all.page(list, exchange)
      : this.#one.page(list, this.#get(view.server), exchange);
  }

  async #use(target: Target, exchange: Exchange): Promise<Result> {
    const { server, params } = target;
    const { method, view, principal } = exchange;
    this.#access.require(principal, { server, kind: target.kind, name: target.name }, this.#get(server));
    const result = await this.#pass({ server, method, params, exchange });
    return view.kind === "one" ? result : outwardResult(server, method, result);
  }

  /** Over the caller's own connection, which is heard from then on if the caller listens. */
  async #pass(call: UpstreamCall): Promise<Result> {
    const { principal, caller, signal } = call.exchange;
    const key = ownerKey(principal, caller.owner);
    if (this.#owners.isListening(key) && isOwned(this.#get(call.server))) {
      await this.#owners.hear(key, call.server, { principal, caller }, signal);
    }
    return this.#calls.run(call);
  }

  /** The id of a task tells whose it is. */
  async #askTask(exchange: Exchange): Promise<Result> {
    const { view, method, params, principal } = exchange;
    const result = await this.#calls.run({ server: "", method, params, exchange });
    if (view.kind === "one") return result;
    const task = this.#calls.findTask(String(params["taskId"]), principal);
    return task ? outwardResult(task.server, method, result) : result;
  }

  #candidates(kind: ThingKind): string[] {
    return this.#all.known(LIST_OF[kind]).map(({ name, uri }) => String(kind === "resource" ? uri : name));
  }

  #find(server: string): ServerStatus | undefined {
    return this.#host.find(server);
  }

  #get(server: string): ServerStatus {
    const found = this.#find(server);
    if (found) return found;
    const near = nearestName(
      server,
      this.#all.shown().map(({ id }) => id),
    );
    const advice = near === undefined ? "" : `. Did you mean "${near}"?`;
    throw new NexusError("NAME_UNKNOWN", `There is no server "${server}"${advice}`, { server, mayHaveReached: false });
  }
}

/** Whether callers have connections of their own to this server, as far as that is known. */
function isOwned({ state, definition: { isolation, entry } }: ServerStatus): boolean {
  if (isolation !== "owner") return false;
  const isStateless = "era" in state && state.era === "modern" && entry?.reach.kind !== "stdio";
  return !isStateless;
}
