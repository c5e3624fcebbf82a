import type { Store } from "../../store/store.ts";
import {
  writtenLimits,
  type LimitChange,
  type RequestLimits,
  type ShownLimits,
} from "../../store/keep/request-limits.ts";
import { unknownTenant, type Tenant } from "../../store/keep/tenants.ts";
import { isoTime } from "../../text/duration.ts";

/** What programs are told about a tenant. */
export interface TenantView {
  name: string;
  created: string;
  limits: ShownLimits;
  /** The number of usable keys. */
  keys: number;
}

/** What managing tenants needs of a store. */
interface OperatedTenants {
  keys: Pick<Store["keys"], "list">;
  tenants: Pick<Store["tenants"], "create" | "find" | "list" | "remove" | "setLimits">;
}

/** Tenants as operators manage them. */
export class TenantOperations {
  readonly #store: OperatedTenants;

  constructor(store: OperatedTenants) {
    this.#store = store;
  }

  /** Sorted by name. */
  async list(): Promise<TenantView[]> {
    const [tenants, keys] = await Promise.all([this.#store.tenants.list(), this.#store.keys.list()]);
    return tenants.map((tenant) =>
      tenantView(
        tenant,
        keys.filter(({ tenant: owner }) => owner === tenant.name),
      ),
    );
  }

  /** Throws NAME_UNKNOWN. */
  async get(name: string): Promise<TenantView> {
    const tenant = await this.#store.tenants.find(name);
    if (!tenant) throw unknownTenant(name);
    return tenantView(tenant, await this.#store.keys.list(name));
  }

  /** Throws if the name is invalid or already used. */
  async create(name: string, limits?: RequestLimits): Promise<TenantView> {
    return tenantView(await this.#store.tenants.create(name, limits), []);
  }

  /** Throws NAME_UNKNOWN. */
  async setLimits(name: string, change: LimitChange): Promise<TenantView> {
    return tenantView(await this.#store.tenants.setLimits(name, change), await this.#store.keys.list(name));
  }

  /** Throws NAME_UNKNOWN. */
  async remove(name: string): Promise<void> {
    if (!(await this.#store.tenants.remove(name))) throw unknownTenant(name);
  }
}

type KeyTimes = Awaited<ReturnType<Store["keys"]["list"]>>[number];

function tenantView({ name, createdAt, limits }: Tenant, keys: readonly KeyTimes[]): TenantView {
  const now = Date.now();
  const usable = keys.filter(({ revokedAt, expiresAt = Infinity }) => revokedAt === undefined && expiresAt > now);
  const created = isoTime(createdAt);
  return { name, created, limits: writtenLimits(limits), keys: usable.length };
}
