import type { Kysely } from "kysely";
import type { ApiKeyRow, StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";
import { hasKeysRequired } from "./keys-required.ts";
import { changedLimits, type LimitChange, type RequestLimits } from "./request-limits.ts";
import { requireTenant } from "./tenants.ts";
import { hashOfKey, idInKey, isSameHash, newKeyId, newKeyText } from "./key-text.ts";

export const KEY_ROLES = ["caller", "operator", "admin"] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

/** The permissions of a key, as patterns. */
export interface KeyGrants {
  allow: readonly string[];
  deny: readonly string[];
  readOnly: boolean;
}

export interface NewApiKey {
  tenant: string;
  name: string;
  role: KeyRole;
  grants: KeyGrants;
  limits?: RequestLimits;
  allTenants?: boolean;
  expiresAt?: number | undefined;
}

/** A key without its secret. */
export interface ApiKey extends Required<Omit<NewApiKey, "expiresAt">> {
  id: string;
  createdAt: number;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
  usedAt: number | undefined;
  /** Until then, the secret before the last rotation is also valid. */
  formerUntil: number | undefined;
}

/** A new key with its full text, which is shown only once. */
export interface IssuedKey {
  key: string;
  about: ApiKey;
}

/** A key with the hashes of its secrets. */
export interface KeyWithHashes {
  about: ApiKey;
  /** Until when each works. */
  hashes: ReadonlyMap<string, number>;
}

/** API keys, found by id and stored as hashes. */
export class ApiKeys {
  readonly #db: Kysely<StoreTables>;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Throws if the tenant does not exist. */
  async create({
    tenant,
    name,
    role,
    grants,
    limits = {},
    allTenants = false,
    expiresAt,
  }: NewApiKey): Promise<IssuedKey> {
    const id = newKeyId();
    const key = newKeyText(id);
    const row: ApiKeyRow = {
      id,
      tenant,
      name,
      role,
      grants: JSON.stringify(grants),
      limits: JSON.stringify(limits),
      all_tenants: allTenants ? 1 : 0,
      hash: hashOfKey(key),
      former_hash: null,
      former_until: null,
      created_at: this.#now(),
      expires_at: expiresAt ?? null,
      revoked_at: null,
      used_at: null,
    };
    await this.#db.transaction().execute(async (transaction) => {
      await requireTenant(transaction, tenant);
      await transaction.insertInto("nexus_api_keys").values(row).execute();
      await announce(transaction, "keys");
    });
    return { key, about: fromRow(row) };
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await this.#row(id);
    return row && fromRow(row);
  }

  /** Those of these ids that exist. */
  async findAll(ids: readonly string[]): Promise<Map<string, KeyWithHashes>> {
    const found = new Map<string, KeyWithHashes>();
    for (let at = 0; at < ids.length; at += MANY) {
      const some = ids.slice(at, at + MANY);
      const rows = await this.#db.selectFrom("nexus_api_keys").selectAll().where("id", "in", some).execute();
      for (const row of rows) found.set(row.id, { about: fromRow(row), hashes: hashesIn(row) });
    }
    return found;
  }

  /**
   * The key with this full text, also if it is revoked or expired, and until when this secret works; undefined if the
   * secret is wrong.
   */
  async findByText(text: string): Promise<{ about: ApiKey; until: number } | undefined> {
    const id = idInKey(text);
    const row = id === undefined ? undefined : await this.#row(id);
    if (!row) return undefined;
    const hash = hashOfKey(text);
    if (isSameHash(hash, row.hash)) return { about: fromRow(row), until: Infinity };
    const until = row.former_until ?? 0;
    return isSameHash(hash, row.former_hash ?? "") && until > this.#now() ? { about: fromRow(row), until } : undefined;
  }

  /** The keys of a tenant, or all keys, the oldest first. */
  async list(tenant?: string): Promise<ApiKey[]> {
    const all = this.#db.selectFrom("nexus_api_keys").selectAll();
    const rows = await (tenant === undefined ? all : all.where("tenant", "=", tenant)).execute();
    return rows.map(fromRow).toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  async count(): Promise<number> {
    const { count } = await this.#db
      .selectFrom("nexus_api_keys")
      .select((select) => select.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Whether there is a key, or was one: revoked keys count, and those of tenants that were removed. */
  async areRequired(): Promise<boolean> {
    return (await this.count()) > 0 || hasKeysRequired(this.#db);
  }

  /**
   * Replaces the secret; the old one stays valid for `overlapMs`. Undefined if there is no such key, or it is revoked or has
   * expired: nobody could use the new secret.
   */
  async rotate(id: string, overlapMs: number): Promise<IssuedKey | undefined> {
    const key = newKeyText(id);
    return this.#change(id, (row) => {
      if ((row.expires_at ?? Infinity) <= this.#now()) return undefined;
      const until = this.#now() + overlapMs;
      const former = overlapMs > 0 ? { former_hash: row.hash, former_until: until } : NO_FORMER;
      return { hash: hashOfKey(key), ...former };
    }).then((about) => about && { key, about });
  }

  /** Undefined if there is no such key, or it is already revoked. */
  revoke(id: string): Promise<ApiKey | undefined> {
    return this.#change(id, () => ({ revoked_at: this.#now(), ...NO_FORMER }));
  }

  /** Undefined if there is no such key, or it is revoked. */
  setLimits(id: string, change: LimitChange): Promise<ApiKey | undefined> {
    return this.#change(id, ({ limits }) => ({
      limits: JSON.stringify(changedLimits(JSON.parse(limits) as RequestLimits, change)),
    }));
  }

  /** Undefined if there is no such key, or it is revoked. */
  setGrants(id: string, grants: KeyGrants): Promise<ApiKey | undefined> {
    return this.#change(id, () => ({ grants: JSON.stringify(grants) }));
  }

  /** Not announced to other processes. */
  async recordUse(id: string): Promise<void> {
    await this.#db.updateTable("nexus_api_keys").set({ used_at: this.#now() }).where("id", "=", id).execute();
  }

  async #change(id: string, change: (row: ApiKeyRow) => Partial<ApiKeyRow> | undefined): Promise<ApiKey | undefined> {
    return this.#db.transaction().execute(async (transaction) => {
      // Locks the row, so that the second of two rotations sees the secret of the first.
      const row = await transaction
        .updateTable("nexus_api_keys")
        .set({ id })
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .returningAll()
        .executeTakeFirst();
      const changed = row && change(row);
      if (!changed) return undefined;
      await transaction.updateTable("nexus_api_keys").set(changed).where("id", "=", id).execute();
      await announce(transaction, "keys");
      return fromRow({ ...row, ...changed });
    });
  }

  #row(id: string): Promise<ApiKeyRow | undefined> {
    return this.#db.selectFrom("nexus_api_keys").selectAll().where("id", "=", id).executeTakeFirst();
  }
}

/** Ids in one query: databases limit how many values one may have. */
const MANY = 500;
const NO_FORMER = { former_hash: null, former_until: null };

/** The columns were written by this program, so their format is known. */
function fromRow(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    role: row.role as KeyRole,
    grants: JSON.parse(row.grants) as KeyGrants,
    limits: JSON.parse(row.limits) as RequestLimits,
    allTenants: row.all_tenants === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    usedAt: row.used_at ?? undefined,
    formerUntil: row.former_until ?? undefined,
  };
}

function hashesIn({ hash, former_hash: former, former_until: until }: ApiKeyRow): Map<string, number> {
  const hashes = new Map([[hash, Infinity]]);
  if (former !== null && until !== null) hashes.set(former, until);
  return hashes;
}
