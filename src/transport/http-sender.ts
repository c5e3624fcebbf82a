import { NexusError } from "../errors/nexus-error.ts";
import type { HiddenValues } from "../masking/hidden-values.ts";
import type { Dispatcher, DispatchOptions, HttpNetwork } from "../net/http-network.ts";
import { encodeUtf8, toBase64 } from "../text/bytes.ts";
import { isRequest, type Message, type RequestId } from "../protocol/json-rpc.ts";
import { AuthorizedHeaders } from "./authorized-headers.ts";
import type { CredentialSource } from "./credential-source.ts";
import { VIA_HEADER } from "./via-marks.ts";
import { HttpSending } from "./http-sending.ts";
import type { Delivery, Receiver, Sending } from "./transport.ts";

export interface HttpOptions {
  url: string;
  /** Sent with every request; headers of a message win. */
  headers: Record<string, string>;
  /** Authorizes the requests; not used where the headers or the URL have an authorization of their own. */
  credentials?: CredentialSource | undefined;
  /** Gets the tokens that are sent, so that they are masked. */
  hidden?: HiddenValues | undefined;
  /** The gateways that forwarded the message. */
  via?: (() => readonly string[]) | undefined;
  network: HttpNetwork;
  /** Names a user without saying its credential: in a cache that is shared, answers are kept apart by it. */
  principalOf: (credential: string) => string;
  maxMessageBytes: number;
  /** Called when a connection has closed. */
  release?: () => Promise<void>;
}

interface HttpStart {
  method: DispatchOptions["method"];
  message?: Message;
  delivery: Delivery;
  /** The request whose stream this is, if not the message itself. */
  streamOf?: RequestId | undefined;
  /** A path other than that of the URL. */
  path?: string | undefined;
  answersInBody?: boolean;
}

interface SenderParts {
  dispatcher: Dispatcher;
  proxy: string | undefined;
  headers: Record<string, string>;
  credentials: CredentialSource | undefined;
  hidden: HiddenValues | undefined;
  via: HttpOptions["via"];
  maxMessageBytes: number;
  receiver: Receiver;
}

/** Of a request whose headers are those of the credential. */
const NO_HEADERS: Record<string, string> = {};

/** Sends the HTTP requests of one connection: knows its URL, its sockets and the headers that all of them have. */
export class HttpSender {
  /** Computed once: the getters of a URL cost more than a message. */
  readonly origin: string;
  readonly #path: string;
  readonly #dispatcher: Dispatcher;
  readonly #proxy: string | undefined;
  readonly #receiver: Receiver;
  readonly #peer = { hasAnswered: false };
  readonly #maxMessageBytes: number;
  readonly #postHeaders: Record<string, string>;
  readonly #getHeaders: Record<string, string>;
  readonly #authorized: AuthorizedHeaders | undefined;
  readonly #via: HttpOptions["via"];
  #gateways: readonly string[] | undefined;

  static async open(url: URL, options: HttpOptions, receiver: Receiver): Promise<HttpSender> {
    const { network, via, hidden, maxMessageBytes } = options;
    network.guard?.check(url);
    const own = ownHeaders(url, options);
    for (const [name, value] of Object.entries(own)) checkHeader(name, value);
    const credentials = sourceFor(own, options);
    const dispatcher = await network.dispatcher(url.origin, credentialOf(own, credentials));
    const proxy = network.proxyFor(url.origin);
    return new HttpSender(url, {
      dispatcher,
      proxy,
      headers: own,
      credentials,
      hidden,
      via,
      maxMessageBytes,
      receiver,
    });
  }

  private constructor(url: URL, parts: SenderParts) {
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
    const { credentials: source, hidden } = parts;
    const plain = { post: this.#postHeaders, get: this.#getHeaders };
    this.#authorized = source && new AuthorizedHeaders({ source, url, plain, hidden });
  }

  start({ method, message, delivery, streamOf, path, answersInBody = true }: HttpStart): Sending {
    if (this.#via) this.#nameGateways(this.#via());
    const options: DispatchOptions = {
      origin: this.origin,
      path: path ?? this.#path,
      method,
      headers: this.#authorized ? NO_HEADERS : this.#headersFor(method, delivery.headers),
      // Every call has its own timeout; undici's would end long calls.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (message) options.body = JSON.stringify(message);
    const sending = new HttpSending({
      dispatcher: this.#dispatcher,
      options,
      authorized: this.#authorized,
      proxy: this.#proxy,
      streamOf: streamOf ?? (message && isRequest(message) ? message.id : undefined),
      receiver: this.#receiver,
      peer: this.#peer,
      delivery,
      maxMessageBytes: this.#maxMessageBytes,
      answersInBody,
    });
    sending.start();
    return sending;
  }

  #headersFor(method: string, own: Record<string, string> | undefined): Record<string, string> {
    const base = method === "POST" ? this.#postHeaders : this.#getHeaders;
    return own ? Object.assign({}, base, own) : base;
  }

  /** They change rarely: nothing is done while the list is the same. */
  #nameGateways(gateways: readonly string[]): void {
    if (gateways === this.#gateways) return;
    this.#gateways = gateways;
    const via = gateways.join(", ");
    this.#getHeaders[VIA_HEADER] = via;
    this.#postHeaders[VIA_HEADER] = via;
    this.#authorized?.rebuild();
  }
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  // Only the beginning: the rest may contain a password or a key.
  throw new NexusError("CONFIG_INVALID", `Not an http or https URL: ${text.slice(0, text.indexOf(":") + 1)}…`, {
    phase: "config",
    likelyCause: /^[\w.-]+:\d+(?:\/|$)/.test(text)
      ? `The scheme is missing. The URL must start with "http://" or "https://".`
      : undefined,
    hint: `Write the full URL, for example "https://example.com/mcp".`,
    mayHaveReached: false,
  });
}

/** For error reports: a URL may contain a password, or a key in its query. */
export function withoutSecrets(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** The server is the whole URL with its query; other headers or another credential source mean another user. */
export function identityOf(
  url: URL,
  options: Pick<HttpOptions, "headers" | "credentials" | "principalOf">,
): { server: string; principal: string } {
  const own = ownHeaders(url, options);
  const place = new URL(url);
  place.username = "";
  place.password = "";
  return { server: place.href, principal: options.principalOf(credentialOf(own, sourceFor(own, options))) };
}

function ownHeaders(url: URL, { headers }: Pick<HttpOptions, "headers">): Record<string, string> {
  return { ...basicAuthorization(url), ...lowerCased(headers) };
}

/** Whether an authorization is written in the headers or the URL. */
export function hasAuthorization(target: Pick<HttpOptions, "url" | "headers">): boolean {
  const hasHeader = Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization");
  return (
    hasHeader || (URL.canParse(target.url) && basicAuthorization(new URL(target.url))["authorization"] !== undefined)
  );
}

/** An authorization that is written in the entry wins. */
function sourceFor(
  own: Record<string, string>,
  { credentials }: Pick<HttpOptions, "credentials">,
): CredentialSource | undefined {
  return own["authorization"] === undefined ? credentials : undefined;
}

/** What distinguishes users at the same origin: the headers, and the name of the credential, whose token may change. */
function credentialOf(headers: Record<string, string>, source: CredentialSource | undefined): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => a.localeCompare(b));
  return JSON.stringify(source ? [...sorted, source.name] : sorted);
}

/** User and password of the URL, as a browser sends them. */
function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${toBase64(encodeUtf8(credentials))}` };
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
