import { Live, type Changes } from "../async/live.ts";
import { Turns } from "../async/turns.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { asNexusError } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import { unknownTenant } from "../store/keep/tenants.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

interface TenantHostsOptions {
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
  readonly #looking: Live<void>;

  static async follow(options: TenantHostsOptions): Promise<TenantHosts> {
    const hosts = new TenantHosts(options);
    await hosts.#looking.follow();
    return hosts;
  }

  private constructor(options: TenantHostsOptions) {
    this.#options = options;
    this.#looking = new Live<void>(undefined, {
      changes: options.store.changes.of("tenants"),
      read: () => this.#findRemoved(),
      what: "changes of tenants",
      logger: options.logger,
    });
  }

  /** Throws STORE_UNAVAILABLE while the database is away. */
  readonly open = async (tenant: string): Promise<Host> => {
    const { store, start, define, logger } = this.#options;
    const host = await start(tenant);
    const changes = store.changes.of("servers", "apis");
    const opened = new OpenedTenant(host, { changes, define: () => define(tenant), logger });
    this.#opened.set(tenant, opened);
    try {
      // Before anything is read, so that no change in between is missed.
      await opened.follow();
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
    this.#looking[Symbol.dispose]();
    for (const opened of this.#opened.values()) opened.forget();
  }

  async #findRemoved(): Promise<void> {
    const { store, logger } = this.#options;
    const there = new Set((await store.tenants.list()).map(({ name }) => name));
    for (const [tenant, opened] of this.#opened) {
      if (opened.isForgotten) this.#opened.delete(tenant);
      if (there.has(tenant) || opened.isForgotten) continue;
      opened.forget();
      logger.info("the tenant was removed", { tenant });
      for (const listener of this.#listeners) listener(tenant);
    }
  }
}

interface OpenedOptions {
  changes: Changes;
  define: () => Promise<ServerDefinition[]>;
  logger: Logger;
}

/** The host of a tenant, and its servers as they were read last. */
class OpenedTenant {
  readonly #host: Host;
  readonly #define: OpenedOptions["define"];
  /** While servers cannot be read, those that run go on. */
  readonly #applying: Live<void>;
  readonly #turns = new Turns();
  #isForgotten = false;

  constructor(host: Host, { changes, define, logger }: OpenedOptions) {
    this.#host = host;
    this.#define = define;
    const what = `the servers of the tenant "${host.tenant}"`;
    this.#applying = new Live<void>(undefined, { changes, read: () => this.#apply(), what, logger });
  }

  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  follow(): Promise<void> {
    return this.#applying.follow();
  }

  /** Unchanged servers keep their connections. What was read first is also applied first. */
  read(): Promise<void> {
    return this.#turns.run(async () => this.#host.setServers(await this.#define()));
  }

  forget(): void {
    this.#isForgotten = true;
    this.#applying[Symbol.dispose]();
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
}
