import type { NetworkInterfaceInfo } from "node:os";
import { asHost } from "../../text/loopback.ts";

/** Where a gateway is reached. */
export interface ReachableUrls {
  /** From this machine. */
  local: string;
  /** From other machines, where it listens on all addresses of this one; undefined where it listens on one address. */
  others: readonly string[] | undefined;
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The addresses to use for a gateway that listens at `url`: clients cannot connect to 0.0.0.0 or to ::. */
export function reachableUrls(url: string, interfaces: () => Interfaces): ReachableUrls {
  const everywhere = /^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/.exec(url);
  if (!everywhere) return { local: url, others: undefined };
  const at = (address: string) => url.replace(everywhere[0], `http://${asHost(address)}`);
  const usable = Object.values(interfaces())
    .flatMap((infos) => infos ?? [])
    // Link-local addresses are used with the name of an interface of the client.
    .filter(({ internal, address }) => !internal && !/^(?:fe[89ab]|169\.254\.)/i.test(address))
    .filter(({ family }) => family === "IPv4" || everywhere[1] === "[::]");
  const inOrder = usable.toSorted((a, b) => a.family.localeCompare(b.family));
  return { local: at("127.0.0.1"), others: [...new Set(inOrder.map(({ address }) => at(address)))] };
}
