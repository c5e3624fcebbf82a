import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ApiKey, IssuedKey, KeyGrants, NewApiKey } from "../../store/keep/api-keys.ts";
import { writtenLimits, type LimitChange, type WrittenLimits } from "../../store/keep/request-limits.ts";
import type { Store } from "../../store/store.ts";
import { parseGrant } from "../grant-pattern.ts";
import { isoTime } from "../../text/duration.ts";

/** A hundred years: a key cannot last longer, nor its old secret. Far later there are no dates. */
export const MAX_KEY_MS = 36_500 * 86_400_000;

/** What programs are told about a key; never its secret. */
export interface KeyView extends KeyGrants {
  id: string;
  name: string;
  tenant: string;
  role: ApiKey["role"];
  limits: WrittenLimits;
  allTenants: boolean;
  created: string;
  expires: string | null;
  revoked: string | null;
  lastUsed: string | null;
}

/** A new key or a new secret, which is shown only once. */
export interface IssuedKeyView extends Pick<KeyView, "id" | "name" | "tenant" | "role" | "expires"> {
  key: string;
}

export function keyView(about: ApiKey): KeyView {
  const { id, name, tenant, role, grants, allTenants } = about;
  return {
    id,
    name,
    tenant,
    role,
    allow: grants.allow,
    deny: grants.deny,
    readOnly: grants.readOnly,
    limits: writtenLimits(about.limits),
    allTenants,
    created: isoTime(about.createdAt),
    expires: timeText(about.expiresAt),
    revoked: timeText(about.revokedAt),
    lastUsed: timeText(about.usedAt),
  };
}

export function issuedKeyView({ key, about }: IssuedKey): IssuedKeyView {
  const { id, name, tenant, role, expiresAt } = about;
  return { id, key, name, tenant, role, expires: timeText(expiresAt) };
}

/** Keys as operators manage them. */
export class KeyOperations {
  readonly #store: Pick<Store, "keys" | "tenants">;

  constructor(store: Pick<Store, "keys" | "tenants">) {
    this.#store = store;
  }

  /** Of all tenants, or of one that has to exist; the oldest first. */
  async list(tenant?: string): Promise<KeyView[]> {
    const keys = await this.#store.keys.list(tenant);
    if (tenant !== undefined && keys.length === 0) await this.#store.tenants.require(tenant);
    return keys.map(keyView);
  }

  /** Of the tenant where one is named. Throws NAME_UNKNOWN. */
  async get(id: string, tenant?: string): Promise<KeyView> {
    const key = await this.#store.keys.find(id);
    if (key && (tenant === undefined || key.tenant === tenant)) return keyView(key);
    throw unknownKey(id);
  }

  /** Throws ARGUMENTS_INVALID for patterns that are not valid, and for rights that such a key cannot have. */
  async create(key: NewApiKey): Promise<IssuedKeyView> {
    checkGrants(key.grants);
    if (key.allTenants && (key.role !== "admin" || key.tenant !== DEFAULT_TENANT)) {
      throw invalid(`Only admins of the tenant "${DEFAULT_TENANT}" can manage all tenants`);
    }
    return issuedKeyView(await this.#store.keys.create(key));
  }

  async rotate(id: string, overlapMs: number): Promise<IssuedKeyView> {
    const issued = await this.#store.keys.rotate(id, overlapMs);
    if (!issued) throw unknownKey(id);
    return issuedKeyView(issued);
  }

  async revoke(id: string): Promise<KeyView> {
    const revoked = await this.#store.keys.revoke(id);
    if (!revoked) throw unknownKey(id);
    return keyView(revoked);
  }

  async setLimits(id: string, change: LimitChange): Promise<KeyView> {
    const changed = await this.#store.keys.setLimits(id, change);
    if (!changed) throw unknownKey(id);
    return keyView(changed);
  }

  async setGrants(id: string, grants: KeyGrants): Promise<KeyView> {
    checkGrants(grants);
    const changed = await this.#store.keys.setGrants(id, grants);
    if (!changed) throw unknownKey(id);
    return keyView(changed);
  }
}

/** `others`: keys that may be meant. A name is no id: several keys can have the same one. */
export function unknownKey(id: string, others: readonly Pick<ApiKey, "id" | "name">[] = []): NexusError {
  const named = others.filter(({ name }) => name === id).map((key) => key.id);
  const hint =
    named.length === 0
      ? `"nexus keys list" shows the ids of all keys.`
      : `"${id}" is the name of a key. Use its id: ${named.join(" or ")}`;
  return new NexusError("NAME_UNKNOWN", `There is no usable key with the id "${id}"`, { hint, mayHaveReached: false });
}

function checkGrants({ allow, deny }: KeyGrants): void {
  if (allow.length === 0) throw invalid("The key would allow nothing");
  for (const pattern of [...allow, ...deny]) checkPattern(pattern);
}

function checkPattern(pattern: string): void {
  try {
    parseGrant(pattern);
  } catch {
    throw invalid(`${JSON.stringify(pattern)} is not a valid pattern`);
  }
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, {
    hint: "A pattern starts with a server id, or with * for every server: github, github.search*, github/resources, *. A set is set:NAME.",
    mayHaveReached: false,
  });
}

function timeText(at: number | undefined): string | null {
  return at === undefined ? null : isoTime(at);
}
