import type { CompiledApi } from "../compile/compile.ts";
import type { Approval } from "../review/lock.ts";
import type { VersionChangeKind } from "./version-number.ts";

/** `local`: by the command line on the machine itself. `network`: by REST; what it reaches must be a public address. */
export type PublicationOrigin = "local" | "network";

/** `retired`: it stays in the store and keeps its number, but is not served and cannot become current. */
export type VersionState = "published" | "retired";

/** A version of an API without its content. */
export interface VersionRecord {
  api: string;
  /**
   * `MAJOR.MINOR.PATCH`, the number that is served. It belongs to the publication and not to the approved content, so
   * `compiled.file.version` may differ.
   */
  version: string;
  /** The approved hash: that of `compiled`. */
  hash: string;
  approval: Approval;
  /**
   * What it changes, compared with the highest version of the same major number, or of all if it is the first with this
   * number. Absent for the first version of the API.
   */
  change?: { since: string; kind: VersionChangeKind };
  publishedBy: string;
  /** ISO 8601. */
  publishedAt: string;
  origin: PublicationOrigin;
  state: VersionState;
}

/** A version of an API that was approved and published. It never changes, except for its state. */
export interface PublishedVersion extends VersionRecord {
  compiled: CompiledApi;
  /** The texts of its documents by name. */
  documents: Readonly<Record<string, string>>;
  /** The tool file as it was written, with its fake and checks. */
  text: string;
}

/** A published API as a server of its tenant: one version with its own upstream address, settings, secrets and limits. */
export interface ApiInstance {
  api: string;
  /** `live`, `test` and so on; unique for the API. */
  name: string;
  /** The id of the server; its secrets are `<server>.<name>`. */
  server: string;
  /** The version that is served. */
  current: string;
  /** Versions that were current before, the newest last; `rollback` without a version takes the last. */
  former: readonly string[];
  /** Instead of `upstream.base` of the file: an address, or `fake`. */
  upstream?: string;
  /** Where other addresses of the file are reached by an instance with an upstream address; by prefix. */
  addresses?: Readonly<Record<string, string>>;
  settings: Readonly<Record<string, string>>;
  limits?: InstanceLimits;
  /**
   * Of its upstream address. A server reaches only public addresses if the version that it serves came from the network,
   * or if it has an upstream address that did.
   */
  origin: PublicationOrigin;
}

/** Limits of one instance. They can only be stricter than those of the tool file. */
export interface InstanceLimits {
  timeoutMs?: number;
  /** Requests to upstream per minute, in each gateway. */
  perMinute?: number;
}

/**
 * The published APIs of a tenant as a gateway reads them. `instance` and `version` throw if something else than Nexus
 * changed what they read; lists leave it out.
 */
export interface PublishedSource {
  /** All instances, sorted by server; `unreadable`: the servers whose rows were changed by something else than Nexus. */
  instances(): Promise<{ instances: ApiInstance[]; unreadable: string[] }>;
  instance(server: string): Promise<ApiInstance | undefined>;
  /** Also a retired one. */
  version(api: string, version: string): Promise<PublishedVersion | undefined>;
  /** Without those that are retired, the lowest first. */
  published(api: string): Promise<PublishedVersion[]>;
  /** The same without content, and with retired versions. */
  records(api: string): Promise<VersionRecord[]>;
  /** Adds to the number of calls per version. */
  countCalls(uses: readonly UsedCalls[]): Promise<void>;
}

/** Calls that were made since the last time they were counted. */
export interface UsedCalls {
  server: string;
  api: string;
  version: string;
  calls: number;
  /** The time of the last one, in milliseconds since 1970. */
  at: number;
}
