import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { NexusError } from "../../errors/nexus-error.ts";
import { asHost, isLoopback } from "../../text/loopback.ts";

export interface OriginGuardOptions {
  address: string;
  port: number;
  /** Names under which the server is reached, with a port or for any. */
  allowedHosts?: readonly string[];
  /** Origins of web pages that may call, as browsers write them. */
  allowedOrigins?: readonly string[];
}

/** Why a request must not be served, and the header's value that shows it. */
export interface ForeignRequest {
  reason: "repeated header" | "host" | "origin" | "site";
  value: string;
}

/** What a `Host` header or an allowed host names. */
interface HostName {
  name: string;
  /** Undefined where none is written. */
  port: number | undefined;
}

/** Headers of which Node keeps the first and drops the rest: a proxy in front may have looked at another one. */
const SINGLE = ["host", "authorization"];

/** What a browser says of requests that no other site caused. */
const OWN_SITES: ReadonlySet<unknown> = new Set(["same-origin", "none"]);

/**
 * Decides which requests are served at all. Pages of other sites reach a local server through names that point to it, or
 * by sending requests to it directly; both show in headers that pages cannot choose.
 */
export class OriginGuard {
  /** As clients usually write them, so that most requests need no parsing. */
  readonly #usualHosts: ReadonlySet<string>;
  readonly #hosts: readonly HostName[];
  readonly #origins: ReadonlySet<string>;
  /** Whether it listens on all addresses of the machine. */
  readonly #isEverywhere: boolean;

  constructor({ address, port, allowedHosts = [], allowedOrigins = [] }: OriginGuardOptions) {
    const own = asHost(address);
    this.#isEverywhere = address === "0.0.0.0" || address === "::";
    this.#usualHosts = new Set(["127.0.0.1", "localhost", "[::1]", own].map((name) => `${name}:${port}`));
    this.#hosts = [{ name: own, port }, ...allowedHosts.map(allowedHost)];
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  /** Undefined for a request that may be served. */
  problemOf({ headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">): ForeignRequest | undefined {
    const { host = "", origin } = headers;
    const repeated = SINGLE.find((name) => isRepeated(name, rawHeaders));
    if (repeated !== undefined) return { reason: "repeated header", value: repeated };
    if (!this.#isOwn(host)) return { reason: "host", value: host };
    if (origin !== undefined) return this.#mayCall(origin) ? undefined : { reason: "origin", value: origin };
    // Browsers send no Origin with a plain GET: an image or a link of any page would be served.
    const site = headers["sec-fetch-site"];
    return site === undefined || OWN_SITES.has(site) ? undefined : { reason: "site", value: site };
  }

  /** Whether the pages of an origin were allowed by name. Those of this machine may call, but get no help from browsers. */
  isNamed(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.has(origin.toLowerCase());
  }

  #isOwn(host: string): boolean {
    if (this.#usualHosts.has(host)) return true;
    const wanted = parseHost(host);
    if (!wanted) return false;
    // A forwarded port is another one than ours (ssh, containers). A page of another site cannot choose the name, which is
    // what tells it apart: a name of its own that points here is in Host as it stands in the page's URL.
    if (this.#isEverywhere && isAddress(wanted.name)) return true;
    return isLoopback(wanted.name) || this.#hosts.some((own) => isReachedAs(own, wanted));
  }

  #mayCall(origin: string): boolean {
    if (this.#origins.has(origin.toLowerCase())) return true;
    const [, host] = /^https?:\/\/(.*)$/i.exec(origin) ?? [];
    const parsed = host === undefined ? undefined : parseHost(host);
    return parsed !== undefined && isLoopback(parsed.name);
  }
}

/** A name or an address, and at most one port; undefined for anything else. */
function parseHost(text: string): HostName | undefined {
  const [, name, port] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  return name === undefined
    ? undefined
    : { name: name.toLowerCase(), port: port === undefined ? undefined : Number(port) };
}

/** Nobody can point an address to another machine, as a name can be. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

function allowedHost(text: string): HostName {
  const host = parseHost(text);
  if (host) return host;
  throw new NexusError("CONFIG_INVALID", `${JSON.stringify(text)} is not a host name`, {
    phase: "config",
    hint: "Write an allowed host as clients send it in the Host header: mcp.example, or mcp.example:8443.",
    mayHaveReached: false,
  });
}

/** An allowed name without a port is reached by any; clients leave out the port that is usual. */
function isReachedAs(own: HostName, { name, port = 80 }: HostName): boolean {
  return own.name === name && (own.port === undefined || own.port === port);
}

/** Names and values alternate in `rawHeaders`. */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at];
    if (each?.length === name.length && each.toLowerCase() === name) count++;
  }
  return count > 1;
}
