import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { Deadlines } from "../../async/deadlines.ts";
import { asNexusError, NexusError, messageOf } from "../../errors/nexus-error.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { Principal } from "../../server/core/principal.ts";
import { busyError } from "../../server/core/busy-error.ts";
import { visible } from "../../text/visible.ts";
import { childLogger, type Logger } from "../../text/logger.ts";
import { Endpoints, type GuardedCoreOptions } from "../edge/guarded-core.ts";
import { wordsFor } from "../operation/caller-error.ts";
import { FailureLog } from "../operation/failure-log.ts";
import type { Limits } from "../operation/limits.ts";
import type { TenantHost } from "./tenant-host.ts";
import { TenantLifetime, type Suspendable } from "./tenant-lifetime.ts";
import type { EdgeTenant } from "../edge/edge-tenant.ts";
import type { ProcessUsage } from "../../process/process-budget.ts";
import type { Host } from "../../host/host.ts";
import { Metrics } from "../operation/metrics.ts";
import type { Result, Params } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import type { Core, Listening, Offer } from "../../server/core/core.ts";
import type { GatewayListenRequest, View } from "../names/view.ts";
import type { AskedRequest, EndpointExchange, ResolvedRequest } from "../requests/request.ts";
import type { Views } from "../requests/views.ts";
import { callListener } from "../../async/call-listener.ts";
import { Turns } from "../../async/turns.ts";
import type { Interests } from "../../protocol/interests.ts";

/** What a tenant's host reports to. */
export interface TenantReports {
  logger: Logger;
  failures: FailureLog;
}

interface ServedTenantsOptions extends Pick<GuardedCoreOptions, "gate" | "allowance" | "audit" | "tracing"> {
  /** Of the tenant `default`: it is open from the start until the gateway closes. */
  first: TenantHost;
  firstReports: TenantReports;
  /** Opens the host of another tenant. Undefined: all callers use the first one, whatever their tenants. */
  open: ((name: string, reports: TenantReports, signal: AbortSignal) => Promise<TenantHost>) | undefined;
  limits: Pick<Limits, "tenantIdleMs" | "tenantOpenMs" | "drainMs">;
}

interface Other {
  tenant: ServedTenant;
  lifetime: TenantLifetime;
}

/** Above this number, tenants that could never be opened are forgotten. */
const MANY_TENANTS = 1024;

/** The tenants of a gateway. Which one a request is for says its principal, never the request itself. */
export class ServedTenants {
  readonly first: ServedTenant;
  readonly #options: ServedTenantsOptions;
  readonly #others = new Map<string, Other>();
  readonly #deadlines = new Deadlines();
  readonly #ending = new Cancellation();

  constructor(options: ServedTenantsOptions) {
    const { first, firstReports, gate, allowance, audit, tracing } = options;
    this.#options = options;
    this.first = new ServedTenant({
      name: DEFAULT_TENANT,
      views: first.views,
      opened: () => first,
      enter: undefined,
      gate,
      allowance,
      audit,
      tracing,
      ...firstReports,
    });
  }

  /** Whether callers are told apart by their tenants. */
  get areSeparate(): boolean {
    return this.#options.open !== undefined;
  }

