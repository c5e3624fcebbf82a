import { BlockList, isIP } from "node:net";
import { lookup as resolve, type LookupAddress } from "node:dns";
import { NexusError } from "../errors/nexus-error.ts";

type Range = readonly [address: string, prefix: number, family: "ipv4" | "ipv6"];

/**
 * Address ranges without public servers: private, link-local (cloud metadata), loopback, shared, multicast, reserved, and those
 * that reach an IPv4 address through IPv6. From the registries of special-purpose addresses of IANA.
 */
const REFUSED: readonly Range[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  // The platform of Azure, which gives its machines certificates and secrets.
  ["168.63.129.16", 32, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.0.2.0", 24, "ipv4"],
  ["192.31.196.0", 24, "ipv4"],
  ["192.52.193.0", 24, "ipv4"],
  ["192.88.99.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["192.175.48.0", 24, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["198.51.100.0", 24, "ipv4"],
  ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  // Public addresses are in 2000::/3 alone. This is everything below and above: loopback, IPv4-compatible and IPv4-translated
  // addresses, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64), segment routing (5f00::/16), fc00::/7, fe80::/10, ff00::/8.
  ["::", 3, "ipv6"],
  ["4000::", 2, "ipv6"],
  ["8000::", 1, "ipv6"],
  // Protocol assignments: Teredo, benchmarking, ORCHID.
  ["2001::", 23, "ipv6"],
  ["2001:db8::", 32, "ipv6"],
  // 6to4.
  ["2002::", 16, "ipv6"],
  ["2620:4f:8000::", 48, "ipv6"],
  ["3fff::", 20, "ipv6"],
];

/** Those of companies and homes. A server in one of them may name others there, but not this machine or its cloud. */
const PRIVATE: readonly Range[] = [
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  // Some VPN programs give every name an address of this range.
  ["198.18.0.0", 15, "ipv4"],
  ["fc00::", 7, "ipv6"],
];

/** Metadata services of clouds that have a private address. */
const CLOUD_METADATA: readonly Range[] = [
  ["100.100.100.200", 32, "ipv4"],
  // All services of AWS for its machines, also that of credentials of pods.
  ["fd00:ec2::", 32, "ipv6"],
  ["fd20:ce::", 32, "ipv6"],
];

interface AddressGuardOptions {
  /** Host names or addresses that may be reached although they are internal. */
  allow?: readonly string[];
  /** Whether the addresses of private networks may be reached. */
  allowsPrivate?: boolean;
  /** What to do about a refused address; default: how the rule `publicOnly` allows it. */
  advice?: string | undefined;
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Refuses connections to internal addresses. The name is resolved once and the connection goes to exactly that address,
 * so a name that changes between check and use has no effect.
 */
export class AddressGuard {
  readonly #refused = new Ranges(REFUSED);
  readonly #private: Ranges;
  readonly #cloud = new Ranges(CLOUD_METADATA);
  readonly #allowed: ReadonlySet<string>;
  readonly #advice: string | undefined;
  /** The last address that was in order. */
  #permitted = { protocol: "", hostname: "" };

  constructor({ allow = [], allowsPrivate = false, advice }: AddressGuardOptions = {}) {
    this.#advice = advice;
    this.#private = new Ranges(allowsPrivate ? PRIVATE : []);
    this.#allowed = new Set(allow.map((host) => host.toLowerCase()));
  }

  /** Checks what the URL alone shows; sockets skip `lookup` for literal addresses. */
  check({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): void {
    if (protocol === this.#permitted.protocol && hostname === this.#permitted.hostname) return;
    if (protocol !== "http:" && protocol !== "https:") {
      throw new NexusError("ADDRESS_REFUSED", `Only http and https addresses are allowed, not ${protocol}`, {
        phase: "connect",
        hint: "Use an address that begins with https:// or http://.",
        mayHaveReached: false,
      });
    }
    const host = hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) && !this.permits(host, host)) throw this.#refusal(host, host);
    this.#permitted = { protocol, hostname };
  }

  /** Replaces the system's lookup in `connect` of a socket. */
  readonly lookup = (hostname: string, options: { all?: boolean | undefined }, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const bad = addresses.find(({ address }) => !this.permits(hostname, address));
      if (bad) return callback(this.#refusal(hostname, bad.address), "");
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? "", first?.family ?? 4);
    });
  };

  /** Whether a name may be reached at this address. */
  permits(hostname: string, address: string): boolean {
    if (this.#allowed.has(hostname.toLowerCase()) || this.#allowed.has(address)) return true;
    const plain = plainAddress(address);
    if (!plain) return false;
    return !this.#refused.has(plain) || (this.#private.has(plain) && !this.#cloud.has(plain));
  }

  #refusal(hostname: string, address: string): NexusError {
    const name = hostname === address ? address : `${hostname} (${address})`;
    return new NexusError("ADDRESS_REFUSED", `${name} is not a public address`, {
      phase: "connect",
      hint: this.#advice ?? howToAllow(hostname),
      mayHaveReached: false,
    });
  }
}

/** Ranges of addresses, each family by itself: Node compares an IPv4 address with IPv6 ranges as well, as ::ffff:…. */
class Ranges {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(ranges: readonly Range[]) {
    for (const [address, prefix, family] of ranges) this.#lists[family].addSubnet(address, prefix, family);
  }

  has({ address, family }: PlainAddress): boolean {
    return this.#lists[family].check(address, family);
  }
}

interface PlainAddress {
  address: string;
  family: Range[2];
}

/** Without the zone of a link-local address, and an IPv4 address that is written as IPv6 (::ffff:…) as IPv4; undefined for anything else. */
function plainAddress(given: string): PlainAddress | undefined {
  const family = isIP(given);
  if (family === 0) return undefined;
  if (family === 4) return { address: given, family: "ipv4" };
  // URLs have one spelling for each address.
  const address = new URL(`http://[${given.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return { address, family: "ipv6" };
  const bytes = [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]);
  return { address: bytes.join("."), family: "ipv4" };
}

/** The rule may be set in several places, and all of them have to allow a host. */
function howToAllow(host: string): string {
  return `If it is intended, allow it wherever the rule is set: { "allow": ["${host}"] } as "public_only" of the server's entry, as "publicOnly" below "network" in the configuration, or as the option publicOnly of a program.`;
}
