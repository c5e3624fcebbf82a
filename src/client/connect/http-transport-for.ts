import { AddressGuard } from "../../net/address-guard.ts";
import { strictest } from "../../net/public-only.ts";
import { loadCertificates } from "../../net/certificates.ts";
import { Network } from "../../net/network.ts";
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
export function networkFor(
  { ca, publicOnly }: NetworkTrust,
  { proxy, extraCertificates }: Surroundings,
  connectTimeoutMs?: number,
): Network {
  return new Network({
    proxy,
    // Node adds those of NODE_EXTRA_CA_CERTS by itself where there are no others.
    ca: ca.length > 0 ? [...extraCertificates, ...ca] : undefined,
    guard: publicOnly ? new AddressGuard(publicOnly === true ? {} : publicOnly) : undefined,
    connectTimeoutMs,
  });
}

/** The transport of a server over HTTP. Loaded on first use, because a child process does not need it. */
export function httpTransportFor(
  { kind, url, headers }: HttpReach,
  surroundings: Surroundings,
  options: ConnectOptions & NetworkTrust & { maxMessageBytes: number },
): Transport {
  const { connectTimeoutMs, maxMessageBytes, via } = options;
  const network = networkFor(options, surroundings, connectTimeoutMs);
  const Reach = kind === "sse" ? SseTransport : HttpTransport;
  return new Reach({ url, headers, via, network, maxMessageBytes, release: () => network.close() });
}
