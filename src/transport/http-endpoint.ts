import { NexusError } from "../errors/nexus-error.ts";
import type { Dispatcher, DispatchOptions, Network } from "../net/network.ts";
import { sha256 } from "../text/digest.ts";
import { isRequest, type Message, type RequestId } from "../protocol/json-rpc.ts";
import { VIA_HEADER } from "./via-marks.ts";
import { HttpExchange } from "./http-exchange.ts";
import type { Delivery, Receiver, Sending } from "./transport.ts";

export interface HttpOptions {
  url: string;
  /** Sent with everything; what a message brings along wins. */
  headers: Record<string, string>;
  /** The gateways that what is sent comes from. */
  via?: (() => readonly string[]) | undefined;
  network: Network;
  maxMessageBytes: number;
  /** Called when a connection has closed. */
  release?: () => Promise<void>;
}

export interface HttpStart {
  method: DispatchOptions["method"];
  message?: Message;
  delivery: Delivery;
  /** Whose stream this is, if not the message's own. */
  streamOf?: RequestId | undefined;
  /** Another path than the endpoint's own. */
  path?: string | undefined;
  answersInBody?: boolean;
}

interface EndpointParts {
  dispatcher: Dispatcher;
  proxy: string | undefined;
  headers: Record<string, string>;
  via: HttpOptions["via"];
  maxMessageBytes: number;
  receiver: Receiver;
}

/** One URL, with the sockets and headers for it: where every HTTP exchange of a connection starts. */
export class HttpEndpoint {
  /** Read off the URL once: its getters cost more than a message. */
  readonly origin: string;
  readonly #path: string;
  readonly #dispatcher: Dispatcher;
  readonly #proxy: string | undefined;
  readonly #receiver: Receiver;
  readonly #maxMessageBytes: number;
  readonly #postHeaders: Record<string, string>;
  readonly #getHeaders: Record<string, string>;
  readonly #via: HttpOptions["via"];
  #gateways: readonly string[] | undefined;

  static async open(
    url: URL,
    { network, headers, via, maxMessageBytes }: HttpOptions,
    receiver: Receiver,
  ): Promise<HttpEndpoint> {
    network.guard?.check(url);
    const own = { ...basicAuthorization(url), ...lowerCased(headers) };
    for (const [name, value] of Object.entries(own)) checkHeader(name, value);
    const dispatcher = await network.dispatcher(url.origin, credentialOf(own));
    const proxy = network.proxyFor(url.origin);
    return new HttpEndpoint(url, { dispatcher, proxy, headers: own, via, maxMessageBytes, receiver });
  }

  private constructor(url: URL, parts: EndpointParts) {
    this.origin = url.origin;
    this.#path = url.pathname + url.search;
    this.#dispatcher = parts.dispatcher;
    this.#proxy = parts.proxy;
    this.#receiver = parts.receiver;
    this.#maxMessageBytes = parts.maxMessageBytes;
    this.#via = parts.via;
    this.#getHeaders = { accept: "text/event-stream", ...parts.headers };
    this.#postHeaders = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...parts.headers,
    };
  }

  start({ method, message, delivery, streamOf, path, answersInBody = true }: HttpStart): Sending {
    if (this.#via) this.#nameGateways(this.#via());
    const base = method === "POST" ? this.#postHeaders : this.#getHeaders;
    const options: DispatchOptions = {
      origin: this.origin,
      path: path ?? this.#path,
      method,
      headers: delivery.headers ? Object.assign({}, base, delivery.headers) : base,
      // Every call has a clock of its own; undici's would cut long ones short.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (message) options.body = JSON.stringify(message);
    const exchange = new HttpExchange({
      dispatcher: this.#dispatcher,
      options,
      proxy: this.#proxy,
      streamOf: streamOf ?? (message && isRequest(message) ? message.id : undefined),
      receiver: this.#receiver,
      delivery,
      maxMessageBytes: this.#maxMessageBytes,
      answersInBody,
    });
    exchange.start();
    return exchange;
  }

  /** They change rarely: as long as it is the same list, nothing is done. */
  #nameGateways(gateways: readonly string[]): void {
    if (gateways === this.#gateways) return;
    this.#gateways = gateways;
    const via = gateways.join(", ");
    this.#getHeaders[VIA_HEADER] = via;
    this.#postHeaders[VIA_HEADER] = via;
  }
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  // Only its beginning: what follows may be a password or a key.
  throw new NexusError("CONFIG_INVALID", `Not an http or https URL: ${text.slice(0, text.indexOf(":") + 1)}…`, {
    phase: "config",
    likelyCause: /^[\w.-]+:\d+(?:\/|$)/.test(text)
      ? `The scheme is missing. The URL must start with "http://" or "https://".`
      : undefined,
    hint: `Write the full URL, for example "https://example.com/mcp".`,
    mayHaveReached: false,
  });
}

/** For error reports: a URL may carry a password or a key in its query. */
export function withoutSecrets(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** The server is the whole URL, its query included; whoever sends other headers is somebody else. */
export function identityOf(url: URL, headers: Record<string, string>): { server: string; principal: string } {
  const own = { ...basicAuthorization(url), ...lowerCased(headers) };
  const place = new URL(url);
  place.username = "";
  place.password = "";
  return { server: place.href, principal: sha256(credentialOf(own)) };
}

/** Which headers make two callers different people at the same origin. */
function credentialOf(headers: Record<string, string>): string {
  return JSON.stringify(Object.entries(headers).sort(([a], [b]) => a.localeCompare(b)));
}

/** A name and password in the URL, as a browser sends them. */
function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` };
}

function checkHeader(name: string, value: string): void {
  if (/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw new NexusError("CONFIG_INVALID", `The header "${name}" has a name or a value that is not allowed in HTTP`, {
    phase: "config",
    hint: "Check it for line breaks and characters outside Latin-1.",
    mayHaveReached: false,
  });
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
