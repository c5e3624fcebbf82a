import { BlockList, isIP } from "node:net";
import { lookup as resolve, type LookupAddress } from "node:dns";
import { NexusError } from "../errors/nexus-error.ts";

/**
 * Address ranges without public servers: private, link-local (cloud metadata), loopback, shared, multicast, reserved.
 */
const REFUSED: readonly [string, number, "ipv4" | "ipv6"][] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.0.2.0", 24, "ipv4"],
  ["192.88.99.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["198.51.100.0", 24, "ipv4"],
  ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 96, "ipv6"],
  ["64:ff9b::", 96, "ipv6"],
  ["64:ff9b:1::", 48, "ipv6"],
  ["100::", 64, "ipv6"],
  ["2001::", 23, "ipv6"],
  ["2001:db8::", 32, "ipv6"],
  ["2002::", 16, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["fec0::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];

/** Those of companies and homes. A server in one of them may name others there, but not this machine or its cloud. */
const PRIVATE: readonly [string, number, "ipv4" | "ipv6"][] = [
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  // Some VPN programs give every name an address of this range.
  ["198.18.0.0", 15, "ipv4"],
  ["fc00::", 7, "ipv6"],
];

/** Metadata services of clouds that have a private address. */
const CLOUD_METADATA = ["100.100.100.200", "fd00:ec2::254", "fd20:ce::254"];

export interface AddressGuardOptions {
  /** Host names or addresses that may be reached although they are internal. */
  allow?: readonly string[];
  /** Whether the addresses of private networks may be reached. */
  allowsPrivate?: boolean;
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Refuses connections to internal addresses. The name is resolved once and the connection goes to exactly that address,
 * so a name that changes between check and use has no effect.
 */
export class AddressGuard {
  readonly #refused = new BlockList();
  readonly #private = new BlockList();
  readonly #cloud = new BlockList();
  readonly #allowed: ReadonlySet<string>;
  /** The last address that was in order. */
  #permitted = { protocol: "", hostname: "" };

  constructor({ allow = [], allowsPrivate = false }: AddressGuardOptions = {}) {
    for (const [address, prefix, family] of REFUSED) this.#refused.addSubnet(address, prefix, family);
    if (allowsPrivate)
      for (const [address, prefix, family] of PRIVATE) this.#private.addSubnet(address, prefix, family);
    for (const address of CLOUD_METADATA) this.#cloud.addAddress(address, isIP(address) === 6 ? "ipv6" : "ipv4");
    this.#allowed = new Set(allow.map((host) => host.toLowerCase()));
  }

  /** Checks what the URL alone shows; sockets skip `lookup` for literal addresses. */
  check({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): void {
    if (protocol === this.#permitted.protocol && hostname === this.#permitted.hostname) return;
    if (protocol !== "http:" && protocol !== "https:") {
      throw new NexusError("ADDRESS_REFUSED", `Only http and https addresses are allowed, not ${protocol}`, {
        phase: "connect",
        mayHaveReached: false,
      });
    }
    const host = hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) && !this.permits(host, host)) throw refusal(host, host);
    this.#permitted = { protocol, hostname };
  }

  /** Replaces the system's lookup in `connect` of a socket. */
  readonly lookup = (hostname: string, options: { all?: boolean | undefined }, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const bad = addresses.find(({ address }) => !this.permits(hostname, address));
      if (bad) return callback(refusal(hostname, bad.address), "");
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? "", first?.family ?? 4);
    });
  };

  /** Whether a name may be reached at this address. */
  permits(hostname: string, address: string): boolean {
    if (this.#allowed.has(hostname.toLowerCase()) || this.#allowed.has(address)) return true;
    // An IPv4 address written as IPv6 (::ffff:…) is checked against the IPv4 ranges.
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (!this.#refused.check(address, family)) return true;
    return this.#private.check(address, family) && !this.#cloud.check(address, family);
  }
}

function refusal(hostname: string, address: string): NexusError {
  const name = hostname === address ? address : `${hostname} (${address})`;
  return new NexusError("ADDRESS_REFUSED", `${name} is not a public address`, {
    phase: "connect",
    hint: "To reach this server, allow its host explicitly.",
    mayHaveReached: false,
  });
}
