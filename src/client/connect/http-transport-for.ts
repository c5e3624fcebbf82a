import { AddressGuard } from "../../net/address-guard.ts";
import { strictest } from "../../net/public-only.ts";
import { loadCertificates } from "../../net/certificates.ts";
import { Network, type NetworkOptions } from "../../net/network.ts";
import { sha256 } from "../../text/digest.ts";
import { checkedOAuth } from "../../auth/oauth/oauth-options.ts";
import { MemoryCredentials } from "../../auth/oauth/stored-credential.ts";
import type { CredentialSource } from "../../transport/credential-source.ts";
import { HttpTransport } from "../../transport/http.ts";
import type { HttpReach, ResolvedEntry } from "../../transport/server-entry.ts";
import { SseTransport } from "../../transport/sse.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Transport } from "../../transport/transport.ts";
import type { ConnectOptions, NetworkTrust } from "./connect-entry.ts";

/** What an entry and whoever connects to it say together. */
export function networkTrust(
  { network }: ResolvedEntry,
  { ca = [], publicOnly }: Pick<ConnectOptions, "ca" | "publicOnly">,
): NetworkTrust {
  return {
    ca: [...ca, ...loadCertificates(network?.caFiles ?? [])],
    publicOnly: strictest(publicOnly, network?.publicOnly),
  };
}

/** The network as far as it is trusted. To be closed. */
export function networkFor(trust: NetworkTrust, surroundings: Surroundings, connectTimeoutMs?: number): Network {
  const { publicOnly } = trust;
  return new Network({
    ...networkOptions(trust, surroundings),
    guard: publicOnly ? new AddressGuard(publicOnly === true ? {} : publicOnly) : undefined,
    connectTimeoutMs,
  });
}

/** Proxy and certificates. */
export function networkOptions(
  { ca }: NetworkTrust,
  { proxy, extraCertificates }: Surroundings,
): Pick<NetworkOptions, "proxy" | "ca"> {
  // Node adds those of NODE_EXTRA_CA_CERTS by itself where there are no others.
  return { proxy, ca: ca.length > 0 ? [...extraCertificates, ...ca] : undefined };
}

/** The transport of a server over HTTP. Loaded on first use, because a child process does not need it. */
export async function httpTransportFor(
  reach: HttpReach,
  surroundings: Surroundings,
  options: ConnectOptions & NetworkTrust & { maxMessageBytes: number },
): Promise<Transport> {
  const { kind, url, headers } = reach;
  const { connectTimeoutMs, maxMessageBytes, via, hidden } = options;
  const credentials = await sourceFor(reach, surroundings, options);
  const network = networkFor(options, surroundings, connectTimeoutMs);
  const Reach = kind === "sse" ? SseTransport : HttpTransport;
  return new Reach({
    url,
    headers,
    credentials,
    hidden,
    via,
    network,
    principalOf: sha256,
    maxMessageBytes,
    release: () => network.close(),
  });
}

/** What the program passes, or what the entry says. Undefined where neither says anything. */
async function sourceFor(
  reach: HttpReach,
  surroundings: Surroundings,
  { auth, ca, publicOnly, connectTimeoutMs, logger }: ConnectOptions & NetworkTrust,
): Promise<CredentialSource | undefined> {
  if (auth && "findHeaders" in auth) return auth;
  if (!auth && !reach.oauth) return undefined;
  const { credentialsFor } = await import("./credentials-for.ts");
  const { storage = new MemoryCredentials(), login, ...settings } = checkedOAuth(auth ?? {});
  const trust = { ca, publicOnly };
  const own = auth && reach.oauth === false ? { ...reach, oauth: {} } : reach;
  return credentialsFor(own, { surroundings, trust, connectTimeoutMs, storage, login, settings, logger });
}
