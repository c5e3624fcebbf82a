import { RepeatedRuns } from "../async/coalesced-runs.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

export interface TenantLimitsOptions {
  store: Pick<Store, "tenants" | "changes">;
  logger: Logger;
}

/** The limits of tenants, kept in memory and read again when they change, in whatever process. */
export class TenantLimits implements Disposable {
  readonly #options: TenantLimitsOptions;
  /** What cannot be read is read again until it can. */
  readonly #reading = new RepeatedRuns(() => this.#read(), {
    onFailure: (error) => this.#options.logger.warn(`limits of tenants could not be read: ${messageOf(error)}`),
  });
  /** Only tenants that have limits. */
  #limits = new Map<string, RequestLimits>();
  #stop: () => void = () => {};

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: TenantLimitsOptions): Promise<TenantLimits> {
    const limits = new TenantLimits(options);
    // Before anything is read, so that no change in between is missed.
    limits.#stop = await options.store.changes.listen((topic) => {
      if (topic === "tenants") void limits.#reading.run();
    });
    try {
      await limits.#read();
      return limits;
    } catch (error) {
      limits[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(options: TenantLimitsOptions) {
    this.#options = options;
  }

  /** The same object for as long as they are the same. */
  find(tenant: string): RequestLimits | undefined {
    return this.#limits.size === 0 ? undefined : this.#limits.get(tenant);
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#reading.close();
  }

  async #read(): Promise<void> {
    const tenants = await this.#options.store.tenants.list();
    const limited = tenants.filter(({ limits }) => Object.keys(limits).length > 0);
    this.#limits = new Map(limited.map(({ name, limits }) => [name, limits]));
  }
}
