import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

export interface AccessOptions {
  address: string;
  port: number;
  /** Names under which the gateway is reached, with a port or for any. */
  allowedHosts: readonly string[];
  /** Origins of web pages that may call, as browsers write them. */
  allowedOrigins: readonly string[];
}

/**
 * Which requests may come in at all. Pages of other sites reach a local server through names that point to it, or simply
 * by posting to it; both are told by headers that pages cannot choose.
 */
export class Access {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor({ address, port, allowedHosts, allowedOrigins }: AccessOptions) {
    const own = ["127.0.0.1", "localhost", "[::1]", asHost(address)];
    this.#hosts = new Set([
      ...own.map((host) => `${host}:${port}`),
      // Clients leave out the port that is usual.
      ...(port === 80 ? own : []),
      ...allowedHosts.map((host) => host.toLowerCase()),
    ]);
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  /** Why a request must not be served. */
  problem({ host, origin }: IncomingHttpHeaders): string | undefined {
    if (host === undefined || !this.#isOwn(host)) {
      return `Host ${JSON.stringify(host ?? "")} is none of this gateway's; allow it with --allow-host, or allowedHosts`;
    }
    if (origin !== undefined && !this.#mayCall(origin)) {
      return `Pages of ${JSON.stringify(origin)} may not call this gateway; allow them with --allow-origin, or allowedOrigins`;
    }
    return undefined;
  }

  /** Whether the pages of an origin were allowed by name. Those of this machine may call, but get no help from browsers. */
  isNamed(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.has(origin.toLowerCase());
  }

  #isOwn(host: string): boolean {
    if (this.#hosts.has(host)) return true;
    const name = host.toLowerCase();
    return this.#hosts.has(name) || this.#hosts.has(name.replace(/:\d+$/, ""));
  }

  #mayCall(origin: string): boolean {
    if (this.#origins.has(origin.toLowerCase())) return true;
    const [, host] = /^https?:\/\/([^/:[\]]+|\[[^\]]*\])(?::\d+)?$/i.exec(origin) ?? [];
    return host !== undefined && isLoopback(host.toLowerCase());
  }
}

/** Whether only programs of this machine reach an address. */
export function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** An address as it stands in a URL. */
export function asHost(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address.toLowerCase();
}
