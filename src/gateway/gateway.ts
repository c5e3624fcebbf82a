import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { within } from "../async/within.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import type { Door } from "./access/door.ts";
import { SHARED_OPTIONS, Assembly, type GatewayOptions } from "./assembly.ts";
import { isLoopback } from "../text/loopback.ts";
import { HttpEdge } from "./edge/http-edge.ts";
import type { OperationsHandler } from "./edge/operations-handler.ts";
import { type AuditTrail, trailOf } from "./operation/audit.ts";
import type { CallSummary, Gauges } from "./operation/metrics.ts";
import type { SetSource } from "./sets/set-source.ts";
import type { ServedTenant, ServedTenants } from "./tenants/served-tenants.ts";
import type { OpenTenant } from "./tenants/tenant-host.ts";
import { EXPELLED } from "../server/http/http-refusal.ts";
import type { LegacyHttp } from "../server/http/legacy-http.ts";
import { endpointParts } from "../server/http/mcp-endpoint.ts";
import type { OpenStreams } from "../server/core/open-streams.ts";
import { admitEverybody, type Authenticate, type Principal } from "../server/core/principal.ts";
import { SessionIds } from "../server/sessions/session-ids.ts";

export type ServeOptions = GatewayOptions & {
  /** Default: 3210; 0 selects any free port. */
  port?: number | undefined;
  /** The address to listen on; default: 127.0.0.1. Addresses other than loopback require `authenticate` or `door`. */
  address?: string | undefined;
  /** Additional host names, as clients send them in the `Host` header. */
  allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call it. */
  allowedOrigins?: readonly string[] | undefined;
  /** Identifies the caller; without it, all callers are the same principal. */
  authenticate?: Authenticate | undefined;
  /**
   * Opens the host of a tenant other than `default` on its first use; the gateway closes it when it was not used for
   * `limits.tenantIdleMs`. `authenticate` says which tenant a caller belongs to. Without it, all callers use `host`.
   */
  openTenant?: OpenTenant | undefined;
  /**
   * Named selections of tools, resources and prompts, each served at `/sets/<name>/mcp`: a `MemorySets`, or any other source.
   */
  sets?: SetSource | undefined;
  /** Serves `/api/v1` and `/console` to those who operate the gateway. */
  operations?: OperationsHandler | undefined;
  /** Folder for the key of session ids, so that sessions of older clients survive a restart. */
  stateFolder?: string | undefined;
};

const SERVE_OPTIONS: OptionNames<ServeOptions> = {
  ...SHARED_OPTIONS,
  port: true,
  address: true,
  allowedHosts: true,
  allowedOrigins: true,
  authenticate: true,
  openTenant: true,
  sets: true,
  operations: true,
  stateFolder: true,
};

export const DEFAULT_PORT = 3210;
const DEFAULT_ADDRESS = "127.0.0.1";

/** Serves a host to many clients of every revision over HTTP. */
export class Gateway implements AsyncDisposable {
  /** The URL of the endpoint with all servers: `http://127.0.0.1:3210/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly #assembly: Assembly;
  readonly #edge: HttpEdge;
  readonly #legacy: LegacyHttp;
  readonly #stateOf: Parts["stateOf"];
  readonly #stops: (() => void)[];
  #closing: Promise<void> | undefined;

  /** Resolves when the gateway listens; `ready()` waits for the servers. If it cannot listen, the host is closed. */
  static async open(options: ServeOptions): Promise<Gateway> {
    checkOptions("serve", options, SERVE_OPTIONS);
    const { port = DEFAULT_PORT, address = DEFAULT_ADDRESS, door } = options;
    const authenticate = door?.authenticate ?? options.authenticate;
    if (!authenticate && !isLoopback(address)) {
      if (!options.surroundings) await options.host.close();
      throw needsAuthentication(address);
    }
    const assembly = await Assembly.open(options);
    const { stateFolder } = options;
    const { logger, limits } = assembly;
    const ids = await SessionIds.open({ lifeMs: limits.sessionLifeMs, stateFolder, logger });
    const parts = partsOf(assembly, options, ids);
    try {
      return new Gateway(assembly, { ...parts, door, sets: options.sets }, await parts.edge.listen(port, address));
    } catch (error) {
      await parts.edge.close();
      await assembly.close();
      throw error;
    }
  }

