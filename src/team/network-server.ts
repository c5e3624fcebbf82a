import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { defineServers } from "../config/load.ts";
import { serverId } from "../text/server-id.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { AddressGuard } from "../net/address-guard.ts";
import { requireShort, type TenantServer } from "../store/keep/tenant-servers.ts";
import type { Store } from "../store/store.ts";
import { isLoopback } from "../text/loopback.ts";

/** A server that somebody adds over the network. */
type NetworkServer = Pick<TenantServer, "name" | "entry">;

/**
 * Keeps a server that was added over the network. Throws DENIED for entries with a command or anything else of this machine,
 * ADDRESS_REFUSED for internal addresses, and CONFIG_INVALID for entries that are not valid.
 */
export async function addNetworkServer(
  store: Pick<Store, "servers">,
  tenant: string,
  { name, entry, replace }: NetworkServer & { replace?: boolean | undefined },
): Promise<void> {
  if (tenant === DEFAULT_TENANT) throw ofConfiguration(serverId(name));
  await checkNetworkServer({ name, entry });
  await store.servers(tenant).put({ name, entry, origin: "network" }, { replace });
}

/** The same rules count when the server is opened; an address behind a name is checked with every connection. */
export async function checkNetworkServer({ name, entry }: NetworkServer): Promise<void> {
  requireShort({ name, entry });
  const nowhere = { cwd: "/", home: "/", platform: process.platform, variables: {}, secrets: ANY_SECRET };
  const [server] = await defineServers({ [name]: entry }, { ...nowhere, isRemote: true });
  if (server?.problem) throw server.problem;
  const reach = server?.entry?.reach;
  if (!reach || !("url" in reach)) return;
  if (!URL.canParse(reach.url)) throw notAnAddress(serverId(name));
  const url = new URL(reach.url);
  new AddressGuard({ advice: onTheMachine(serverId(name)) }).check(url);
  if (isLoopback(url.hostname)) throw internalAddress(serverId(name), url.hostname);
}

/** A secret may be stored after the server that needs it. */
const ANY_SECRET = { get: async () => ({ value: "placeholder" }) };

function notAnAddress(server: string): NexusError {
  return new NexusError("CONFIG_INVALID", `Server "${server}": "url" is not an http or https address`, {
    phase: "config",
    server,
    hint: "Use the full URL, as in https://example.com/mcp.",
    mayHaveReached: false,
  });
}

function internalAddress(server: string, hostname: string): NexusError {
  return new NexusError("ADDRESS_REFUSED", `Server "${server}": ${hostname} is not a public address`, {
    server,
    hint: onTheMachine(server),
    mayHaveReached: false,
  });
}

function onTheMachine(server: string): string {
  return `What is added over the network reaches public addresses only. The operator of the gateway can add it on its machine: nexus mcp add ${server} --url URL --tenant TENANT`;
}

function ofConfiguration(server: string): NexusError {
  return new NexusError(
    "DENIED",
    `The servers of the tenant "${DEFAULT_TENANT}" are those of the configuration files`,
    {
      server,
      hint: "Add the server on the machine itself: nexus mcp add",
      mayHaveReached: false,
    },
  );
}
