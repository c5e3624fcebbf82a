import { Live } from "../async/live.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

export interface TenantLimitsOptions {
  store: Pick<Store, "tenants" | "changes">;
  logger: Logger;
}

/** The limits of tenants, kept in memory and read again when they change, in whatever process. */
export class TenantLimits implements Disposable {
  /** Only tenants that have limits. */
  readonly #limits: Live<ReadonlyMap<string, RequestLimits>>;

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: TenantLimitsOptions): Promise<TenantLimits> {
    const limits = new TenantLimits(options);
    await limits.#limits.open();
    return limits;
  }

  private constructor({ store, logger }: TenantLimitsOptions) {
    this.#limits = new Live<ReadonlyMap<string, RequestLimits>>(new Map(), {
      changes: store.changes.of("tenants"),
      read: async () => limitsOf(await store.tenants.list()),
      what: "limits of tenants",
      logger,
    });
  }

  /** The same object for as long as they are the same. */
  find(tenant: string): RequestLimits | undefined {
    return this.#limits.value.get(tenant);
  }

  [Symbol.dispose](): void {
    this.#limits[Symbol.dispose]();
  }
}

function limitsOf(tenants: readonly { name: string; limits: RequestLimits }[]): Map<string, RequestLimits> {
  const limited = tenants.filter(({ limits }) => Object.keys(limits).length > 0);
  return new Map(limited.map(({ name, limits }) => [name, limits]));
}
