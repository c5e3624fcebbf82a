import { Endpoints, type GuardedCoreOptions } from "../edge/guarded-core.ts";
import type { EdgeTenant } from "../edge/edge-tenant.ts";
import type { ProcessUsage } from "../../process/process-budget.ts";
import type { Host } from "../../host/host.ts";
import { Metrics } from "../operation/metrics.ts";
import type { TenantHost } from "./tenant-host.ts";

export interface ServedTenantOptions extends Omit<GuardedCoreOptions, "metrics"> {
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
