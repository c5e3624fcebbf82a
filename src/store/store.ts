import { DatabaseTrust } from "./keep/database-trust.ts";
import { createHmac } from "node:crypto";
import type { Kysely } from "kysely";
import { instanceKey, type ServerInstance } from "../auth/server-instance.ts";
import { NexusError, messageOf } from "../errors/nexus-error.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { isMissingFile, type DatabaseAddress } from "./engine/database-address.ts";
import { openEngine } from "./engine/engine.ts";
import { ApiKeys } from "./keep/api-keys.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { AuditWitness } from "./audit/audit-witness.ts";
import { SeenAudit } from "./audit/seen-audit.ts";
import { DatabaseCache } from "./keep/database-cache.ts";
import { DatabaseEras } from "./keep/database-eras.ts";
import { DatabaseSecrets } from "./keep/database-secrets.ts";
import { DatabaseWriteLedger, findRecordingInstances } from "./keep/database-write-ledger.ts";
import { PublishedApis } from "./keep/published-apis.ts";
import { Rates } from "./keep/rates.ts";
import { Sets } from "./keep/sets.ts";
import { Definitions } from "./keep/definitions.ts";
import { TenantServers } from "./keep/tenant-servers.ts";
import { Tenants } from "./keep/tenants.ts";
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";
import { loadVersion, migrate, type Migrated, type StoreEngine } from "./tables/migrate.ts";
import { Live, type Changes } from "../async/live.ts";
import { Turns } from "../async/turns.ts";
import type {
  DefinitionChange,
  DefinitionLedger,
  NamedDefinition,
  ReadList,
  Standing,
} from "../host/definitions/definition-ledger.ts";
import { reportedChanges, type KnownDefinitions } from "../host/definitions/known-definitions.ts";
import { callListener } from "../async/call-listener.ts";
import { loadGenerations, TOPICS, type ChangeTopic } from "./keep/generations.ts";
import type { StoreTables } from "./tables/tables.ts";
import { findKeyCheck, recordKeyCheck } from "./keep/key-check.ts";
import { requireKey } from "./key-of-store.ts";

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

/**
 * A ledger in the store. The hashes of the servers that were compared are in memory: comparing a list that has not
 * changed needs no database, and what was compared stays decided while the database is away.
 */
class StoredLedger implements DefinitionLedger {
  readonly keepsUnpinned: boolean;
  readonly #definitions: Definitions;
  readonly #changes: ChangeNotices;
  readonly #logger: Logger;
  readonly #servers = new Map<string, KnownDefinitions>();
  readonly #listeners = new Set<(server: string) => void>();
  readonly #turns = new Turns();
  #stop: Promise<() => void> | undefined;

  constructor(
    definitions: Definitions,
    changes: ChangeNotices,
    { logger = SILENT, keepsUnpinned = true }: { logger?: Logger | undefined; keepsUnpinned?: boolean } = {},
  ) {
    this.#definitions = definitions;
    this.#changes = changes;
    this.#logger = logger;
    this.keepsUnpinned = keepsUnpinned;
  }

  async compare(list: ReadList): Promise<DefinitionChange[]> {
    const { server } = list;
    const isAway = this.#changes.silentSince !== undefined;
    if (this.#isRecorded(list, { isAway })) return [];
    if (isAway) throw databaseAway();
    return this.#turns.run(async () => {
      await this.#load(server);
      // Another comparison may have recorded it while this one waited.
      if (this.#isRecorded(list)) return [];
      const { differences, known } = await this.#definitions.record(list);
      this.#servers.set(server, known);
      return reportedChanges(server, differences);
    });
  }

  load(server: string): Promise<void> {
    return this.#turns.run(() => this.#load(server));
  }

  standingOf(definition: NamedDefinition): Standing {
    return this.#servers.get(definition.server)?.standingOf(definition) ?? "unknown";
  }

