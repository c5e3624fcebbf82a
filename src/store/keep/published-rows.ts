import { createHmac, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { approvedForm, fromApprovedForm } from "../../workshop/compile/approved-form.ts";
import type { ApiInstance, PublishedVersion, VersionRecord } from "../../workshop/publish/published.ts";
import type { ApiVersionRow, StoreTables } from "../tables/tables.ts";

type InstanceRow = StoreTables["nexus_api_instances"];
type Content = Pick<PublishedVersion, "compiled" | "documents" | "text">;
type StoredRecord = VersionRecord & { content: string };

/** More than a lock, its file and its documents can have together. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/**
 * Writes and reads the rows of published APIs. They are signed with a key that is not in the database, so who can write
 * to the database cannot have something served that was not published, or publish a version of one tenant for another.
 */
export class PublishedRows {
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
