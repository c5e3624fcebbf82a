import type { Kysely, Selectable } from "kysely";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isUnknownReference } from "../engine/store-failure.ts";
import { TABLES_OF_TENANTS, type StoreTables } from "../tables/tables.ts";
import { announce, TOPICS } from "./generations.ts";
import { changedLimits, type LimitChange, type RequestLimits } from "./request-limits.ts";
import { recordKeysRequired } from "./keys-required.ts";

export interface Tenant {
  name: string;
  createdAt: number;
  /** Of all its callers together. */
  limits: RequestLimits;
}

/** Same rule as for server ids. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const MAX_ATTEMPTS = 3;

/** Tenants: groups of callers with separate data. */
export class Tenants {
  readonly #db: Kysely<StoreTables>;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Throws if the name is invalid or already used. */
  async create(name: string, limits: RequestLimits = {}): Promise<Tenant> {
    if (!NAME.test(name)) throw invalidName(name);
    const createdAt = this.#now();
    await this.#db.transaction().execute(async (transaction) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto("nexus_tenants")
        .values({ name, created_at: createdAt, limits: JSON.stringify(limits) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 1n) throw takenName(name);
      await announce(transaction, "tenants");
    });
    return { name, createdAt, limits };
  }

  async find(name: string): Promise<Tenant | undefined> {
    // PostgreSQL fails on a text with U+0000, and a name that no tenant can have needs no query.
    if (!NAME.test(name)) return undefined;
    const row = await this.#db.selectFrom("nexus_tenants").selectAll().where("name", "=", name).executeTakeFirst();
    return row && fromRow(row);
  }

  /** Throws if there is no such tenant. */
  require(name: string): Promise<void> {
    return requireTenant(this.#db, name);
  }

  /** Sorted by name. */
  async list(): Promise<Tenant[]> {
    const rows = await this.#db.selectFrom("nexus_tenants").selectAll().execute();
    // Databases sort text differently.
    return rows.map(fromRow).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Throws if there is no such tenant. */
  setLimits(name: string, change: LimitChange): Promise<Tenant> {
    return this.#db.transaction().execute(async (transaction) => {
      // Locks the row, so that the second of two changes sees the first.
      const row = await transaction
        .updateTable("nexus_tenants")
        .set({ name })
        .where("name", "=", name)
        .returningAll()
        .executeTakeFirst();
      if (!row) throw unknownTenant(name);
      const limits = changedLimits(fromRow(row).limits, change);
      const changed = { limits: JSON.stringify(limits) };
      await transaction.updateTable("nexus_tenants").set(changed).where("name", "=", name).execute();
      await announce(transaction, "tenants");
      return { ...fromRow(row), limits };
    });
  }

  /** Removes a tenant and all its data; false if it does not exist. */
  async remove(name: string): Promise<boolean> {
    if (name === DEFAULT_TENANT) throw defaultStays();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#removeNow(name);
      } catch (error) {
        // Another process added a row after those of the tenant were removed.
        if (!isUnknownReference(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  #removeNow(name: string): Promise<boolean> {
    return this.#db.transaction().execute(async (transaction) => {
      for (const table of TABLES_OF_TENANTS) {
        const { numDeletedRows } = await transaction.deleteFrom(table).where("tenant", "=", name).executeTakeFirst();
        // Otherwise a gateway would be open to everybody after the last tenant with keys is gone.
        if (table === "nexus_api_keys" && numDeletedRows > 0n) await recordKeysRequired(transaction, this.#now());
      }
      await transaction
        .deleteFrom("nexus_rates")
        .where("key", "like", `${rateKeyOfTenant(name)}:%`)
        .execute();
      const { numDeletedRows } = await transaction
        .deleteFrom("nexus_tenants")
        .where("name", "=", name)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      for (const topic of TOPICS) await announce(transaction, topic);
      return true;
    });
  }
}

/** What the keys of its counts begin with. */
export function rateKeyOfTenant(name: string): string {
  return `tenant:${name}`;
}

/** The columns were written by this program, so their format is known. */
function fromRow({ name, created_at: createdAt, limits }: Selectable<StoreTables["nexus_tenants"]>): Tenant {
  return { name, createdAt, limits: JSON.parse(limits) as RequestLimits };
}

/** Throws if there is no such tenant. */
export async function requireTenant(db: Kysely<StoreTables>, name: string): Promise<void> {
  const row = await db.selectFrom("nexus_tenants").select("name").where("name", "=", name).executeTakeFirst();
  if (!row) throw unknownTenant(name);
}

/** A name that is not valid is not repeated as a command. */
export function unknownTenant(name: string): NexusError {
  const create = NAME.test(name) ? `Create it: {createTenant name=${name}}. ` : "";
  return new NexusError("NAME_UNKNOWN", `There is no tenant "${name}"`, {
    hint: `${create}"{listTenants}" lists all tenants.`,
    mayHaveReached: false,
  });
}

function invalidName(name: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} is not a valid name for a tenant`, {
    hint: "Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
    mayHaveReached: false,
  });
}

function takenName(name: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `There is already a tenant "${name}"`, {
    refusal: "CONFLICT",
    hint: "Choose another name.",
    mayHaveReached: false,
  });
}

function defaultStays(): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The tenant "${DEFAULT_TENANT}" cannot be removed`, {
    hint: "It has the servers of the configuration files. Remove its keys or servers instead.",
    mayHaveReached: false,
  });
}
