import type { Kysely } from "kysely";
import { serverId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { Seal } from "../../server/core/seal.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";
import { requireTenant } from "./tenants.ts";

/** `local`: added on the machine itself. `network`: it starts no program, and reaches public addresses only. */
type EntryOrigin = "local" | "network";

/** A server of a tenant, with its entry as in a configuration file. */
export interface TenantServer {
  name: string;
  entry: Readonly<Record<string, unknown>>;
  origin: EntryOrigin;
}

interface TenantServerList {
  /** Sorted by name. */
  servers: TenantServer[];
  /** Ids of servers whose entries cannot be decrypted. */
  unreadable: string[];
}

/** Maximum characters of an entry as JSON. */
const MAX_ENTRY = 500_000;

/** Throws for an entry that is too long to be stored, so that nothing else is done with it. */
export function requireShort({ name, entry }: Pick<TenantServer, "name" | "entry">): void {
  if (JSON.stringify(entry).length > MAX_ENTRY) throw tooLong(serverId(name));
}

/**
 * The servers of one tenant. Entries may contain secrets, so they are encrypted, together with their origin: who can write
 * to the database cannot turn an entry from the network into a local one.
 */
export class TenantServers {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #seal: Seal;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, { tenant, key, now }: { tenant: string; key: Buffer; now: () => number }) {
    this.#db = db;
    this.#tenant = tenant;
    this.#seal = new Seal(key);
    this.#now = now;
  }

  async list(): Promise<TenantServerList> {
    const rows = await this.#db
      .selectFrom("nexus_servers")
      .select(["id", "name", "sealed"])
      .where("tenant", "=", this.#tenant)
      .execute();
    const opened = rows.map(({ id, name, sealed }) => ({ name, server: this.#open(id, sealed) }));
    return {
      servers: opened.flatMap(({ server }) => server ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      unreadable: opened.flatMap(({ name, server }) => (server ? [] : [serverId(name)])).toSorted(),
    };
  }

  /** By its id or its name. */
  async find(name: string): Promise<TenantServer | undefined> {
    const row = await this.#db
      .selectFrom("nexus_servers")
      .select("sealed")
      .where("id", "=", this.#id(name))
      .executeTakeFirst();
    return row && this.#require(name, row.sealed);
  }

  /** Throws if the tenant does not exist, or if it has a server with this id that may not be replaced. */
  async put(server: TenantServer, { replace = false }: { replace?: boolean | undefined } = {}): Promise<void> {
    const { name, origin } = server;
    const id = this.#id(name);
    const sealed = this.#sealed(id, server);
    const row = { id, tenant: this.#tenant, name, sealed, origin, changed_at: this.#now() };
    await this.#db.transaction().execute(async (transaction) => {
      await requireTenant(transaction, this.#tenant);
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto("nexus_servers")
        .values(row)
        .onConflict((conflict) => (replace ? conflict.column("id").doUpdateSet(row) : conflict.doNothing()))
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 1n) throw takenName(serverId(name), this.#tenant);
      await announce(transaction, "servers");
    });
  }

  /** Returns the server as it was; undefined if there is none. */
  async enable(name: string, enabled: boolean): Promise<TenantServer | undefined> {
    const id = this.#id(name);
    return this.#db.transaction().execute(async (transaction) => {
      // Locks the row: another process may change or remove the server.
      const row = await transaction
        .updateTable("nexus_servers")
        .set({ changed_at: this.#now() })
        .where("id", "=", id)
        .returning("sealed")
        .executeTakeFirst();
      if (!row) return undefined;
      const before = this.#require(name, row.sealed);
      const { enabled: _enabled, disabled: _disabled, ...rest } = before.entry;
      const sealed = this.#sealed(id, { ...before, entry: enabled ? rest : { ...rest, enabled: false } });
      await transaction.updateTable("nexus_servers").set({ sealed }).where("id", "=", id).execute();
      await announce(transaction, "servers");
      return before;
    });
  }

  /** False if there was none. */
  async remove(name: string): Promise<boolean> {
    return this.#db.transaction().execute(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom("nexus_servers")
        .where("id", "=", this.#id(name))
        .executeTakeFirst();
      if (numDeletedRows > 0n) await announce(transaction, "servers");
      return numDeletedRows > 0n;
    });
  }

  #sealed(id: string, { name, entry, origin }: TenantServer): string {
    const sealed = this.#seal.seal({ name, entry, origin }, id);
    if (!this.#open(id, sealed)) throw tooLong(serverId(name));
    return sealed;
  }

  #require(name: string, sealed: string): TenantServer {
    const server = this.#open(this.#id(name), sealed);
    if (!server) throw damaged(serverId(name));
    return server;
  }

  /**
   * The seal guarantees that this program wrote the content, so its format is known; the id, that it was written for this
   * tenant.
   */
  #open(id: string, sealed: string): TenantServer | undefined {
    const server = this.#seal.open(sealed, id) as TenantServer | undefined;
    return server && this.#id(server.name) === id ? server : undefined;
  }

  /** Two names with the same server id are the same server. */
  #id(name: string): string {
    return sha256(`${this.#tenant}\n${serverId(name)}`);
  }
}

function takenName(id: string, tenant: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The tenant "${tenant}" already has a server "${id}"`, {
    server: id,
    refusal: "CONFLICT",
    hint: `Choose another name, or replace it: {changeServer id=${id}}`,
    mayHaveReached: false,
  });
}

function tooLong(id: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The entry of server "${id}" is too long`, {
    phase: "config",
    server: id,
    hint: `An entry has at most ${MAX_ENTRY.toLocaleString("en")} characters.`,
    mayHaveReached: false,
  });
}

function damaged(id: string): NexusError {
  return new NexusError("PERMISSION_DENIED", `The stored entry of server "${id}" cannot be decrypted`, {
    phase: "config",
    server: id,
    hint: "The database was changed by something else than Nexus. Add the server again.",
    mayHaveReached: false,
  });
}
