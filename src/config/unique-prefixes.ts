import { NexusError } from "../errors/nexus-error.ts";
import type { ServerDefinition } from "./read/server-definition.ts";
import type { ConfigWarning } from "./read/problem.ts";

/**
 * Makes sure that a tool name leads to one server. A prefix that is the id or prefix of another server is a problem of
 * the server with that prefix: ids come first. Untrusted servers come last, so that no project can take a name from a
 * user's server or disable it; without trust they have no names. Returns what trust would change.
 */
export function requireUniquePrefixes(servers: readonly ServerDefinition[]): ConfigWarning[] {
  const taken = new Map<string, string>();
  const trusted = servers.filter((server) => server.trusted);
  const untrusted = servers.filter((server) => !server.trusted);
  takeNames(trusted, taken);
  const warnings = untrusted.flatMap((server) => wouldTake(server, taken.get(server.id)));
  takeNames(untrusted, taken);
  return warnings;
}

function takeNames(servers: readonly ServerDefinition[], taken: Map<string, string>): void {
  for (const { id } of servers) if (!taken.has(id)) taken.set(id, id);
  for (const server of servers) {
    const { id, prefix } = server;
    if (prefix === undefined) continue;
    const other = taken.get(prefix);
    if (other === undefined) taken.set(prefix, id);
    else if (other !== id) refuse(server, prefix, other);
  }
}

function wouldTake({ id, origin }: ServerDefinition, other: string | undefined): ConfigWarning[] {
  if (!origin || other === undefined) return [];
  const message = `Server "${id}": after this file is trusted, its id conflicts with the "prefix" of server "${other}"`;
  return [{ message, server: id, source: origin }];
}

function refuse(server: ServerDefinition, prefix: string, other: string): void {
  const { id, origin } = server;
  delete server.prefix;
  delete server.entry;
  const whose = other === prefix ? "the id" : "a prefix";
  server.problem ??= new NexusError("CONFIG_INVALID", `Server "${id}": "prefix" is ${whose} of server "${other}"`, {
    phase: "config",
    server: id,
    source: origin,
    hint: "Choose another prefix. Tool names must identify one server.",
    mayHaveReached: false,
  });
}
