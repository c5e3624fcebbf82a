import { AddressGuard } from "../../net/address-guard.ts";
import { Network } from "../../net/network.ts";
import { HttpTransport } from "../../transport/http.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import { SseTransport } from "../../transport/sse.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Transport } from "../../transport/transport.ts";
import type { ConnectOptions } from "./connect-entry.ts";

/** The transport of a server over HTTP. Loaded on first use, because a child process does not need it. */
export function httpTransportFor(
  { kind, url, headers }: HttpReach,
  surroundings: Surroundings,
  options: ConnectOptions & { maxMessageBytes: number },
): Transport {
  const { ca, publicOnly, connectTimeoutMs, maxMessageBytes, via } = options;
  const network = new Network({
    proxy: surroundings.proxy,
    ca: ca?.length ? [...surroundings.extraCertificates, ...ca] : undefined,
    guard: publicOnly ? new AddressGuard(publicOnly === true ? {} : publicOnly) : undefined,
    connectTimeoutMs,
  });
  const Reach = kind === "sse" ? SseTransport : HttpTransport;
  return new Reach({ url, headers, via, network, maxMessageBytes, release: () => network.close() });
}
