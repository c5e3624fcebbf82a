import type { ApiKey, IssuedKey, NewApiKey } from "../../store/keep/api-keys.ts";
import {
  changedLimits,
  parseLimits,
  writtenLimits,
  type LimitChange,
  type RequestLimits,
} from "../../store/keep/request-limits.ts";
import type { KeptSet } from "../../store/keep/sets.ts";
import type { Tenant } from "../../store/keep/tenants.ts";
import type { Store } from "../../store/store.ts";
import type { Explanation } from "../../team/grants.ts";
import type { AskedUse } from "../../team/operate/explain-use.ts";
import type { IssuedKeyView, KeyView } from "../../team/operate/key-operations.ts";
import type { SetView } from "../../team/operate/set-view.ts";
import type { TenantView } from "../../team/operate/tenant-operations.ts";
import { GatewayClient, queryText, type GatewayClientOptions } from "./gateway-client.ts";

/** What operating commands use of a store: one that is opened, or that of a gateway elsewhere. */
export interface OperatedStore extends AsyncDisposable {
  keys: Pick<Store["keys"], "create" | "find" | "list" | "rotate" | "revoke" | "setLimits">;
  tenants: Pick<Store["tenants"], "create" | "find" | "list" | "remove" | "require" | "setLimits">;
  sets: Pick<Store["sets"], "get" | "list" | "put" | "remove">;
  /** Whether a key may use something. Only a gateway has the servers for it. */
  explain?(key: Pick<ApiKey, "id" | "tenant">, use: AskedUse): Promise<Explanation>;
}

/** The store of a gateway elsewhere, through its REST API. */
export class RemoteStore implements OperatedStore {
  readonly keys: OperatedStore["keys"];
  readonly tenants: OperatedStore["tenants"];
  readonly sets: OperatedStore["sets"];
  readonly #client: GatewayClient;

