import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { AddressGuard } from "../../net/address-guard.ts";
import { Network, type NetworkOptions } from "../../net/network.ts";
import type { PublicOnly } from "../../net/public-only.ts";
import { isLoopback } from "../../text/loopback.ts";
import type { AuthHttpOptions } from "./auth-http.ts";

interface AuthNetworkOptions extends Pick<NetworkOptions, "proxy" | "ca" | "connectTimeoutMs"> {
  /** The rule for the server itself, which holds here as well. */
  publicOnly?: PublicOnly | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** Opens networks on which no internal address is reached, unless the MCP server itself is in that network. */
export function authNetwork({ publicOnly, ...network }: AuthNetworkOptions = {}): AuthHttpOptions["openNetwork"] {
  return async (server) => {
    const own = new URL(server).hostname.replace(/^\[|\]$/g, "");
    const isHere = isLoopback(own);
    const { allow: given, advice } = typeof publicOnly === "object" ? publicOnly : { allow: [] };
    // The rule of a proxy decides where there is one: it resolves the names.
    const hasProxy = Boolean(network.proxy?.httpProxy ?? network.proxy?.httpsProxy);
    if (!publicOnly && hasProxy) return new Network({ ...network, guard: undefined });
    const allowsPrivate = !publicOnly && !isHere && (await isInternal(own));
    const allow = [...given, ...(publicOnly ? [] : isHere ? LOOPBACK : [own])];
    return new Network({ ...network, guard: new AddressGuard({ allow, allowsPrivate, advice }) });
  };
}

/** Whether the server itself is in a private network. A name that is unknown here, or also public, is not. */
async function isInternal(host: string): Promise<boolean> {
  const guard = new AddressGuard();
  const addresses = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  return addresses.length > 0 && addresses.every(({ address }) => !guard.permits(host, address));
}
