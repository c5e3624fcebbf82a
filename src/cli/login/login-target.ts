import type { FileCredentials } from "../../auth/oauth/credential-files.ts";
import { secretGuard, type SecretGuard } from "../../auth/secret-guard.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { forgetLastLists } from "../../host/definitions/last-lists.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import { unableToRun } from "../../host/servers/unable-to-run.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";
import type { HttpReach, ResolvedEntry } from "../../transport/server-entry.ts";
import { asksAnyone, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { Sighting } from "../command/sightings.ts";

/** A server over HTTP and where its login is kept. */
export interface LoginTarget {
  id: string;
  entry: ResolvedEntry;
  reach: HttpReach;
  storage: FileCredentials;
  /** Checks where stored secrets of the entry are sent. */
  guard: SecretGuard | undefined;
}

type TargetContext = Pick<CommandContext, "words" | "openServers" | "surroundings"> & {
  options: { readonly url?: string | undefined };
};

/** Opens the servers for a command that takes a name, a URL in its place, or --url. */
export async function openTargets({ words, options, openServers }: TargetContext): Promise<ServerSet> {
  const [name] = words;
  const isUrl = name !== undefined && /^https?:\/\//i.test(name);
  if (isUrl && options.url !== undefined)
    throw wrongUsage("The server is named twice", "Remove --url or the argument.");
  if (name === undefined && options.url === undefined) {
    throw wrongUsage("The server is missing", "Name a configured server, or use its URL.");
  }
  return openServers(isUrl ? { ...asksAnyone, url: name } : asksAnyone);
}

/** The server of such a command; throws if it has no login. */
export async function pickTarget(servers: ServerSet, { words, surroundings }: TargetContext): Promise<LoginTarget> {
  const definition = servers.inPlace ?? servers.pickOnly(words);
  return loginTarget(definition, await openCredentials(surroundings, servers.stateFolder), servers.secrets);
}

/** After a login or logout, what was seen at the last connection says nothing about the next one. */
export async function noteLogin({ id }: LoginTarget, servers: ServerSet, outcome: Sighting["outcome"]): Promise<void> {
  const definition = servers.inPlace ? undefined : servers.directory.find(id);
  if (!definition) return;
  await servers.sightings.note(definition, { outcome });
  await forgetLastLists(servers.stateFolder, { definition, tenant: servers.tenant });
}

export function loginTarget(definition: ServerDefinition, storage: FileCredentials, secrets: SecretStore): LoginTarget {
  const { id, entry, authorizationSecrets } = definition;
  const refusal = unableToRun(definition);
  if (refusal) throw refusal;
  const reach = entry?.reach;
  if (!entry || reach?.kind === "stdio" || reach?.kind === "api" || !reach) {
    throw noLogin(
      definition,
      reach?.kind === "api" ? "is a tool file" : "is a program on this machine",
      `Only servers with a URL have a login. Other credentials are in the entry's "env", or stored with "nexus secrets set".`,
    );
  }
  if (reach.oauth === false) throw noLogin(definition, `has "oauth": false`, `Remove it from the entry to log in.`);
  if (hasAuthorization(reach)) {
    throw noLogin(
      definition,
      "has credentials of its own in its entry",
      `They are sent instead of a login. Remove "Authorization" from the entry's "headers" to log in.`,
    );
  }
  const guard = authorizationSecrets && secretGuard(authorizationSecrets, { store: secrets });
  return { id, entry, reach, storage, guard };
}

function noLogin({ id, origin }: ServerDefinition, why: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `Server "${id}" ${why}, so it has no login`, {
    server: id,
    source: origin,
    hint,
    mayHaveReached: false,
  });
}