  private constructor(
    assembly: Assembly,
    { edge, legacy, stateOf, door, sets }: Doored,
    { host, port }: { host: string; port: number },
  ) {
    this.#assembly = assembly;
    this.#edge = edge;
    this.#legacy = legacy;
    this.#stateOf = stateOf;
    this.port = port;
    this.url = `http://${host}:${port}/mcp`;
    const present = () => [...edge.principals(), ...legacy.principals()];
    this.#stops = [
      door?.onExpelled((principal) => void this.expel(principal), present) ?? (() => {}),
      door?.onReplaced?.((principal) => this.#endOpenedBy(principal)) ?? (() => {}),
      sets?.onChanged(() => this.#endRemovedSets(sets)) ?? (() => {}),
    ];
  }

  get host(): Host {
    return this.#assembly.host;
  }

  /**
   * Uses the host of a tenant: it is opened if it is closed, and stays open meanwhile. Undefined where the gateway does not
   * serve this tenant.
   */
  async useHost<T>(tenant: string, use: (host: Host) => Promise<T> | T): Promise<T | undefined> {
    const served = this.#served(tenant);
    if (!served) return undefined;
    const leave = await served.enter?.();
    try {
      return served.host && (await use(served.host));
    } finally {
      leave?.();
    }
  }

  /** The host of a tenant while it is open. */
  findHost(tenant: string): Host | undefined {
    return this.#served(tenant)?.host;
  }

  /** What `/metrics` shows of a tenant, as values. Undefined where the gateway does not serve this tenant. */
  activityOf(tenant: string): TenantActivity | undefined {
    const served = this.#served(tenant);
    return served && { ...this.#stateOf(served), calls: served.metrics.summary() };
  }

  #served(tenant: string): ServedTenant | undefined {
    const { tenants } = this.#assembly;
    return tenants.areSeparate || tenant === tenants.first.name ? tenants.of({ id: "", tenant }) : undefined;
  }

  /** The number of calls that run now, or wait for answers from their callers; `close` waits for them. */
  get runningCalls(): number {
    const { gate, tenants } = this.#assembly;
    return Math.max(gate.running, tenants.unfinished);
  }

  /** Resolves when every server with `auto_start` is connected or has failed. */
  ready(): Promise<void> {
    return this.host.ready();
  }

  /**
   * Ends the sessions of a principal: their ids are refused from now on, and what runs in them is answered with an error.
   * Clients of 2026-07-28 have no session and are not affected.
   */
  endSessions(principal: Principal): Promise<void> {
    return this.#legacy.endSessions(principal, "The session was ended");
  }

  /**
   * Closes the host of a tenant now, such as one that was removed or whose servers are others: its running calls fail, and
   * its next use calls `openTenant` again. `default` stays open.
   */
  closeTenant(tenant: string): Promise<void> {
    return this.#assembly.tenants.closeHost(tenant);
  }

  /** Ends what a principal has open: its sessions, its streams, and its calls, which are answered with an error. */
  async expel(principal: Principal): Promise<void> {
    this.#edge.expel(principal);
    await this.#legacy.endSessions(principal, EXPELLED.error.message);
  }

  /**
   * Rejects new calls, waits for running calls up to a limit, cancels the rest and stops the servers. What belongs to
   * running calls is accepted until they have ended: cancellations, answers, the ends of sessions.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A set that does not exist any more has no sessions: their clients get 404. */
  #endRemovedSets(sets: SetSource): void {
    for (const { name: tenant, endpoints } of this.#assembly.tenants.all()) {
      const removed = endpoints.takeSets((name) => sets.find(tenant, name) === undefined);
      for (const core of removed) this.#legacy.closeSessions((session) => session.core === core, "The set was removed");
    }
  }

  /** A credential was replaced: what was opened with it ends, and its owner opens it again with the new one. */
  #endOpenedBy(principal: Principal): void {
    this.#edge.endAskedBy(principal);
    this.#legacy.closeSessions((session) => session.principal === principal, EXPELLED.error.message);
  }

  async #close(): Promise<void> {
    const { limits, tenants } = this.#assembly;
    for (const stop of this.#stops) stop();
    this.#edge.drain();
    tenants.drain();
    // A call has ended when its answer is recorded and on its way.
    const quiet = this.#assembly.quiet().then(() => this.#edge.quiet());
    await within(quiet, limits.drainMs);
    await this.#edge.close();
    await this.#assembly.close();
  }
}

