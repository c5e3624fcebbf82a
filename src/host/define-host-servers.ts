import { defineServers, type LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { serverId } from "../text/server-id.ts";
import { requireUniquePrefixes } from "../config/unique-prefixes.ts";
import { isTransport, type Transport } from "../transport/transport.ts";
import type { HostServers } from "./host-options.ts";

/** The servers that a program passes to a host: entries as in a file, or its own transports. */
export async function defineHostServers(servers: HostServers, load: LoadOptions): Promise<ServerDefinition[]> {
  const all = Object.entries(servers);
  const transports = all.filter((given): given is [string, Transport] => isTransport(given[1]));
  if (transports.length === 0) return defineServers(servers, load);
  const entries = all.filter(([, given]) => !isTransport(given));
  const defined = [
    ...(await defineServers(Object.fromEntries(entries), load)),
    ...transports.map(([name, transport]) => ofTransport(name, transport)),
  ];
  requireUniquePrefixes(defined);
  const order = all.map(([name]) => serverId(name));
  return defined.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function ofTransport(name: string, transport: Transport): ServerDefinition {
  return {
    id: serverId(name),
    name: serverId(name) === name ? undefined : name,
    transport,
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    isolation: "owner",
    hides: [],
    trusted: true,
  };
}
