import { throwIfAborted } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { PublishedApis, VersionUse } from "../../store/keep/published-apis.ts";
import { nearNames } from "../../text/nearest-name.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { planVersion, type PlannedVersion } from "../../workshop/publish/plan-version.ts";
import type {
  ApiInstance,
  PublicationOrigin,
  PublishedVersion,
  VersionState,
  VersionRecord,
} from "../../workshop/publish/published.ts";
import { PublicationCompiler } from "../../workshop/publish/publication-compiler.ts";
import type { Approval } from "../../workshop/review/lock.ts";
import { majorOf } from "../../workshop/publish/version-number.ts";
import { changedInstance, LIVE, newInstance, requirePublic, type InstanceChange } from "./api-instance.ts";
import type { ApiSummary, InstanceView, VersionView } from "./api-view.ts";
import type { VersionedChange } from "../../workshop/publish/version-change.ts";
import { isoTime } from "../../text/duration.ts";

/** A tool file with its documents, and the approval of what it compiles to. */
interface Publication {
  /** The tool file as it is written. */
  text: string;
  /** The texts of its documents by name. */
  documents: Readonly<Record<string, string>>;
  approval: Approval;
}

/** Something to publish, its number, and the instance that serves it. */
export interface PublishRequest extends Publication, InstanceChange {
  /** Undefined: chosen from the change. */
  as?: string | undefined;
  /** Default: `live`. */
  instance?: string | undefined;
}

interface ApiOperationsOptions {
  /** Who publishes, for the record. */
  by: string;
  origin: PublicationOrigin;
  /** One for all requests of a process, so that it compiles one tool file at a time. */
  compiler?: PublicationCompiler;
  now?: () => number;
}

/** The published APIs of a tenant as operators manage them. */
export class ApiOperations {
  readonly #apis: PublishedApis;
  readonly #options: ApiOperationsOptions;

  constructor(apis: PublishedApis, options: ApiOperationsOptions) {
    this.#apis = apis;
    this.#options = options;
  }

  async list(): Promise<ApiSummary[]> {
    const { instances } = await this.#apis.instances();
    const summaries = [];
    for (const api of await this.#apis.apis()) {
      const records = await this.#apis.records(api);
      const newest = records.findLast(({ state }) => state === "published")?.version ?? null;
      const own = instances.filter((instance) => instance.api === api).map(instanceView);
      summaries.push({ api, newest, versions: records.length, instances: own });
    }
    return summaries;
  }

  async versions(api: string): Promise<VersionView[]> {
    const [records, { instances }, usage] = await Promise.all([
      this.#apis.records(api),
      this.#apis.instances(),
      this.#apis.usage(api),
    ]);
    if (records.length === 0) throw await this.#unknownApi(api);
    return records.map((record) => versionView(record, instances, usage));
  }

