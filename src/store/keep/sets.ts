import type { Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import { nearNames } from "../../text/nearest-name.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";
import { requireTenant } from "./tenants.ts";

/** A set of a tenant. What its definition means is up to the gateway. */
export interface KeptSet {
  tenant: string;
  name: string;
  /** JSON. */
  definition: string;
  changedAt: number;
}

/** A set that was just stored. */
interface StoredSet extends KeptSet {
  /** Whether there was one with this name before. */
  isReplaced: boolean;
}

/** Same rule as for server ids. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** The sets of all tenants. */
export class Sets {
  readonly #db: Kysely<StoreTables>;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** Of all tenants, or of one; sorted by tenant and name. */
  async list(tenant?: string): Promise<KeptSet[]> {
    const all = this.#db.selectFrom("nexus_sets").select(["tenant", "name", "definition", "changed_at"]);
    const rows = await (tenant === undefined ? all : all.where("tenant", "=", tenant)).execute();
    // Databases sort text differently.
    return rows
      .map(({ changed_at: changedAt, ...row }) => ({ ...row, changedAt }))
      .toSorted((a, b) => (a.tenant === b.tenant ? (a.name < b.name ? -1 : 1) : a.tenant < b.tenant ? -1 : 1));
  }

  /** Throws NAME_UNKNOWN, with similar names, if there is none. */
  async get(tenant: string, name: string): Promise<KeptSet> {
    const sets = await this.list(tenant);
    const found = sets.find((set) => set.name === name);
    if (found) return found;
    await requireTenant(this.#db, tenant);
    throw unknownSet(name, sets);
  }

  /** Throws if the name is invalid, if the tenant does not exist, or if it has such a set that may not be replaced. */
  async put(
    { tenant, name, definition }: Omit<KeptSet, "changedAt">,
    { replace = false }: { replace?: boolean | undefined } = {},
  ): Promise<StoredSet> {
    if (!NAME.test(name)) throw invalidName(name);
    const changedAt = this.#now();
    const row = { id: idOf(tenant, name), tenant, name, definition, changed_at: changedAt };
    const isReplaced = await this.#db.transaction().execute(async (transaction) => {
      await requireTenant(transaction, tenant);
      const before = await transaction
        .selectFrom("nexus_sets")
        .select("id")
        .where("id", "=", row.id)
        .executeTakeFirst();
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto("nexus_sets")
        .values(row)
        .onConflict((conflict) => (replace ? conflict.column("id").doUpdateSet(row) : conflict.doNothing()))
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 1n) throw takenName(name, tenant);
      await announce(transaction, "sets");
      return before !== undefined;
    });
    return { tenant, name, definition, changedAt, isReplaced };
  }

  /** Throws NAME_UNKNOWN, with similar names, if there is none. */
  async remove(tenant: string, name: string): Promise<void> {
    const isRemoved = await this.#db.transaction().execute(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom("nexus_sets")
        .where("id", "=", idOf(tenant, name))
        .executeTakeFirst();
      if (numDeletedRows > 0n) await announce(transaction, "sets");
      return numDeletedRows > 0n;
    });
    if (!isRemoved) await this.get(tenant, name);
  }
}

function idOf(tenant: string, name: string): string {
  return sha256(`${tenant}\n${name}`);
}

function unknownSet(name: string, sets: readonly KeptSet[]): NexusError {
  const near = nearNames(
    name,
    sets.map((set) => set.name),
    3,
  );
  const meant = near.map((each) => `"${each}"`).join(" or ");
  const known = `"{listSets}" lists all sets.`;
  return new NexusError("NAME_UNKNOWN", `There is no set "${name}"`, {
    hint: meant === "" ? known : `Did you mean ${meant}? ${known}`,
    mayHaveReached: false,
  });
}

function invalidName(name: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} is not a valid name for a set`, {
    hint: "Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
    mayHaveReached: false,
  });
}

function takenName(name: string, tenant: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The tenant "${tenant}" already has a set "${name}"`, {
    refusal: "CONFLICT",
    hint: `Choose another name, or change that one: {replaceSet name=${name}}`,
    mayHaveReached: false,
  });
}
