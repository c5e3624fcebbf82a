import { createHmac } from "node:crypto";
import { instanceKey, type ServerInstance } from "../auth/server-instance.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { ChangeNotices } from "./change-notices.ts";
import { isMissingFile, type DatabaseAddress } from "./engine/database-address.ts";
import { openEngine } from "./engine/engine.ts";
import { ApiKeys } from "./keep/api-keys.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { AuditWitness } from "./audit/audit-witness.ts";
import { SeenAudit } from "./audit/seen-audit.ts";
import { DatabaseCache } from "./keep/database-cache.ts";
import { DatabaseEras } from "./keep/database-eras.ts";
import { DatabaseSecrets } from "./keep/database-secrets.ts";
import { DatabaseTrust } from "./keep/database-trust.ts";
import { DatabaseWriteLedger, findRecordingInstances } from "./keep/database-write-ledger.ts";
import { PublishedApis } from "./keep/published-apis.ts";
import { Rates } from "./keep/rates.ts";
import { Sets } from "./keep/sets.ts";
import { Definitions } from "./keep/definitions.ts";
import { StoredLedger } from "./stored-ledger.ts";
import { TenantServers } from "./keep/tenant-servers.ts";
import { Tenants } from "./keep/tenants.ts";
import { openKey } from "./key-of-store.ts";
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";
import { loadVersion, migrate, type Migrated, type StoreEngine } from "./tables/migrate.ts";

export interface StoreOptions {
  address: DatabaseAddress;
  masterKey: MasterKeyPlace;
  /** False: a store that does not exist is an error, and is not created. */
  create?: boolean;
  logger?: Logger | undefined;
  now?: () => number;
}

interface StoreParts {
  masterKey: MasterKey;
  witness: AuditWitness;
  migrated: Migrated;
  logger: Logger;
  now: () => number;
}

/** The persistent data of a gateway, in SQLite or PostgreSQL. Several processes can share a store. */
export class Store implements AsyncDisposable {
  readonly engine: StoreEngine;
  readonly tenants: Tenants;
  readonly keys: ApiKeys;
  readonly sets: Sets;
  readonly audit: AuditLog;
  readonly rates: Rates;
  readonly trust: DatabaseTrust;
  readonly changes: ChangeNotices;
  readonly masterKey: MasterKey;
  /** The schema versions before and after opening. */
  readonly migrated: Migrated;
  readonly #now: () => number;

  private constructor(engine: StoreEngine, { masterKey, witness, migrated, logger, now }: StoreParts) {
    const { db } = engine;
    const seen = new SeenAudit({ witness, logger, now });
    this.engine = engine;
    this.masterKey = masterKey;
    this.migrated = migrated;
    this.tenants = new Tenants(db, now);
    this.keys = new ApiKeys(db, now);
    this.sets = new Sets(db, now);
    this.audit = new AuditLog(engine, { key: masterKey.derive("audit"), now, seen });
    this.rates = new Rates(engine, now);
    this.trust = new DatabaseTrust(db);
    this.changes = new ChangeNotices(db, logger);
    this.#now = now;
  }

  /** Creates the store and the master key if missing. Throws if the schema is newer or the master key does not match. */
  static async open(options: StoreOptions): Promise<Store> {
    const { address, masterKey, create = true, logger = SILENT, now = Date.now } = options;
    if (!create && isMissingFile(address)) throw noStore(address);
    const engine: StoreEngine = await openEngine(address, logger);
    try {
      if (!create && (await loadVersion(engine)) === 0) throw noStore(address);
      const migrated = await migrate(engine);
      const key = await openKey(engine, masterKey);
      return new Store(engine, { masterKey: key, witness: witnessOf(address, key, masterKey), migrated, logger, now });
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  secrets(tenant: string): DatabaseSecrets {
    return new DatabaseSecrets(this.engine.db, { tenant, key: this.masterKey.derive("secrets"), now: this.#now });
  }

  servers(tenant: string): TenantServers {
    return new TenantServers(this.engine.db, { tenant, key: this.masterKey.derive("servers"), now: this.#now });
  }

  /** The APIs that a tenant has published. */
  apis(tenant: string): PublishedApis {
    return new PublishedApis(this.engine.db, { tenant, key: this.masterKey.derive("apis") });
  }

  /** The key that seals the state which clients of a server carry between two requests. */
  stateKey(of: ServerInstance): Buffer {
    return createHmac("sha256", this.masterKey.derive("state")).update(instanceKey(of)).digest();
  }

  /** Every server of a tenant with recorded writes, configured or not, sorted by name. */
  async recordedWrites(tenant: string): Promise<{ server: string; ledger: DatabaseWriteLedger }[]> {
    const instances = await findRecordingInstances(this.engine.db, tenant);
    return instances.map((of) => ({ server: of.server, ledger: this.writes(of) }));
  }

  writes(of: ServerInstance): DatabaseWriteLedger {
    return new DatabaseWriteLedger(this.engine.db, of, this.#now);
  }

  definitions(tenant: string): Definitions {
    return new Definitions(this.engine.db, tenant, this.#now);
  }

  /** `keepsUnpinned`: whether the definitions of servers that are not pinned are kept as well. */
  ledger(tenant: string, options: { logger?: Logger | undefined; keepsUnpinned?: boolean } = {}): StoredLedger {
    return new StoredLedger(this.definitions(tenant), this.changes, options);
  }

  eras(tenant: string): DatabaseEras {
    return new DatabaseEras(this.engine.db, tenant, this.#now);
  }

  cache(tenant: string, { maxAnswers }: { maxAnswers?: number } = {}): DatabaseCache {
    const limit = maxAnswers === undefined ? {} : { maxAnswers };
    return new DatabaseCache(this.engine.db, { tenant, now: this.#now, ...limit });
  }

  async close(): Promise<void> {
    this.changes.close();
    await this.audit.close();
    await this.engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What this machine has seen of the audit. */
export function witnessOf(address: DatabaseAddress, key: MasterKey, { file, platform }: MasterKeyPlace): AuditWitness {
  return new AuditWitness(address, { key: key.derive("audit-seen"), keyFile: file, platform });
}

function noStore({ shown }: DatabaseAddress): NexusError {
  return new NexusError("NAME_UNKNOWN", `There is no store at ${shown}`, {
    hint: "Check the address: --database, NEXUS_DATABASE, or gateway.database in the configuration.",
    mayHaveReached: false,
  });
}