  async instances(api: string): Promise<InstanceView[]> {
    const own = await instancesOf(this.#apis, api);
    if (own.length === 0 && (await this.#apis.numbers(api)).length === 0) throw await this.#unknownApi(api);
    return own.map(instanceView);
  }

  async publish(
    { as, instance: name = LIVE, ...request }: PublishRequest,
    signal?: AbortSignal,
  ): Promise<PublishedView> {
    const { origin, compiler = new PublicationCompiler() } = this.#options;
    const { text, documents, approval } = request;
    const compiled = await compiler.compile({ text, documents, hash: approval.hash }, signal);
    throwIfAborted(signal);
    const { api, upstream } = compiled.file;
    if (origin === "network")
      for (const address of [upstream.base, ...upstream.allow]) requirePublic(api, new URL(address));
    const numbers = await this.#apis.numbers(api);
    const records = await this.#apis.records(api);
    const load = async (version: string) => (await this.#apis.version(api, version).catch(() => undefined))?.compiled;
    const planned = await planVersion(compiled, { records, numbers, load }, as);
    const changed = await this.#apis.change(async (apis) => {
      if ((await apis.read.numbers(api)).join() !== numbers.join()) throw meanwhile(api);
      if (planned.isNew) await apis.add(this.#versionOf(planned, compiled, request));
      else await apis.setState(api, planned.version, "published");
      const before = (await instancesOf(apis.read, api)).find((each) => each.name === name);
      const start = before ?? { ...newInstance(api, name, request), current: planned.version };
      if (!before) await requireFree(apis.read, start);
      // A version for callers of an older major number does not replace a newer one.
      const isServed = majorOf(planned.version) >= majorOf(start.current);
      const now = isServed ? changedInstance(switched(start, planned.version), request, { compiled, origin }) : start;
      await apis.putInstance(now);
      return now;
    });
    const version = (await this.versions(api)).find((each) => each.version === planned.version);
    if (!version) throw meanwhile(api);
    return { version, isNew: planned.isNew, instance: instanceView(changed), changes: planned.change?.changes ?? [] };
  }

  async rollback(
    api: string,
    { instance: name = LIVE, to }: { instance?: string | undefined; to?: string | undefined },
  ): Promise<InstanceView> {
    const before = await this.#getInstance(api, name);
    const records = await this.#apis.records(api);
    const usable = records.filter(({ state }) => state === "published").map(({ version }) => version);
    const earlier = before.former.filter((each) => each !== before.current);
    const target = to ?? earlier.findLast((each) => usable.includes(each));
    if (target === undefined) {
      const retired = earlier.findLast((each) => records.some(({ version }) => version === each));
      throw retired === undefined ? nothingBefore(before, usable) : retiredBefore(before, retired, usable);
    }
    const version = await this.#getUsable(api, target);
    const at = before.former.lastIndexOf(target);
    const former = at >= 0 ? before.former.slice(0, at) : [...before.former, before.current];
    const now = { ...before, current: target, former };
    return this.#put(changedInstance(now, {}, { compiled: version.compiled, origin: this.#options.origin }));
  }

  async setState(api: string, version: string, state: VersionState): Promise<VersionView> {
    await this.#getVersion(api, version);
    await this.#apis.change(async (apis) => {
      const serving = (await instancesOf(apis.read, api)).filter(({ current }) => current === version);
      if (state === "retired" && serving.length > 0) throw inUse(api, version, serving);
      await apis.setState(api, version, state);
    });
    const found = (await this.versions(api)).find((each) => each.version === version);
    if (!found) throw meanwhile(api);
    return found;
  }

  async putInstance(
    api: string,
    name: string,
    { version, ...change }: InstanceChange & { version?: string | undefined },
  ): Promise<InstanceView> {
    const before = (await instancesOf(this.#apis, api)).find((each) => each.name === name);
    const newest = (await this.#apis.records(api)).findLast(({ state }) => state === "published")?.version;
    if (newest === undefined) throw await this.#unknownApi(api);
    const { compiled } = await this.#getUsable(api, version ?? before?.current ?? newest);
    const start = before ?? { ...newInstance(api, name, change), current: version ?? newest };
    if (!before) await requireFree(this.#apis, start);
    const { origin } = this.#options;
    return this.#put(changedInstance(switched(start, version ?? start.current), change, { compiled, origin }));
  }

  async removeInstance(api: string, name: string): Promise<void> {
    const { server } = await this.#getInstance(api, name);
    await this.#apis.change((apis) => apis.removeInstance(server));
  }

  #versionOf(
    planned: PlannedVersion,
    compiled: CompiledApi,
    { text, documents, approval }: Publication,
  ): PublishedVersion {
    const { by, origin, now = Date.now } = this.#options;
    const { version, since, change } = planned;
    return {
      api: compiled.file.api,
      version,
      hash: compiled.hash,
      approval,
      ...(since !== undefined && change ? { change: { since, kind: change.kind } } : {}),
      publishedBy: by,
      publishedAt: new Date(now()).toISOString(),
      origin,
      state: "published",
      compiled,
      documents,
      text,
    };
  }

  async #put(instance: ApiInstance): Promise<InstanceView> {
    await this.#apis.change((apis) => apis.putInstance(instance));
    return instanceView(instance);
  }

  async #getInstance(api: string, name: string): Promise<ApiInstance> {
    const all = await instancesOf(this.#apis, api);
    const found = all.find((each) => each.name === name);
    if (found) return found;
    if ((await this.#apis.numbers(api)).length === 0) throw await this.#unknownApi(api);
    const names = all.map((each) => each.name);
    throw unknown(`"${api}" has no instance "${name}"`, {
      near: nearNames(name, names, 2),
      list: `{listApiInstances id=${api}}`,
    });
  }

  async #getVersion(api: string, version: string): Promise<PublishedVersion> {
    const found = await this.#apis.version(api, version);
    if (found) return found;
    const numbers = await this.#apis.numbers(api);
    if (numbers.length === 0) throw await this.#unknownApi(api);
    throw unknown(`"${api}" has no version ${version}`, {
      near: nearNames(version, numbers, 2),
      list: `{listApiVersions id=${api}}`,
    });
  }

  async #getUsable(api: string, version: string): Promise<PublishedVersion> {
    const found = await this.#getVersion(api, version);
    if (found.state === "published") return found;
    throw new NexusError("ARGUMENTS_INVALID", `Version ${version} of "${api}" is retired`, {
      hint: `Take it back first: {changeApiVersion id=${api} version=${version}}`,
      mayHaveReached: false,
    });
  }

  async #unknownApi(api: string): Promise<NexusError> {
    const known = await this.#apis.apis();
    return unknown(`No version of "${api}" is published`, {
      near: nearNames(api, known, 2),
      list: "{listApis}",
    });
  }
}

async function instancesOf(apis: PublishedApis, api: string): Promise<ApiInstance[]> {
  return (await apis.instances()).instances.filter((instance) => instance.api === api);
}

/** Throws if another server has the id. */
async function requireFree(apis: PublishedApis, { api, name, server }: ApiInstance): Promise<void> {
  const taken = (await apis.instances()).instances.find((each) => each.server === server);
  if (!taken && !(await apis.hasServer(server))) return;
  const whose = taken ? `the instance "${taken.name}" of "${taken.api}"` : "a server of the tenant";
  throw new NexusError("ARGUMENTS_INVALID", `The server id "${server}" belongs to ${whose}`, {
    server,
    hint: `Choose another id for the instance "${name}" of "${api}" with {changeApiInstance.server}.`,
    mayHaveReached: false,
  });
}

/** Remembers what was served before. */
function switched(instance: ApiInstance, version: string): ApiInstance {
  if (instance.current === version) return instance;
  const former = [...instance.former, instance.current].slice(-MOST_FORMER);
  return { ...instance, current: version, former };
}

const MOST_FORMER = 20;

function unknown(message: string, { near, list }: { near: readonly string[]; list: string }): NexusError {
  const meant = near.map((each) => `"${each}"`).join(" or ");
  return new NexusError("NAME_UNKNOWN", message, {
    hint: `${meant === "" ? "" : `Did you mean ${meant}? `}"${list}" lists what is known.`,
    mayHaveReached: false,
  });
}

function nothingBefore({ api, name, current }: ApiInstance, usable: readonly string[]): NexusError {
  const others = usable.filter((version) => version !== current);
  return new NexusError("ARGUMENTS_INVALID", `The instance "${name}" of "${api}" served nothing before ${current}`, {
    hint:
      others.length === 0
        ? "There is no other published version."
        : `Choose one with {rollBackApi.to}: ${others.join(", ")}.`,
    mayHaveReached: false,
  });
}

function retiredBefore({ api, name, current }: ApiInstance, retired: string, usable: readonly string[]): NexusError {
  const others = usable.filter((version) => version !== current);
  const other = others.length === 0 ? "" : ` Or choose a published one with {rollBackApi.to}: ${others.join(", ")}.`;
  const message = `The instance "${name}" of "${api}" served ${retired} before ${current}, and ${retired} is retired`;
  return new NexusError("ARGUMENTS_INVALID", message, {
    hint: `Take it back first: {changeApiVersion id=${api} version=${retired}}${other === "" ? "" : `.${other}`}`,
    mayHaveReached: false,
  });
}

function inUse(api: string, version: string, serving: readonly ApiInstance[]): NexusError {
  const names = serving.map(({ name }) => `"${name}"`).join(", ");
  return new NexusError("ARGUMENTS_INVALID", `Version ${version} of "${api}" is served by ${names}`, {
    hint: "Publish another version for it, roll it back, or remove the instance; then retire the version.",
    mayHaveReached: false,
  });
}

function meanwhile(api: string): NexusError {
  return new NexusError("BUSY", `Another version of "${api}" was published at the same time`, {
    hint: "Try again.",
    mayHaveReached: false,
  });
}

/** What was published, and where it is served. */
interface PublishedView {
  version: VersionView;
  /** False: the version existed, and an instance was set to it. */
  isNew: boolean;
  instance: InstanceView;
  /** Compared with the version before it. */
  changes: VersionedChange[];
}

function instanceView(instance: ApiInstance): InstanceView {
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

function versionView(
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
