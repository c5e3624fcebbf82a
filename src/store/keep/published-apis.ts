import { sql, type Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import type {
  ApiInstance,
  UsedCalls,
  PublishedSource,
  PublishedVersion,
  VersionRecord,
} from "../../workshop/publish/published.ts";
import { compareVersions } from "../../workshop/publish/version-number.ts";
import type { ApiVersionRow, StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";
import { unknownTenant } from "./tenants.ts";
import { createHmac, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { sha256 } from "../../text/digest.ts";
import { approvedForm, fromApprovedForm } from "../../workshop/compile/approved-form.ts";

/** How often a version was called as a server. */
export interface VersionUse {
  server: string;
  version: string;
  calls: number;
  /** The time of the last call, in milliseconds since 1970. */
  usedAt: number;
}

/** The published APIs of one tenant: their versions, the servers that they are, and how much these are used. */
export class PublishedApis implements PublishedSource {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #key: Buffer;
  readonly #rows: PublishedRows;

  constructor(db: Kysely<StoreTables>, { tenant, key }: { tenant: string; key: Buffer }) {
    this.#db = db;
    this.#tenant = tenant;
    this.#key = key;
    this.#rows = new PublishedRows(tenant, key);
  }

  async instances(): Promise<{ instances: ApiInstance[]; unreadable: string[] }> {
    const rows = await this.#db
      .selectFrom("nexus_api_instances")
      .selectAll()
      .where("tenant", "=", this.#tenant)
      .execute();
    const read = rows.map((row) => ({ server: row.server, instance: unlessDamaged(() => this.#rows.instance(row)) }));
    return {
      instances: read.flatMap(({ instance }) => instance ?? []).toSorted((a, b) => (a.server < b.server ? -1 : 1)),
      unreadable: read.flatMap(({ server, instance }) => (instance ? [] : [server])).toSorted(),
    };
  }

  async instance(server: string): Promise<ApiInstance | undefined> {
    const row = await this.#db
      .selectFrom("nexus_api_instances")
      .selectAll()
      .where("id", "=", this.#rows.instanceId(server))
      .executeTakeFirst();
    return row && this.#rows.instance(row);
  }

  async version(api: string, version: string): Promise<PublishedVersion | undefined> {
    const row = await this.#versionRow(api, version);
    return row && this.#rows.version(row);
  }

  async published(api: string): Promise<PublishedVersion[]> {
    const served = (await this.records(api)).filter(({ state }) => state === "published");
    const found = await Promise.all(served.map(({ version }) => this.version(api, version).catch(unlessChanged)));
    return found.filter((version) => version !== undefined);
  }

  async records(api: string): Promise<VersionRecord[]> {
    const rows = await this.#db
      .selectFrom("nexus_api_versions")
      .select(["id", "tenant", "api", "version", "record", "mac"])
      .where("tenant", "=", this.#tenant)
      .where("api", "=", api)
      .execute();
    return rows
      .flatMap((row) => unlessDamaged(() => this.#rows.record(row)) ?? [])
      .toSorted((a, b) => compareVersions(a.version, b.version));
  }

  /** All numbers that are taken, the lowest first, also those of damaged versions. */
  async numbers(api: string): Promise<string[]> {
    const versions = this.#db.selectFrom("nexus_api_versions").select("version");
    const rows = await versions.where("tenant", "=", this.#tenant).where("api", "=", api).execute();
    return rows.map(({ version }) => version).toSorted(compareVersions);
  }

  /** The APIs that have versions, sorted. */
  async apis(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("nexus_api_versions")
      .select("api")
      .distinct()
      .where("tenant", "=", this.#tenant)
      .execute();
    return rows.map(({ api }) => api).toSorted();
  }

  /** Whether a server of the tenant with an entry has this id. */
  async hasServer(id: string): Promise<boolean> {
    const found = await this.#db
      .selectFrom("nexus_servers")
      .select("id")
      .where("id", "=", this.#rows.instanceId(id))
      .executeTakeFirst();
    return found !== undefined;
  }

  async usage(api: string): Promise<VersionUse[]> {
    const rows = await this.#db
      .selectFrom("nexus_api_usage")
      .select(["server", "version", "calls", "used_at"])
      .where("tenant", "=", this.#tenant)
      .where("api", "=", api)
      .execute();
    return rows
      .map(({ used_at: usedAt, ...row }) => ({ ...row, usedAt }))
      .toSorted((a, b) => compareVersions(a.version, b.version) || (a.server < b.server ? -1 : 1));
  }

  async countCalls(uses: readonly UsedCalls[]): Promise<void> {
    for (const { server, api, version, calls, at } of uses) {
      const id = this.#rows.usageId(server, version);
      await this.#db
        .insertInto("nexus_api_usage")
        .values({ id, tenant: this.#tenant, api, server, version, calls, used_at: at })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet({
            calls: sql`nexus_api_usage.calls + ${calls}`,
            used_at: sql`case when nexus_api_usage.used_at > ${at} then nexus_api_usage.used_at else ${at} end`,
          }),
        )
        .execute();
    }
  }

  /** Changes of a tenant's APIs run one after the other; gateways follow when `work` has ended. */
  change<T>(work: (apis: ChangedApis) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (transaction) => {
      // Locks the row of the tenant.
      const { numUpdatedRows } = await transaction
        .updateTable("nexus_tenants")
        .set({ name: this.#tenant })
        .where("name", "=", this.#tenant)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw unknownTenant(this.#tenant);
      const read = new PublishedApis(transaction, { tenant: this.#tenant, key: this.#key });
      const result = await work(new ChangedApis(transaction, read, this.#rows));
      await announce(transaction, "apis");
      return result;
    });
  }

  /** What cannot be used, in words. */
  async findDamage(): Promise<string[]> {
    const { unreadable } = await this.instances();
    const problems = unreadable.map((server) => `nexus_api_instances: server "${server}" was changed`);
    const ids = await this.#db
      .selectFrom("nexus_api_versions")
      .select(["api", "version"])
      .where("tenant", "=", this.#tenant)
      .execute();
    for (const { api, version } of ids) {
      // The content of one version at a time.
      const isWhole = await this.version(api, version).then(
        (found) => found !== undefined,
        () => false,
      );
      if (!isWhole) problems.push(`nexus_api_versions: version ${version} of "${api}" was changed`);
    }
    return problems.map((problem) => `${problem} (tenant "${this.#tenant}")`);
  }

  #versionRow(api: string, version: string): Promise<ApiVersionRow | undefined> {
    return this.#db
      .selectFrom("nexus_api_versions")
      .selectAll()
      .where("id", "=", this.#rows.versionId(api, version))
      .executeTakeFirst();
  }
}

/** Writes in the transaction of a change. */
class ChangedApis {
  /** What is there in the transaction. */
  readonly read: PublishedApis;
  readonly #transaction: Kysely<StoreTables>;
  readonly #rows: PublishedRows;

  constructor(transaction: Kysely<StoreTables>, read: PublishedApis, rows: PublishedRows) {
    this.#transaction = transaction;
    this.read = read;
    this.#rows = rows;
  }

  /** A version with this number must not exist. */
  async add(version: PublishedVersion): Promise<void> {
    await this.#transaction
      .insertInto("nexus_api_versions")
      .values(await this.#rows.ofVersion(version))
      .execute();
  }

  /** False if there is no such version. */
  async setState(api: string, version: string, state: VersionRecord["state"]): Promise<boolean> {
    const id = this.#rows.versionId(api, version);
    const row = await this.#transaction
      .selectFrom("nexus_api_versions")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirst();
    if (!row) return false;
    const { record, mac } = this.#rows.inState(row, state);
    await this.#transaction.updateTable("nexus_api_versions").set({ record, mac }).where("id", "=", id).execute();
    return true;
  }

  /** Also replaces one that is damaged. */
  async putInstance(instance: ApiInstance): Promise<void> {
    const row = this.#rows.ofInstance(instance);
    await this.#transaction
      .insertInto("nexus_api_instances")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
  }

  async removeInstance(server: string): Promise<void> {
    await this.#transaction.deleteFrom("nexus_api_instances").where("id", "=", this.#rows.instanceId(server)).execute();
  }
}

function unlessChanged(error: unknown): undefined {
  // What another program wrote is left out; a database that is away is not an empty one.
  if (error instanceof NexusError && error.code === "PERMISSION_DENIED") return undefined;
  throw error;
}

function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return unlessChanged(error);
  }
}

type InstanceRow = StoreTables["nexus_api_instances"];
type Content = Pick<PublishedVersion, "compiled" | "documents" | "text">;
type StoredRecord = VersionRecord & { content: string };

/** More than a lock, its file and its documents can have together. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/**
 * Writes and reads the rows of published APIs. They are signed with a key that is not in the database, so who can write
 * to the database cannot have something served that was not published, or publish a version of one tenant for another.
 */
class PublishedRows {
  readonly #tenant: string;
  readonly #key: Buffer;

  constructor(tenant: string, key: Buffer) {
    this.#tenant = tenant;
    this.#key = key;
  }

  async ofVersion({ compiled, documents, text, ...record }: PublishedVersion): Promise<ApiVersionRow> {
    const packed = await promisify(gzip)(JSON.stringify({ compiled: approvedForm(compiled), documents, text }));
    const content = packed.toString("base64");
    return this.#signedVersion(record, content, sha256(content));
  }

  /** The same content in another state. */
  inState(row: ApiVersionRow, state: VersionRecord["state"]): ApiVersionRow {
    const { content, ...record } = this.#storedRecord(row);
    return this.#signedVersion({ ...record, state }, row.content, content);
  }

  ofInstance(instance: ApiInstance): InstanceRow {
    const { api, server } = instance;
    const definition = JSON.stringify(instance);
    const mac = this.#mac("instance", [api, server, definition]);
    return { id: this.instanceId(server), tenant: this.#tenant, api, server, definition, mac };
  }

  /** Throws if something else than Nexus changed the row. */
  record(row: Omit<ApiVersionRow, "content">): VersionRecord {
    const { content: _, ...record } = this.#storedRecord(row);
    return record;
  }

  /** Throws if something else than Nexus changed the row, or if the content is not what was approved. */
  async version(row: ApiVersionRow): Promise<PublishedVersion> {
    const { content: digest, ...record } = this.#storedRecord(row);
    if (sha256(row.content) !== digest) throw damagedVersion(row);
    const unpacked = await promisify(gunzip)(Buffer.from(row.content, "base64"), {
      maxOutputLength: MAX_CONTENT_BYTES,
    });
    const content = JSON.parse(unpacked.toString("utf8")) as Content;
    const { hash, approval } = record;
    // The row is as it was written, but an older or defective program may have written it.
    const compiled = fromApprovedForm(content.compiled);
    if (approval.hash !== hash || compiled?.hash !== hash) throw damagedVersion(row);
    return { ...record, ...content, compiled };
  }

  /** Throws if something else than Nexus changed the row. */
  instance({ id, api, server, definition, mac }: InstanceRow): ApiInstance {
    const isOwn = id === this.instanceId(server) && this.#isSigned(mac, "instance", [api, server, definition]);
    if (!isOwn) throw damagedInstance(server);
    return JSON.parse(definition) as ApiInstance;
  }

  versionId(api: string, version: string): string {
    return sha256(`${this.#tenant}\n${api}\n${version}`);
  }

  instanceId(server: string): string {
    return sha256(`${this.#tenant}\n${server}`);
  }

  usageId(server: string, version: string): string {
    return sha256(`${this.#tenant}\n${server}\n${version}`);
  }

  #signedVersion(record: VersionRecord, content: string, digest: string): ApiVersionRow {
    const { api, version } = record;
    const text = JSON.stringify({ ...record, content: digest } satisfies StoredRecord);
    const mac = this.#mac("version", [api, version, text]);
    return { id: this.versionId(api, version), tenant: this.#tenant, api, version, record: text, content, mac };
  }

  /** The signature guarantees that this program wrote the record, so its format is known. */
  #storedRecord({ id, api, version, record, mac }: Omit<ApiVersionRow, "content">): StoredRecord {
    const isOwn = id === this.versionId(api, version) && this.#isSigned(mac, "version", [api, version, record]);
    if (!isOwn) throw damagedVersion({ api, version });
    return JSON.parse(record) as StoredRecord;
  }

  #mac(kind: "version" | "instance", parts: readonly string[]): string {
    const text = JSON.stringify([kind, this.#tenant, ...parts]);
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }

  #isSigned(mac: string, kind: "version" | "instance", parts: readonly string[]): boolean {
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#mac(kind, parts))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

function damagedVersion({ api, version }: Pick<ApiVersionRow, "api" | "version">): NexusError {
  return new NexusError("PERMISSION_DENIED", `The stored version ${version} of "${api}" was changed in the database`, {
    phase: "config",
    server: api,
    hint: `Something else than Nexus changed it, so it is not served. Restore a backup, or publish it again under a new number.`,
    mayHaveReached: false,
  });
}

function damagedInstance(server: string): NexusError {
  return new NexusError("PERMISSION_DENIED", `The stored server "${server}" was changed in the database`, {
    phase: "config",
    server,
    hint: "Something else than Nexus changed it, so it is not served. Restore a backup, or publish the API again.",
    mayHaveReached: false,
  });
}
