import { RepeatedRuns } from "../async/coalesced-runs.ts";
import { Turns } from "../async/turns.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { asNexusError, messageOf } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import { unknownTenant } from "../store/keep/tenants.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

export interface TenantHostsOptions {
  store: Pick<Store, "tenants" | "changes">;
  /** Starts the host of a tenant, without servers. */
  start: (tenant: string) => Promise<Host>;
  /** Reads the servers of a tenant. */
  define: (tenant: string) => Promise<ServerDefinition[]>;
  logger: Logger;
}

/** Opens the hosts of tenants with their servers in the store, and changes them when those change, in whatever process. */
export class TenantHosts implements Disposable {
  readonly #options: TenantHostsOptions;
  readonly #opened = new Map<string, OpenedTenant>();
  readonly #listeners = new Set<(tenant: string) => void>();
  readonly #looking = new RepeatedRuns(() => this.#findRemoved(), {
    onFailure: (error) => this.#options.logger.warn(`changes of tenants could not be read: ${messageOf(error)}`),
  });
  #stop: () => void = () => {};

  static async follow(options: TenantHostsOptions): Promise<TenantHosts> {
    const hosts = new TenantHosts(options);
    hosts.#stop = await options.store.changes.listen((topic) => {
      if (topic === "tenants") void hosts.#looking.run();
      if (topic === "servers" || topic === "apis") hosts.#applyChanges();
    });
    return hosts;
  }

  private constructor(options: TenantHostsOptions) {
    this.#options = options;
  }

  /** Throws STORE_UNAVAILABLE while the database is away. */
  readonly open = async (tenant: string): Promise<Host> => {
    const { store, start, define, logger } = this.#options;
    const host = await start(tenant);
    const opened = new OpenedTenant(host, { define: () => define(tenant), logger });
    // Before anything is read, so that no change in between is missed.
    this.#opened.set(tenant, opened);
    try {
      if (!(await store.tenants.find(tenant))) throw unknownTenant(tenant);
      await opened.read();
    } catch (error) {
      opened.forget();
      await host.close();
      throw error;
    }
    logger.info("the tenant was opened", { tenant });
    return host;
  };

  /** Calls the listener for each tenant that is removed. Returns a function that stops this. */
  onRemoved(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#looking.close();
    for (const opened of this.#opened.values()) opened.forget();
  }

  #applyChanges(): void {
    for (const [tenant, opened] of this.#opened) {
      if (opened.isForgotten) this.#opened.delete(tenant);
      else void opened.applying.run();
    }
  }

  async #findRemoved(): Promise<void> {
    const { store, logger } = this.#options;
    const there = new Set((await store.tenants.list()).map(({ name }) => name));
    for (const [tenant, opened] of this.#opened) {
      if (there.has(tenant) || opened.isForgotten) continue;
      opened.forget();
      logger.info("the tenant was removed", { tenant });
      for (const listener of this.#listeners) listener(tenant);
    }
  }
}

/** The host of a tenant, and its servers as they were read last. */
class OpenedTenant {
  /** What cannot be read is read again until it can; the servers that run go on. */
  readonly applying = new RepeatedRuns(() => this.#apply(), { onFailure: (error) => this.#warn(error) });
  readonly #host: Host;
  readonly #options: { define: () => Promise<ServerDefinition[]>; logger: Logger };
  readonly #turns = new Turns();
  #isForgotten = false;

  constructor(host: Host, options: { define: () => Promise<ServerDefinition[]>; logger: Logger }) {
    this.#host = host;
    this.#options = options;
  }

  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Unchanged servers keep their connections. What was read first is also applied first. */
  read(): Promise<void> {
    return this.#turns.run(async () => this.#host.setServers(await this.#options.define()));
  }

  forget(): void {
    this.#isForgotten = true;
    this.applying.close();
  }

  async #apply(): Promise<void> {
    try {
      await this.read();
    } catch (error) {
      // The gateway closes a tenant that is not used.
      if (asNexusError(error).code === "CLOSED") return this.forget();
      throw error;
    }
  }

  #warn(error: unknown): void {
    const { tenant } = this.#host;
    this.#options.logger.warn(`the servers of the tenant "${tenant}" could not be read: ${messageOf(error)}`);
  }
}
