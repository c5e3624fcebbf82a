import type { NexusError } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import type { ByteBudget } from "../server/core/byte-budget.ts";
import type { Seal } from "../server/core/seal.ts";
import { startsItself } from "../transport/via-marks.ts";
import type { AccessRules } from "./access/principal-access.ts";
import { Calls, type CallLimits } from "./calls/calls.ts";
import { GatewayCore } from "./gateway-core.ts";
import type { GatewayResources } from "./operation/gateway-resources.ts";
import type { Limits } from "./operation/limits.ts";
import type { TenantSets } from "./requests/set-selections.ts";
import type { TenantHost } from "./tenants/tenant-host.ts";
import type { TenantReports } from "./tenants/served-tenants.ts";

export interface ServedHostOptions extends TenantReports {
  seal: Seal;
  budget: ByteBudget;
  limits: Partial<CallLimits> | undefined;
  allLimits: Pick<Limits, "firstListMs">;
  rules: AccessRules;
  sets: TenantSets | undefined;
  resources: GatewayResources | undefined;
}

/** A host and what stands between it and the endpoints: the core, and the calls that run. */
export class ServedHost implements TenantHost {
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
