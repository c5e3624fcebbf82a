import { rootCertificates } from "node:tls";
import { Deadlines } from "../async/deadlines.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { AddressGuard } from "./address-guard.ts";
import type { Dispatcher, HttpNetwork } from "./http-network.ts";
import { proxyFor } from "./proxy-choice.ts";

export interface ProxySettings {
  httpProxy?: string | undefined;
  httpsProxy?: string | undefined;
  noProxy?: string | undefined;
}

export interface NetworkOptions {
  proxy?: ProxySettings | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** Guarded connections go directly to the checked address, never through a proxy. */
  guard?: AddressGuard | undefined;
  connectTimeoutMs?: number | undefined;
}

/**
 * Outgoing HTTP: sockets are pooled per origin and credential, so that one user's connection
 * never carries another's request.
 */
export class Network implements HttpNetwork {
  readonly guard: AddressGuard | undefined;
  /** Of all its requests. Their connections keep the process alive. */
  readonly deadlines = new Deadlines();
  readonly #options: NetworkOptions;
  readonly #pools = new Map<string, Promise<Dispatcher>>();
  /** Those that are open, by origin and credential, for callers that need not wait. */
  readonly #open = new Map<string, Map<string, Dispatcher>>();

  constructor(options: NetworkOptions = {}) {
    this.#options = options;
    this.guard = options.guard;
  }

  /** The pool for an origin and a credential. */
  dispatcher(origin: string, credential: string): Promise<Dispatcher> {
    const key = `${origin}\n${credential}`;
    let pool = this.#pools.get(key);
    if (!pool) {
      const opening = this.#openPool(origin);
      pool = opening;
      this.#pools.set(key, pool);
      opening.then(
        (opened) => {
          if (this.#pools.get(key) === opening) this.#keepOpen(origin, credential, opened);
        },
        () => {},
      );
    }
    return pool;
  }

  #keepOpen(origin: string, credential: string, opened: Dispatcher): void {
    const ofOrigin = this.#open.get(origin) ?? new Map<string, Dispatcher>();
    this.#open.set(origin, ofOrigin.set(credential, opened));
  }

  /** The same if it is open. */
  findDispatcher(origin: string, credential: string): Dispatcher | undefined {
    return this.#open.get(origin)?.get(credential);
  }

  /** The proxy for requests to an origin, without its password. */
  proxyFor(origin: string): string | undefined {
    const { guard, proxy } = this.#options;
    return guard || !proxy ? undefined : proxyFor(origin, proxy);
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    this.#open.clear();
    await Promise.all(pools.map(async (pool) => (await pool).destroy()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #openPool(origin: string): Promise<Dispatcher> {
    // Loaded on first use: it is large, and programs that use only stdio do not need it.
    const { EnvHttpProxyAgent, Pool } = await import("undici");
    const { proxy, ca, guard, connectTimeoutMs } = this.#options;
    const tls = ca?.length ? { ca: [...rootCertificates, ...ca] } : {};
    const connect = { ...tls, timeout: connectTimeoutMs ?? 10_000 };
    if (guard) return new Pool(origin, { connect: { ...connect, lookup: guard.lookup } });
    if (!proxy?.httpProxy && !proxy?.httpsProxy) return new Pool(origin, { connect });
    return new EnvHttpProxyAgent({
      httpProxy: proxyUrl(proxy.httpProxy, "HTTP_PROXY"),
      httpsProxy: proxyUrl(proxy.httpsProxy, "HTTPS_PROXY"),
      noProxy: proxy.noProxy ?? "",
      connect,
      requestTls: tls,
      proxyTls: tls,
    });
  }
}

/** Both "proxy:3128" and "http://proxy:3128/" are common. */
function proxyUrl(value: string | undefined, variable: string): string {
  if (!value) return "";
  const text = value.includes("://") ? value : `http://${value}`;
  if (!URL.canParse(text)) {
    throw new NexusError("CONFIG_INVALID", `The variable ${variable} is not a proxy address`, {
      phase: "config",
      hint: `Use a value like "http://proxy.example:3128", or unset it.`,
      mayHaveReached: false,
    });
  }
  const url = new URL(text);
  return new URL(`${url.protocol}//${url.username ? `${url.username}:${url.password}@` : ""}${url.host}`).href;
}
