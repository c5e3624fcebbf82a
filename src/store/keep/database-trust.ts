import type { Kysely } from "kysely";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";

/** Trust in project files, as in `FileTrustStore`. */
export class DatabaseTrust implements TrustStore {
  readonly #db: Kysely<StoreTables>;

  constructor(db: Kysely<StoreTables>) {
    this.#db = db;
  }

  async isTrusted(file: string, fingerprint: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("nexus_trust")
      .select("fingerprint")
      .where("id", "=", sha256(file))
      .executeTakeFirst();
    return row?.fingerprint === fingerprint;
  }

  async trust(file: string, fingerprint: string): Promise<void> {
    await this.#db
      .insertInto("nexus_trust")
      .values({ id: sha256(file), file, fingerprint })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ fingerprint }))
      .execute();
  }

  async revoke(file: string): Promise<void> {
    await this.#db.deleteFrom("nexus_trust").where("id", "=", sha256(file)).execute();
  }
}