  of({ tenant: name }: Principal): ServedTenant {
    if (name === DEFAULT_TENANT || !this.#options.open) return this.first;
    return (this.#others.get(name) ?? this.#add(name, this.#options.open)).tenant;
  }

  /** Those that were used. */
  all(): ServedTenant[] {
    return [this.first, ...[...this.#others.values()].map(({ tenant }) => tenant)];
  }

  /** Calls that are not over at their servers, and whose callers may be away. */
  get unfinished(): number {
    return this.all().reduce((sum, tenant) => sum + tenant.unfinished, 0);
  }

  /** Resolves when those that are not over now have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.all().map((tenant) => tenant.settled()));
  }

  /** Opens no more: callers that wait for it are turned away. */
  drain(): void {
    this.#ending.abort(new NexusError("CLOSED", "The gateway is closing"));
  }

  /** Closes the host of a tenant now; the next use opens it again. That of `default` stays open. */
  async closeHost(tenant: string): Promise<void> {
    await this.#others.get(tenant)?.lifetime.close();
  }

  async close(): Promise<void> {
    this.drain();
    const closing = [...this.#others.values()].map(({ lifetime }) => lifetime.close());
    await Promise.all([...closing, this.#options.first.close()]);
  }

  #add(name: string, open: NonNullable<ServedTenantsOptions["open"]>): Other {
    if (this.#others.size >= MANY_TENANTS) this.#forgetUnknown();
    const { gate, allowance, audit, tracing, limits } = this.#options;
    const logger = childLogger(this.#options.firstReports.logger, { tenant: name });
    const failures = new FailureLog(logger);
    const lifetime = new TenantLifetime({
      open: () => untilEnding(this.#ending, (signal) => open(name, { logger, failures }, signal)),
      report: (thrown) => {
        const failure = openingFailed(name, thrown);
        return cannotOpen(failure, failures.withhold(failure));
      },
      idleMs: limits.tenantIdleMs,
      openMs: limits.tenantOpenMs,
      drainMs: limits.drainMs,
      deadlines: this.#deadlines,
      ending: this.#ending,
      logger,
    });
    const enter = async () => {
      await lifetime.enter();
      return () => lifetime.leave();
    };
    const views = new TenantViews(lifetime, logger);
    const opened = () => lifetime.opened;
    const parts = { name, views, opened, enter, gate, allowance, audit, tracing, logger, failures };
    const other = { lifetime, tenant: new ServedTenant(parts) };
    this.#others.set(name, other);
    return other;
  }

  /** Whoever authenticates callers may take any name for a tenant. */
  #forgetUnknown(): void {
    for (const [name, { lifetime }] of this.#others) if (lifetime.isUnknown) this.#others.delete(name);
  }
}

/** Runs code of others, which may leave listeners on its signal. */
async function untilEnding<T>(ending: CancelSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(ending.reason);
  ending.addEventListener("abort", abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    ending.removeEventListener("abort", abort);
  }
}

function openingFailed(name: string, thrown: unknown): NexusError {
  const { code, message, details } = asNexusError(thrown);
  return new NexusError(code, `Tenant "${visible(name)}" could not be opened: ${message}`, {
    ...details,
    cause: thrown,
  });
}

/** What is wrong is for the operator, who finds it in the log by the id. */
function cannotOpen(failure: NexusError, correlationId: string): NexusError {
  const isStoreAway = failure.code === "STORE_UNAVAILABLE";
  const error = busyError(isStoreAway ? wordsFor(failure) : "The servers of this tenant cannot be opened. Retry later");
  const { rpc } = error.details;
  if (!rpc) return error;
  const data = { ...(rpc.data as object), ...(isStoreAway ? { code: failure.code } : {}), correlationId };
  return error.amended({ correlationId, rpc: { ...rpc, data } });
}

interface ServedTenantOptions extends Omit<GuardedCoreOptions, "metrics"> {
  name: string;
  /** Its host, while that is open. */
  opened: () => TenantHost | undefined;
  enter: EdgeTenant["enter"];
}

/** What belongs to one tenant for as long as the gateway lives, whether its host is open or not. */
export class ServedTenant implements EdgeTenant {
  readonly name: string;
  readonly metrics: Metrics;
  readonly endpoints: Endpoints;
  readonly enter: EdgeTenant["enter"];
  readonly #opened: () => TenantHost | undefined;

  constructor({ name, opened, enter, ...options }: ServedTenantOptions) {
    this.name = name;
    this.enter = enter;
    this.metrics = new Metrics(name);
    this.#opened = opened;
    this.endpoints = new Endpoints({ ...options, metrics: this.metrics });
  }

  /** Undefined while it is closed. */
  get host(): Host | undefined {
    return this.#opened()?.host;
  }

  /** Calls that wait for answers of their callers. */
  get parked(): number {
    return this.#opened()?.parked ?? 0;
  }

  /** Calls that are not over at their servers, and whose callers may be away. */
  get unfinished(): number {
    return this.#opened()?.unfinished ?? 0;
  }

  /** Resolves when those that are not over now have ended. */
  async settled(): Promise<void> {
    await this.#opened()?.settled();
  }

  /** Undefined while it is closed, and where processes are not limited. */
  get processes(): ProcessUsage | undefined {
    const host = this.#opened()?.host;
    return host?.processes?.usage(this.enter ? this.name : host.tenant);
  }

  admitsVia(header: unknown): boolean {
    return this.#opened()?.host.chain.admit(header) ?? true;
  }

  /** None while it is closed. */
  states(): { id: string; state: string; starts: number; restarts: number }[] {
    const host = this.#opened()?.host;
    const servers = host?.servers() ?? [];
    return servers.map(({ id, state }) => ({ id, state: state.kind, ...(host?.startsOf(id) ?? NO_STARTS) }));
  }

  servers(): string[] {
    return this.states().flatMap(({ id, state }) => (state === "disabled" ? [] : [id]));
  }
}

const NO_STARTS = { starts: 0, restarts: 0 };

/**
 * The servers of a tenant, for as long as the gateway lives: its host is opened when they are used, and stays open
 * meanwhile. Sessions of older clients outlive a host that was closed, so they are bound to this.
 */
class TenantViews implements Views {
  readonly #lifetime: TenantLifetime;
  readonly #logger: Logger;

  constructor(lifetime: TenantLifetime, logger: Logger) {
    this.#lifetime = lifetime;
    this.#logger = logger;
  }

  /** False while it is closed. */
  reaches(principal: Principal, view: View): boolean {
    return this.#lifetime.opened?.views.reaches(principal, view) ?? false;
  }

  /** False while it is closed. */
  sees(principal: Principal, server: string): boolean {
    return this.#lifetime.opened?.views.sees(principal, server) ?? false;
  }

  /** Undefined while it is closed. */
  resolve(asked: AskedRequest): ResolvedRequest | undefined {
    return this.#lifetime.opened?.views.resolve(asked);
  }

  listsTool(server: string, tool: string): boolean {
    return this.#lifetime.opened?.views.listsTool(server, tool) ?? false;
  }

  offer(view: View, principal: Principal): Promise<Offer> {
    return this.#lifetime.use((views) => views.offer(view, principal));
  }

  serverInfo(view: View): Implementation | undefined {
    return this.#lifetime.opened?.views.serverInfo(view);
  }

  handle(exchange: EndpointExchange): Promise<Result> {
    return this.#lifetime.use((views) => views.handle(exchange), exchange.signal);
  }

  listen(request: GatewayListenRequest): Promise<Listening> {
    return TenantListening.open(request, this.#lifetime, this.#logger);
  }

  paramHeaders(exchange: EndpointExchange): ReturnType<Core["paramHeaders"]> {
    return this.#lifetime.use(async (views) => views.paramHeaders(exchange));
  }

  release(owner: string): void {
    this.#lifetime.opened?.views.release(owner);
  }
}

/**
 * What a caller listens to. It does not keep the tenant open: a caller that waits for changes has a stream, which does.
 * After the host was closed it begins again with the next one, and says that everything may have changed meanwhile.
 */
class TenantListening implements Listening, Suspendable {
  readonly #request: GatewayListenRequest;
  readonly #lifetime: TenantLifetime;
  readonly #logger: Logger;
  readonly #turns = new Turns();
  readonly #leave: () => void;
  #interests: Interests;
  #current: Listening | undefined;
  #accepted: Interests = {};
  #wasSuspended = false;
  #isClosed = false;

  static async open(request: GatewayListenRequest, lifetime: TenantLifetime, logger: Logger): Promise<TenantListening> {
    const listening = new TenantListening(request, lifetime, logger);
    try {
      await listening.update(request.interests);
      return listening;
    } catch (error) {
      await listening.close();
      throw error;
    }
  }

  private constructor(request: GatewayListenRequest, lifetime: TenantLifetime, logger: Logger) {
    this.#request = request;
    this.#lifetime = lifetime;
    this.#logger = logger;
    this.#interests = request.interests;
    this.#leave = lifetime.follow(this);
  }

  get accepted(): Interests {
    return this.#accepted;
  }

  update(interests: Interests): Promise<void> {
    return this.#turns.run(() =>
      this.#lifetime.use(async (views) => {
        await (this.#current ? this.#current.update(interests) : this.#listen(views, interests));
        this.#interests = interests;
        this.#accepted = this.#current?.accepted ?? {};
      }),
    );
  }

  /** Its host is closed, and closes what listened there. */
  suspend(): void {
    if (this.#current) this.#wasSuspended = true;
    this.#current = undefined;
  }

  resume(): void {
    if (!this.#wasSuspended) return;
    const resuming = this.#turns.run(() =>
      this.#lifetime.use(async (views) => {
        if (!this.#current) await this.#listen(views, this.#interests);
      }),
    );
    resuming.catch((error: unknown) => {
      this.#logger.debug(`cannot subscribe again after the tenant was opened: ${messageOf(error)}`);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
    await this.#turns.ended();
    await this.#current?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(views: Views, interests: Interests): Promise<void> {
    if (this.#isClosed) return;
    this.#current = await views.listen({ ...this.#request, interests });
    this.#accepted = this.#current.accepted;
    if (this.#wasSuspended) this.#tellMissed();
    this.#wasSuspended = false;
  }

  #tellMissed(): void {
    const { lists = [], resources = [] } = this.#accepted;
    for (const list of lists) this.#tell(`notifications/${list}/list_changed`);
    for (const uri of resources) this.#tell("notifications/resources/updated", { uri });
  }

  #tell(method: string, params?: Params): void {
    const notification = params ? { jsonrpc: "2.0" as const, method, params } : { jsonrpc: "2.0" as const, method };
    callListener(() => this.#request.onChange(notification), this.#logger);
  }
}