/** What callers of a tenant do now, and what they did since the gateway started. */
interface TenantActivity extends TenantState {
  calls: CallSummary[];
}

interface Doored extends Parts {
  door: Door | undefined;
  sets: SetSource | undefined;
}

interface Parts {
  edge: HttpEdge;
  legacy: LegacyHttp;
  stateOf: (tenant: ServedTenant) => TenantState;
}

function partsOf(assembly: Assembly, options: ServeOptions, ids: SessionIds): Parts {
  const { budget, limits, logger, failures, host, tenants } = assembly;
  const { door, allowance } = options;
  const trail = trailOf(options.audit);
  const { areSeparate: areTenantsSeparate } = tenants;
  let isReady = false;
  void host.ready().then(() => (isReady = true));
  const parts = endpointParts({ self: "gateway", limits, budget, ids, logger, areTenantsSeparate });
  const { legacy, streams } = parts;
  const edge: HttpEdge = new HttpEdge({
    ...parts,
    tenants,
    failures,
    authenticate: door?.authenticate ?? options.authenticate ?? admitEverybody,
    onRefused: (headers) => trail.recordRefused?.(headers),
    door,
    allowance,
    operations: options.operations,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    readiness: () => (!isReady ? "starting" : door?.isOpen !== false && canRecord(trail) ? "ready" : "unavailable"),
    starting: (principal) => startingIn(tenants, principal),
    seesMetrics: (principal) => door?.seesMetrics(principal) ?? true,
    metrics: (principal) => {
      const tenant = tenants.of(principal);
      const shows = (server: string) => tenant.endpoints.sees(principal, server);
      const ofProcess = tenant === tenants.first ? { traffic: edge.traffic, audit: trail.backlog } : NOT_SHOWN;
      return tenant.metrics.render({ ...stateOf(tenant), shows, ...ofProcess });
    },
  });
  const stateOf = (tenant: ServedTenant): TenantState => ({
    ...loadOf(tenants.areSeparate ? tenant.name : undefined, { assembly, legacy, streams }),
    parked: tenant.parked,
    servers: tenant.states(),
    processes: tenant.processes,
  });
  return { edge, legacy, stateOf };
}

/** The servers of the first tenant that are starting; other tenants start theirs on use. */
function startingIn(tenants: ServedTenants, principal: Principal | undefined): string[] {
  const { first } = tenants;
  const isHidden = principal && tenants.of(principal) !== first;
  const sees = (id: string) => !principal || first.endpoints.sees(principal, id);
  const states = isHidden ? [] : first.states();
  return states.flatMap(({ id, state }) => (state === "starting" && sees(id) ? [id] : []));
}

/** False where calls are refused, because they cannot be recorded. */
function canRecord(trail: AuditTrail): boolean {
  try {
    trail.requireReady();
    return true;
  } catch {
    return false;
  }
}

const NOT_SHOWN = { traffic: undefined, audit: undefined };

type TenantState = Omit<Gauges, "shows" | keyof typeof NOT_SHOWN>;

type Load = Pick<Gauges, "inFlight" | "queued" | "sessions" | "streams" | "bufferedBytes">;

/** What callers of one tenant use; of all tenants where they are not told apart. */
function loadOf(
  tenant: string | undefined,
  { assembly, legacy, streams }: { assembly: Assembly; legacy: LegacyHttp; streams: OpenStreams },
): Load {
  const { gate, budget } = assembly;
  if (tenant === undefined) {
    const { running: inFlight, queued } = gate;
    return { inFlight, queued, sessions: legacy.sessions, streams: streams.size, bufferedBytes: budget.used };
  }
  const { running: inFlight, queued } = gate.callsOf(tenant);
  const sessions = legacy.sessionsOf(tenant);
  return { inFlight, queued, sessions, streams: streams.openOf(tenant), bufferedBytes: budget.usedBy(tenant) };
}

function needsAuthentication(address: string): NexusError {
  const why = "everyone in the network could use every server";
  return new NexusError(
    "CONFIG_INVALID",
    `The gateway refuses to listen on ${address} without authentication: ${why}`,
    {
      phase: "config",
      hint: "Remove --host to listen on 127.0.0.1, or use --auth keys.",
      mayHaveReached: false,
    },
  );
}