  constructor(options: GatewayClientOptions) {
    this.#client = new GatewayClient(options);
    this.keys = {
      create: (key) => this.#createKey(key),
      find: async (id) => (await this.#keys()).find((key) => key.id === id),
      list: (tenant) => this.#keys(tenant),
      rotate: async (id, overlapMs) => {
        const path = await this.#pathOfKey(id);
        return path === undefined ? undefined : this.#issued(path, "/rotate", { overlap: `${overlapMs}ms` });
      },
      revoke: async (id) => {
        const path = await this.#pathOfKey(id);
        return path === undefined ? undefined : keyOf(await this.#client.send("DELETE", path));
      },
      setLimits: (id, change) => this.#limitKey(id, change),
    };
    this.tenants = {
      create: async (name, limits?: RequestLimits) => {
        const created = tenantOf(await this.#client.send("POST", "/tenants", { name }));
        return limits && Object.keys(limits).length > 0 ? this.tenants.setLimits(name, limits) : created;
      },
      find: async (name) => (await this.tenants.list()).find((tenant) => tenant.name === name),
      list: async () => (await this.#client.list<TenantView>("/tenants")).map(tenantOf),
      remove: async (name) => {
        await this.#client.send("DELETE", `/tenants/${part(name)}`);
        return true;
      },
      setLimits: async (name, change) =>
        tenantOf(await this.#client.send("PATCH", `/tenants/${part(name)}/limits`, writtenChange(change))),
      require: async (name) => {
        await this.#client.send("GET", `/tenants/${part(name)}`);
      },
    };
    this.sets = {
      get: async (tenant, name) => setOf(await this.#client.send("GET", pathOfSet(tenant, name))),
      list: async (tenant) => {
        const lists = (await this.#tenants(tenant)).map((each) => this.#client.list<SetView>(pathOfSets(each)));
        return (await Promise.all(lists)).flat().map(setOf);
      },
      put: (set, options) => this.#putSet(set, options?.replace === true),
      remove: async (tenant, name) => {
        await this.#client.send("DELETE", pathOfSet(tenant, name));
      },
    };
  }

  async explain({ id, tenant }: Pick<ApiKey, "id" | "tenant">, { full, set }: AskedUse): Promise<Explanation> {
    const path = `${pathOfKeys(tenant)}/${part(id)}/explain${queryText({ target: full, set })}`;
    const explained = await this.#client.send<Omit<Explanation, "rule"> & { rule: string | null }>("GET", path);
    return { ...explained, rule: explained.rule ?? undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The tenant that is named, or those that the key manages. */
  async #tenants(tenant?: string): Promise<string[]> {
    return tenant === undefined ? this.#client.managedTenants() : [tenant];
  }

  async #keys(tenant?: string): Promise<ApiKey[]> {
    const lists = (await this.#tenants(tenant)).map((each) => this.#client.list<KeyView>(pathOfKeys(each)));
    return (await Promise.all(lists)).flat().map(keyOf);
  }

  async #pathOfKey(id: string): Promise<string | undefined> {
    const key = await this.keys.find(id);
    return key && `${pathOfKeys(key.tenant)}/${part(id)}`;
  }

  async #createKey({ tenant, name, role, grants, limits = {}, allTenants, expiresAt }: NewApiKey): Promise<IssuedKey> {
    return this.#issued(pathOfKeys(tenant), "", {
      name,
      role,
      ...grants,
      limits: writtenLimits(limits),
      allTenants,
      expires: expiresAt === undefined ? undefined : `${Math.round(expiresAt - Date.now())}ms`,
    });
  }

  async #issued(path: string, action: string, body: unknown): Promise<IssuedKey> {
    const issued = await this.#client.send<IssuedKeyView>("POST", `${path}${action}`, body);
    const about = await this.#client.send<KeyView>("GET", `${pathOfKeys(issued.tenant)}/${part(issued.id)}`);
    return { key: issued.key, about: keyOf(about) };
  }

  async #limitKey(id: string, change: LimitChange): Promise<ApiKey | undefined> {
    const path = await this.#pathOfKey(id);
    if (path === undefined) return undefined;
    await this.#client.send("PATCH", `${path}/limits`, writtenChange(change));
    return this.keys.find(id);
  }

  async #putSet({ tenant, name, definition }: Omit<KeptSet, "changedAt">, mayReplace: boolean) {
    const body = JSON.parse(definition) as object;
    const isReplaced = mayReplace && (await this.sets.list(tenant)).some((set) => set.name === name);
    const view = isReplaced
      ? await this.#client.send<SetView>("PUT", pathOfSet(tenant, name), body)
      : await this.#client.send<SetView>("POST", pathOfSets(tenant), { name, ...body });
    return { ...setOf(view), isReplaced };
  }
}

function part(text: string): string {
  return encodeURIComponent(text);
}

function pathOfKeys(tenant: string): string {
  return `/tenants/${part(tenant)}/keys`;
}

function pathOfSets(tenant: string): string {
  return `/tenants/${part(tenant)}/sets`;
}

function pathOfSet(tenant: string, name: string): string {
  return `${pathOfSets(tenant)}/${part(name)}`;
}

function keyOf(view: KeyView): ApiKey {
  const { id, name, tenant, role, allow, deny, readOnly, limits, allTenants } = view;
  return {
    id,
    name,
    tenant,
    role,
    grants: { allow, deny, readOnly },
    limits: changedLimits({}, parseLimits(limits)),
    allTenants,
    createdAt: Date.parse(view.created),
    expiresAt: timeOf(view.expires),
    revokedAt: timeOf(view.revoked),
    usedAt: timeOf(view.lastUsed),
    formerUntil: undefined,
  };
}

function tenantOf({ name, created, limits }: TenantView): Tenant {
  return { name, createdAt: Date.parse(created), limits: changedLimits({}, parseLimits(limits)) };
}

/** As the REST API takes it: null removes a limit. */
function writtenChange(change: LimitChange): Record<string, unknown> {
  const removed = Object.entries(change).flatMap(([name, value]) => (value === null ? [name] : []));
  const nulls = removed.map((name) => [name === "maxBytes" ? "maxRequest" : name, null]);
  return { ...writtenLimits(changedLimits({}, change)), ...Object.fromEntries(nulls) };
}

function setOf({ name, tenant, changed, path: _path, description, ...rest }: SetView): KeptSet {
  const definition = JSON.stringify({ ...(description === null ? {} : { description }), ...rest });
  return { name, tenant, definition, changedAt: Date.parse(changed) };
}

function timeOf(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}
