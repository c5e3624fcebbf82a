import { createHmac } from "node:crypto";
import type { Kysely } from "kysely";
import { checkSecretName, isValidSecretName } from "../../auth/secret-name.ts";
import type { SecretStore, StoredSecret, StoredSecrets } from "../../auth/secrets.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { Seal } from "../../server/core/seal.ts";
import type { StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";

interface SealedSecret extends StoredSecret {
  name: string;
}

/**
 * The secrets of one tenant, encrypted with a key that is not in the database. A change is announced as one of the servers,
 * whose entries use them.
 */
export class DatabaseSecrets implements SecretStore {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #key: Buffer;
  readonly #seal: Seal;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, { tenant, key, now }: { tenant: string; key: Buffer; now: () => number }) {
    this.#db = db;
    this.#tenant = tenant;
    this.#key = key;
    this.#seal = new Seal(key);
    this.#now = now;
  }

  async get(name: string): Promise<StoredSecret | undefined> {
    return isValidSecretName(name) ? this.#find(this.#db, name, throwDamaged) : undefined;
  }

  async set(name: string, value: string, origins?: readonly string[]): Promise<StoredSecret> {
    checkSecretName(name);
    return this.#locked(name, async (transaction) => {
      // A secret that cannot be decrypted is replaced.
      const before = await this.#find(transaction, name, () => undefined);
      const stored = await this.#write(transaction, name, { value, origins: before?.origins ?? origins });
      await announce(transaction, "servers");
      return stored;
    });
  }

  allow(name: string, origin: string): Promise<StoredSecret | undefined> {
    const add = (before: StoredSecret) => {
      return { ...before, origins: [...new Set([...(before.origins ?? []), origin])].sort() };
    };
    return this.#change(name, add, { isAnnounced: true });
  }

  bind(name: string, origin: string): Promise<StoredSecret | undefined> {
    const limit = (before: StoredSecret) => (before.origins ? before : { ...before, origins: [origin] });
    // The server that uses it does so already.
    return this.#change(name, limit, { isAnnounced: false });
  }

  /** Only files can have secrets without origins. */
  async adopt(): Promise<undefined> {
    return undefined;
  }

  async remove(name: string): Promise<boolean> {
    return this.#db.transaction().execute(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom("nexus_secrets")
        .where("id", "=", this.#id(name))
        .executeTakeFirst();
      if (numDeletedRows > 0n) await announce(transaction, "servers");
      return numDeletedRows > 0n;
    });
  }

  async list(): Promise<StoredSecrets> {
    const rows = await this.#db
      .selectFrom("nexus_secrets")
      .select(["id", "sealed"])
      .where("tenant", "=", this.#tenant)
      .execute();
    const opened = rows.map(({ id, sealed }) => this.#open(id, sealed));
    const secrets = opened.filter((secret) => secret !== undefined).map(({ name, origins }) => ({ name, origins }));
    return {
      secrets: secrets.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      unreadable: opened.filter((secret) => secret === undefined).length,
    };
  }

  async #change(
    name: string,
    change: (before: StoredSecret) => StoredSecret,
    { isAnnounced }: { isAnnounced: boolean },
  ): Promise<StoredSecret | undefined> {
    if (!(await this.get(name))) return undefined;
    return this.#locked(name, async (transaction) => {
      const before = await this.#find(transaction, name, throwDamaged);
      const after = before && change(before);
      if (isAnnounced) await announce(transaction, "servers");
      return after && after !== before ? this.#write(transaction, name, after) : after;
    });
  }

  /** Locks the row of a secret, so that concurrent changes run one after the other. */
  async #locked<T>(name: string, work: (transaction: Kysely<StoreTables>) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (transaction) => {
      const id = this.#id(name);
      await transaction
        .insertInto("nexus_secrets")
        .values({ id, tenant: this.#tenant, sealed: "", changed_at: this.#now() })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ changed_at: this.#now() }))
        .execute();
      const result = await work(transaction);
      // Removes the placeholder if nothing was written.
      await transaction.deleteFrom("nexus_secrets").where("id", "=", id).where("sealed", "=", "").execute();
      return result;
    });
  }

  async #find(db: Kysely<StoreTables>, name: string, onDamage: () => undefined): Promise<StoredSecret | undefined> {
    const id = this.#id(name);
    const row = await db.selectFrom("nexus_secrets").select("sealed").where("id", "=", id).executeTakeFirst();
    if (!row || row.sealed === "") return undefined;
    const secret = this.#open(id, row.sealed);
    if (!secret) return onDamage();
    return { value: secret.value, origins: secret.origins };
  }

  async #write(db: Kysely<StoreTables>, name: string, secret: StoredSecret): Promise<StoredSecret> {
    const id = this.#id(name);
    const sealed = this.#seal.seal({ name, ...secret }, id);
    if (!this.#open(id, sealed)) throw tooLong(name);
    await db.updateTable("nexus_secrets").set({ sealed, changed_at: this.#now() }).where("id", "=", id).execute();
    return secret;
  }

  /** The seal guarantees that this program wrote the content, so its format is known. */
  #open(id: string, sealed: string): SealedSecret | undefined {
    return this.#seal.open(sealed, id) as SealedSecret | undefined;
  }

  /** Does not reveal the name without the key. */
  #id(name: string): string {
    return createHmac("sha256", this.#key).update(`${this.#tenant}\n${name}`).digest("hex");
  }
}

function throwDamaged(): never {
  throw new NexusError("PERMISSION_DENIED", "A stored secret cannot be decrypted", {
    phase: "config",
    hint: "The database was changed by something else than Nexus. Set the secret again.",
    mayHaveReached: false,
  });
}

function tooLong(name: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `The value of the secret "${name}" is too long`, {
    phase: "config",
    hint: "A secret has at most 500,000 characters.",
    mayHaveReached: false,
  });
}
