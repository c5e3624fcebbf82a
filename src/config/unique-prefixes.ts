import { NexusError } from "../errors/nexus-error.ts";
import type { ServerDefinition } from "./server-definition.ts";

/**
 * Names of tools lead to one server. A prefix that is another server's id, or its prefix, is a problem of the server that has it:
 * ids come first, then trusted servers, so that no project can take a name from a server of the user's.
 */
export function requireUniquePrefixes(servers: readonly ServerDefinition[]): void {
  const taken = new Map(servers.map(({ id }) => [id, id]));
  const byTrust = [...servers].sort((a, b) => Number(b.trusted) - Number(a.trusted));
  for (const server of byTrust) {
    const { id, prefix } = server;
    if (prefix === undefined) continue;
    const other = taken.get(prefix);
    if (other === undefined) taken.set(prefix, id);
    else if (other !== id) refuse(server, prefix, other);
  }
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
    hint: "Choose another one: names of tools must lead to one server.",
    mayHaveReached: false,
  });
}
