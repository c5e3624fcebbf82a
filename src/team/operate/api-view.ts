import type { VersionUse } from "../../store/keep/published-apis.ts";
import type { ApiInstance, InstanceLimits, VersionRecord } from "../../workshop/publish/published.ts";
import type { VersionedChange } from "../../workshop/publish/version-change.ts";
import { isoTime } from "../../text/duration.ts";

/** What programs are told about a published version. */
export interface VersionView extends Omit<VersionRecord, "change"> {
  change: NonNullable<VersionRecord["change"]> | null;
  /** The instances that serve it. */
  instances: string[];
  /** How often it was called, by all instances. */
  calls: number;
  lastUsed: string | null;
}

/** What programs are told about an instance. */
export interface InstanceView {
  api: string;
  name: string;
  server: string;
  version: string;
  /** Versions that it served before, the newest last. */
  former: string[];
  /** Null: the address of the tool file. */
  upstream: string | null;
  /** Where other addresses of the file are reached. */
  addresses: Record<string, string>;
  settings: Record<string, string>;
  limits: InstanceLimits;
  origin: ApiInstance["origin"];
}

/** An API with its highest version that is not retired. */
export interface ApiSummary {
  api: string;
  newest: string | null;
  versions: number;
  instances: InstanceView[];
}

/** What was published, and where it is served. */
export interface PublishedView {
  version: VersionView;
  /** False: the version existed, and an instance was set to it. */
  isNew: boolean;
  instance: InstanceView;
  /** Compared with the version before it. */
  changes: VersionedChange[];
}

export function instanceView(instance: ApiInstance): InstanceView {
  const { api, name, server, current: version, former, upstream = null, addresses, settings, limits = {} } = instance;
  return {
    api,
    name,
    server,
    version,
    former: [...former],
    upstream,
    addresses: { ...addresses },
    settings: { ...settings },
    limits,
    origin: instance.origin,
  };
}

export function versionView(
  record: VersionRecord,
  instances: readonly ApiInstance[],
  usage: readonly VersionUse[],
): VersionView {
  const uses = usage.filter(({ version }) => version === record.version);
  const serving = instances.filter(({ api, current }) => api === record.api && current === record.version);
  return {
    ...record,
    change: record.change ?? null,
    instances: serving.map(({ name }) => name),
    calls: uses.reduce((sum, { calls }) => sum + calls, 0),
    lastUsed: uses.length === 0 ? null : isoTime(Math.max(...uses.map(({ usedAt }) => usedAt))),
  };
}
