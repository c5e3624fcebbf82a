import { type Changes, Live } from "../async/live.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Host } from "../host/host.ts";
import type { Logger } from "../text/logger.ts";
import type { PublishedReach } from "../transport/server-entry.ts";
import { majorServer } from "../host/directory/access-target.ts";
import type { ApiInstance, PublishedSource } from "../workshop/publish/published.ts";
import { majorOf } from "../workshop/publish/version-number.ts";

/** What a tenant has published, as its host runs it: each server, and each of its major versions at an address of its own. */
export async function definePublished(source: PublishedSource): Promise<ServerDefinition[]> {
  const { instances, unreadable } = await source.instances();
  const majors = new Map<string, number[]>();
  for (const api of new Set(instances.map((instance) => instance.api))) majors.set(api, await majorsOf(source, api));
  return [
    ...instances.flatMap((instance) => definitionsOf(instance, majors.get(instance.api) ?? [])),
    ...unreadable.map(unreadableServer),
  ];
}

/** A damaged record is reported by the server that needs it. */
async function majorsOf(source: PublishedSource, api: string): Promise<number[]> {
  try {
    const records = (await source.records(api)).filter(({ state }) => state === "published");
    return [...new Set(records.map(({ version }) => majorOf(version)))];
  } catch (error) {
    if (error instanceof NexusError && error.code === "PERMISSION_DENIED") return [];
    throw error;
  }
}

function definitionsOf({ server, api }: ApiInstance, majors: readonly number[]): ServerDefinition[] {
  return [
    published(server, { server }, api),
    ...majors.map((major) => ({
      ...published(majorServer(server, major), { server, major }, api),
      autoStart: false,
      versionOf: server,
    })),
  ];
}

function published(id: string, reach: PublishedReach, api: string): ServerDefinition {
  return {
    ...plainDefinition(id),
    entry: {
      id,
      reach: { kind: "api", file: `${api} (published)`, upstream: undefined, published: reach },
      timeoutMs: undefined,
      connectTimeoutMs: undefined,
      maxRetries: undefined,
      retryBackoffMs: undefined,
      roots: undefined,
    },
  };
}

function unreadableServer(id: string): ServerDefinition {
  const problem = new NexusError(
    "PERMISSION_DENIED",
    `Server "${id}": what was published was changed in the database`,
    {
      phase: "config",
      server: id,
      hint: "Something else than Nexus changed it, so it is not served. Restore a backup, or publish the API again.",
      mayHaveReached: false,
    },
  );
  return { ...plainDefinition(id), autoStart: false, problem };
}

function plainDefinition(id: string): ServerDefinition {
  return {
    id,
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    isolation: "shared",
    hides: [],
    trusted: true,
  };
}

interface PublishedServersOptions {
  /** Reads the servers. */
  define: () => Promise<ServerDefinition[]>;
  changes: Changes;
  logger: Logger;
}

/** The published servers of the tenant `default`, beside those of its configuration. */
export class PublishedServers implements Disposable {
  readonly #servers: Live<readonly ServerDefinition[]>;
  #host: Pick<Host, "applyBeside"> | undefined;

  /** While the database is away there are none; they come when it is back. */
  static async follow(options: PublishedServersOptions): Promise<PublishedServers> {
    const servers = new PublishedServers(options);
    await servers.#servers.follow();
    await servers.#servers.refresh();
    return servers;
  }

  private constructor({ define, changes, logger }: PublishedServersOptions) {
    this.#servers = new Live<readonly ServerDefinition[]>([], {
      changes,
      read: define,
      apply: () => this.#host?.applyBeside(),
      what: "published APIs",
      logger,
    });
  }

  /** As they were read last. */
  readonly current = (): readonly ServerDefinition[] => this.#servers.value;

  /** The host, which was started with `current`, gets changes from now on. */
  applyTo(host: Pick<Host, "applyBeside">): void {
    this.#host = host;
    void this.#servers.refresh();
  }

  [Symbol.dispose](): void {
    this.#servers[Symbol.dispose]();
  }
}
