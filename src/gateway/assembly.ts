import { safeLogger, SILENT, type Logger } from "../text/logger.ts";
import { Host } from "../host/host.ts";
import type { HostOptions } from "../host/host-options.ts";
import type { NexusError } from "../errors/nexus-error.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import { startsItself } from "../transport/via-marks.ts";
import type { Audit } from "./operation/audit.ts";
import { ByteBudget } from "../server/core/byte-budget.ts";
import { Calls, type CallLimits } from "./calls/calls.ts";
import { GatewayCore } from "./gateway-core.ts";
import type { Decide } from "./access/principal-access.ts";
import { Seal } from "../server/core/seal.ts";
import { CallGate } from "./edge/call-gate.ts";
import { Endpoints } from "./edge/guarded-core.ts";
import { FailureLog } from "./operation/failure-log.ts";
import { DEFAULT_LIMITS, type Limits } from "./operation/limits.ts";
import { Metrics } from "./operation/metrics.ts";

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
  /** Called once for every call. */
  audit?: Audit | undefined;
  /** 32 bytes for sealing state that callers carry. Default: random, which does not survive a restart. */
  sealKey?: Buffer | undefined;
  logger?: Logger | undefined;
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

/** Everything behind the edges. */
export class Assembly {
  readonly host: Host;
  readonly endpoints: Endpoints;
  readonly calls: Calls;
  readonly gate: CallGate;
  readonly metrics = new Metrics();
  readonly limits: Limits;
  readonly budget: ByteBudget;
  readonly logger: Logger;
  readonly failures: FailureLog;
  readonly #core: GatewayCore;

  static async open(options: GatewayOptions): Promise<Assembly> {
    const { host: given, surroundings, limits } = options;
    const own = { connectionShare: limits?.share, processes: { ...DEFAULT_LIMITS, ...limits } };
    const host = surroundings ? await Host.start({ ...own, ...given }, surroundings) : given;
    const circle = circleIn(host);
    if (!circle) return new Assembly(host, options);
    await host.close();
    throw circle;
  }

  private constructor(host: Host, { limits, decide, audit, sealKey, logger = SILENT }: GatewaySettings) {
    const seal = new Seal(sealKey);
    this.host = host;
    this.logger = safeLogger(logger);
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.budget = new ByteBudget(this.limits);
    this.calls = new Calls({ host, seal, limits, budget: this.budget, logger: this.logger });
    const failures = (this.failures = new FailureLog(this.logger));
    this.#core = new GatewayCore({ failures, host, calls: this.calls, seal, decide, logger: this.logger });
    this.gate = new CallGate(this.limits);
    this.endpoints = new Endpoints({
      views: this.#core,
      gate: this.gate,
      metrics: this.metrics,
      audit: audit ?? (() => {}),
      logger: this.logger,
      failures,
    });
  }

  /** Ends what is kept for callers, then stops the servers. */
  async close(): Promise<void> {
    await this.calls.close();
    await this.#core.close();
    await this.host.close();
  }
}
