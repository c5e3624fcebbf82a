import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { safeLogger, SILENT, type Logger } from "../text/logger.ts";
import { Host } from "../host/host.ts";
import type { HostOptions } from "../host/host-options.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import type { Allowance } from "./operation/allowance.ts";
import { CallTracer } from "./operation/call-tracer.ts";
import { trailOf, type Audit, type AuditTrail } from "./operation/audit.ts";
import { ByteBudget } from "../server/core/byte-budget.ts";
import { DEFAULT_CALL_LIMITS, type CallLimits, Calls } from "./calls/calls.ts";
import type { Door } from "./access/door.ts";
import type { Decide, AccessRules } from "./access/principal-access.ts";
import { Seal } from "../server/core/seal.ts";
import { CallGate } from "./operation/call-gate.ts";
import { FailureLog } from "./operation/failure-log.ts";
import { DEFAULT_LIMITS, type Limits } from "./operation/limits.ts";
import { PROCESS_LIMITS, processLimitsOf } from "../process/process-limits.ts";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import type { TenantSets } from "./requests/set-selections.ts";
import type { SetSource } from "./sets/set-source.ts";
import type { OpenTenant, TenantHost } from "./tenants/tenant-host.ts";
import { ServedTenants, type TenantReports } from "./tenants/served-tenants.ts";
import type { NexusError } from "../errors/nexus-error.ts";
import { startsItself } from "../transport/via-marks.ts";
import { GatewayCore } from "./gateway-core.ts";
import type { GatewayResources } from "./operation/gateway-resources.ts";

export type GatewayOptions = GatewaySettings & GatewayHost;

/** A host, or options to open one. The gateway owns it and closes it. */
export type GatewayHost =
  | { host: Host; surroundings?: undefined }
  | {
      host: HostOptions;
      /** The environment of the process. */
      surroundings: Surroundings;
    };

export interface GatewaySettings {
  limits?: Partial<Limits & CallLimits> | undefined;
  /**
   * Additional rules for who may see and use what. The host's policy also applies, with the principal's id as agent.
   */
  decide?: Decide | undefined;
  /** In place of `authenticate` and `decide`, where both may change while the gateway runs. */
  door?: Door | undefined;
  /** Limits what each principal may use in a time, and at once. */
  allowance?: Allowance | undefined;
  /** Called once for every call and refused attempt; or a trail, which decides whether answers wait for it. */
  audit?: Audit | AuditTrail | undefined;
  /** 32 bytes for sealing state that callers carry. Default: random, which does not survive a restart. */
  sealKey?: Buffer | undefined;
  logger?: Logger | undefined;
}

export const SHARED_OPTIONS: OptionNames<GatewayOptions> = {
  host: true,
  surroundings: true,
  limits: true,
  decide: true,
  door: true,
  allowance: true,
  audit: true,
  sealKey: true,
  logger: true,
};

type AssemblyOptions = GatewayOptions & {
  openTenant?: OpenTenant | undefined;
  sets?: SetSource | undefined;
};

/** Everything behind the edges. */
export class Assembly {
  readonly host: Host;
  readonly tenants: ServedTenants;
  readonly gate: CallGate;
  readonly limits: Limits;
  readonly budget: ByteBudget;
  readonly logger: Logger;
  readonly failures: FailureLog;

  static async open(options: AssemblyOptions): Promise<Assembly> {
    const { host: given, surroundings, limits } = options;
    if (limits) checkOptions("limits", limits, { ...DEFAULT_LIMITS, ...DEFAULT_CALL_LIMITS, ...PROCESS_LIMITS });
    const parts = partsOf(options);
    const own = { connectionShare: limits?.share, processes: processLimitsOf(parts.allLimits) };
    const host = surroundings ? await Host.start({ ...own, ...given }, surroundings) : given;
    const sets = setsOf(DEFAULT_TENANT, options);
    const first = await ServedHost.open(host, { ...parts, sets });
    return new Assembly(first, { ...parts, tracing: await CallTracer.find() }, options);
  }