  onAccepted(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      void this.#stop?.then((stop) => stop());
      this.#stop = undefined;
    };
  }

  async #listen(): Promise<() => void> {
    const reading = new Live<void>(undefined, {
      changes: this.#changes.of("definitions"),
      read: () => this.#turns.run(() => this.#readAgain()),
      what: "accepted definitions",
      logger: this.#logger,
    });
    try {
      await reading.follow();
      return () => reading[Symbol.dispose]();
    } catch (error) {
      this.#logger.warn(`accepted definitions are noticed from the next start on: ${messageOf(error)}`);
      return () => {};
    }
  }

  /**
   * Whether nothing has to be written. What is held is looked up in the database: another process may have read the accepted
   * definition since then, for example from an older version of the server, and then the change could not be accepted.
   */
  #isRecorded(list: ReadList, { isAway = false } = {}): boolean {
    const known = this.#servers.get(list.server);
    if (!known || known.differences(list).length > 0) return false;
    return isAway || !list.isPinned || !known.hasWaiting(list);
  }

  async #load(server: string): Promise<void> {
    if (this.#servers.has(server)) return;
    const known = (await this.#definitions.load([server])).get(server);
    if (known) this.#servers.set(server, known);
  }

  /** Something was accepted: reads all hashes again. */
  async #readAgain(): Promise<void> {
    const read = await this.#definitions.load([...this.#servers.keys()]);
    for (const [server, now] of read) {
      const before = this.#servers.get(server);
      this.#servers.set(server, now);
      if (before && acceptedIn(before) !== acceptedIn(now)) for (const tell of this.#listeners) tell(server);
    }
  }
}

/** The same text while the same is accepted. */
function acceptedIn(known: KnownDefinitions): string {
  const accepted = known
    .all()
    .map(({ place: { kind, name, seenBy }, hashes }) => JSON.stringify([kind, name, seenBy, hashes.accepted]));
  return accepted.toSorted().join("\n");
}

function databaseAway(): NexusError {
  return new NexusError("STORE_UNAVAILABLE", "the database of the gateway is away", { mayHaveReached: false });
}

/** Other processes notice a change within a second. */
const POLL_MS = 250;

type TopicListener = (topic: ChangeTopic) => void;

/** Reports changes in the store, including those of other processes. Polls only while there are listeners. */
class ChangeNotices {
  readonly #db: Kysely<StoreTables>;
  readonly #logger: Logger;
  readonly #listeners = new Set<TopicListener>();
  #known: Map<string, number> | undefined;
  #beginning: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silentSince: number | undefined;

  constructor(db: Kysely<StoreTables>, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  /** When the database stopped answering, by `performance.now()`; undefined while it answers. */
  get silentSince(): number | undefined {
    return this.#silentSince;
  }

  /** Calls the listener for each change from now on. Returns a function that stops it. */
  async listen(listener: TopicListener): Promise<() => void> {
    if (this.#listeners.size === 0) await (this.#beginning ??= this.#begin());
    this.#listeners.add(listener);
    this.#schedule();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Changes of these topics alone. */
  of(...topics: readonly ChangeTopic[]): Changes {
    return (changed) =>
      this.listen((topic) => {
        if (topics.includes(topic)) changed();
      });
  }

  close(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Listeners that come at the same time share it. */
  async #begin(): Promise<void> {
    try {
      this.#known = await loadGenerations(this.#db);
      this.#silentSince = undefined;
    } finally {
      this.#beginning = undefined;
    }
  }

  #schedule(): void {
    if (this.#listeners.size === 0 || this.#timer) return;
    const timer = setTimeout(() => void this.#poll(timer), POLL_MS);
    timer.unref();
    this.#timer = timer;
  }

  async #poll(timer: NodeJS.Timeout): Promise<void> {
    const startedAt = performance.now();
    // Callers that need the database get their own errors.
    const now = await loadGenerations(this.#db).catch((error: unknown) => this.#reportSilence(error));
    // It was closed meanwhile; new listeners have a timer of their own.
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    if (now) this.#compare(now);
    else this.#silentSince ??= startedAt;
    this.#schedule();
  }

  /** Once, until the database answers again. */
  #reportSilence(error: unknown): undefined {
    if (this.#silentSince !== undefined) return;
    this.#logger.warn(`changes in the store are not noticed until it can be read: ${messageOf(error)}`);
  }

  #compare(now: Map<string, number>): void {
    const before = this.#known;
    this.#known = now;
    this.#silentSince = undefined;
    const changed = TOPICS.filter((topic) => now.get(topic) !== before?.get(topic));
    for (const topic of changed)
      for (const listener of this.#listeners) callListener(() => listener(topic), this.#logger);
  }
}

/** Loads the master key of a store, or creates it for a new store. Throws if it is missing or does not match. */
async function openKey(engine: StoreEngine, place: MasterKeyPlace): Promise<MasterKey> {
  const known = await findKeyCheck(engine.db);
  if (known !== undefined) return requireKey(known, await place.find(), { what: `The store ${engine.shown}`, place });
  const key = await place.findOrCreate();
  await recordKeyCheck(engine.db, key.checkValue);
  // Another process may have recorded a different key at the same time.
  const recorded = (await findKeyCheck(engine.db)) ?? key.checkValue;
  return requireKey(recorded, key, { what: `The store ${engine.shown}`, place });
}
