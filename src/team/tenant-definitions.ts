import type { SecretStore } from "../auth/secrets.ts";
import { applyNetwork } from "../config/network-settings.ts";
import { defineServers, type DefineOptions } from "../config/load.ts";
import { loadSection } from "../config/load-section.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { requireUniquePrefixes } from "../config/unique-prefixes.ts";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { definePublished } from "./published-servers.ts";
import type { PublishedSource } from "../workshop/publish/published.ts";
import type { TenantServer, TenantServers } from "../store/keep/tenant-servers.ts";

interface TenantDefinitionOptions extends Omit<DefineOptions, "cwd" | "isRemote" | "defaultCwd" | "secrets"> {
  secrets: Pick<SecretStore, "get">;
  /** The configuration file whose "network" counts; default: the user's own files. */
  config?: string | undefined;
  /** Servers that the tenant has published; an entry with the same name hides one. */
  published?: readonly ServerDefinition[] | undefined;
}

/**
 * The servers of a tenant, as its host runs them. `${secret:…}` finds only what `secrets` has, which are the tenant's. Entries
 * that came over the network are limited here too, whatever the check said that let them in.
 */
export async function defineTenantServers(
  kept: Pick<TenantServers, "list">,
  { config, published = [], ...options }: TenantDefinitionOptions,
): Promise<ServerDefinition[]> {
  const { servers, unreadable } = await kept.list();
  const secrets = new CheckedSecrets(options.secrets);
  // As in the user's own files: a command runs in the home folder unless its entry says otherwise.
  const context = { ...options, secrets: secrets.store, cwd: options.home, defaultCwd: options.home };
  const of = (wanted: TenantServer["origin"]) => {
    const entries = servers.filter(({ origin }) => origin === wanted).map(({ name, entry }) => [name, entry] as const);
    return defineServers(Object.fromEntries(entries), { ...context, isRemote: wanted === "network" });
  };
  const defined = [...(await of("local")), ...(await of("network")), ...unreadable.map(unreadableServer)];
  secrets.requireAnswered();
  const taken = new Set(defined.map(({ id }) => id));
  defined.push(...published.filter(({ id, versionOf = id }) => !taken.has(versionOf)));
  defined.sort((a, b) => (a.id < b.id ? -1 : 1));
  requireUniquePrefixes(defined);
  await limitNetwork(defined, context, config);
  return defined;
}

/** What a tenant has published, where its other servers are in configuration files. */
export async function definePublishedServers(
  source: PublishedSource,
  context: Pick<DefineOptions, "home" | "platform" | "variables">,
  config: string | undefined,
): Promise<ServerDefinition[]> {
  const defined = await definePublished(source);
  await limitNetwork(defined, context, config);
  return defined;
}

/** Tells a secret that is missing from one that the database did not give: then nothing is known about the servers. */
class CheckedSecrets {
  readonly store: Pick<SecretStore, "get">;
  #failure: NexusError | undefined;

  constructor(secrets: Pick<SecretStore, "get">) {
    this.store = { get: (name) => this.#watch(secrets.get(name)) };
  }

  requireAnswered(): void {
    if (this.#failure) throw this.#failure;
  }

  async #watch<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof NexusError && error.code === "STORE_UNAVAILABLE") this.#failure = error;
      throw error;
    }
  }
}

/** What the operator's configuration says about addresses and certificates counts for all tenants. */
async function limitNetwork(
  servers: readonly ServerDefinition[],
  context: Pick<DefineOptions, "home" | "platform" | "variables">,
  config: string | undefined,
): Promise<void> {
  try {
    // The file is named by the command that runs, and not by an entry.
    const section = await loadSection("network", { ...context, cwd: process.cwd() }, config);
    applyNetwork(servers, section, context.home);
  } catch (error) {
    // What the file says is unknown, so nothing is reached that it may forbid.
    const { code, message, details } = asNexusError(error);
    for (const server of servers) {
      if (!server.entry || server.entry.reach.kind === "stdio") continue;
      server.problem ??= new NexusError(code, `Server "${server.id}": ${message}`, { ...details, server: server.id });
    }
  }
}

function unreadableServer(id: string): ServerDefinition {
  const problem = new NexusError("PERMISSION_DENIED", `Server "${id}": its stored entry cannot be decrypted`, {
    phase: "config",
    server: id,
    hint: "Add it again with --force.",
    mayHaveReached: false,
  });
  return {
    id,
    problem,
    enabled: true,
    autoStart: false,
    failIfNoTools: false,
    tools: {},
    isolation: "owner",
    hides: [],
    trusted: true,
  };
}