  private constructor(first: ServedHost, parts: Parts & Traced, options: AssemblyOptions) {
    const { allowance, audit, openTenant } = options;
    const { logger, failures, budget, tracing, allLimits: limits } = parts;
    this.host = first.host;
    this.limits = limits;
    this.budget = budget;
    this.logger = logger;
    this.failures = failures;
    this.gate = new CallGate({ ...limits, areTenantsSeparate: openTenant !== undefined });
    this.tenants = new ServedTenants({
      first,
      firstReports: { logger, failures },
      open:
        openTenant &&
        (async (name, reports, signal) =>
          ServedHost.open(await openTenant(name, signal), { ...parts, ...reports, sets: setsOf(name, options) })),
      limits,
      gate: this.gate,
      allowance,
      audit: trailOf(audit),
      tracing,
    });
  }

  /** Refuses new calls from now on; resolves when no call runs. */
  async quiet(): Promise<void> {
    const { gate, tenants } = this;
    // The answer to a question of one call comes as another one.
    do {
      await gate.close();
      await tenants.settled();
    } while (gate.running > 0 || tenants.unfinished > 0);
  }

  /** Ends what is kept for callers, then stops the servers. */
  close(): Promise<void> {
    return this.tenants.close();
  }
}

interface Traced {
  /** Undefined where the program registers no SDK of OpenTelemetry. */
  tracing: CallTracer | undefined;
}

/** What all tenants share. */
interface Parts extends Omit<ServedHostOptions, "sets"> {
  allLimits: Limits;
}

function setsOf(tenant: string, { sets }: AssemblyOptions): TenantSets | undefined {
  return sets && { source: sets, tenant };
}

function partsOf(options: AssemblyOptions): Parts {
  const { limits, decide, door, audit, sealKey, openTenant, logger: given = SILENT } = options;
  const logger = safeLogger(given);
  const allLimits = { ...DEFAULT_LIMITS, ...limits };
  const budget = new ByteBudget({ ...allLimits, areTenantsSeparate: openTenant !== undefined });
  return {
    seal: new Seal(sealKey),
    budget,
    limits,
    allLimits,
    rules: door ?? { decide },
    resources: trailOf(audit).ownCalls,
    logger,
    failures: new FailureLog(logger),
  };
}

interface ServedHostOptions extends TenantReports {
  seal: Seal;
  budget: ByteBudget;
  limits: Partial<CallLimits> | undefined;
  allLimits: Pick<Limits, "firstListMs">;
  rules: AccessRules;
  sets: TenantSets | undefined;
  resources: GatewayResources | undefined;
}

/** A host and what stands between it and the endpoints: the core, and the calls that run. */
class ServedHost implements TenantHost {
  readonly host: Host;
  readonly views: GatewayCore;
  readonly #calls: Calls;

  /** Closes a host that cannot be served. */
  static async open(host: Host, options: ServedHostOptions): Promise<ServedHost> {
    const circle = circleIn(host);
    if (!circle) return new ServedHost(host, options);
    await host.close();
    throw circle;
  }

  private constructor(host: Host, options: ServedHostOptions) {
    const { seal, budget, limits, allLimits, rules, sets, resources, logger, failures } = options;
    const calls = new Calls({ host, seal, limits, budget, logger });
    this.host = host;
    this.#calls = calls;
    this.views = new GatewayCore({
      failures,
      host,
      calls,
      seal,
      logger,
      sets,
      resources,
      firstWaitMs: allLimits.firstListMs,
      rules,
    });
  }

  get parked(): number {
    return this.#calls.parked;
  }

  get isAwaited(): boolean {
    return this.#calls.isAwaited;
  }

  get unfinished(): number {
    return this.#calls.unfinished;
  }

  settled(): Promise<void> {
    return this.#calls.settled();
  }

  /** Ends what is kept for callers, then the servers. */
  async close(): Promise<void> {
    await this.#calls.close();
    await this.views.close();
    await this.host.close();
  }
}

/** Finds an entry that started this process: serving it would start gateways without end. */
function circleIn(host: Host): NexusError | undefined {
  for (const { id, state, definition } of host.servers()) {
    const reach = definition.entry?.reach;
    const isOff = state.kind === "disabled" || state.kind === "waiting-for-trust";
    if (reach?.kind !== "stdio" || isOff || !host.chain.isStartedBy(reach)) continue;
    return startsItself().with({ server: id, source: definition.origin });
  }
  return undefined;
}
