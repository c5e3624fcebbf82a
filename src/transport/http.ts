import { NexusError } from "../errors/nexus-error.ts";
import type { Dispatcher, DispatchOptions, Network } from "../net/network.ts";
import type { Message } from "../protocol/json-rpc.ts";
import { HttpExchange } from "./http-exchange.ts";
import type {
  CloseReason,
  Connection,
  Delivery,
  HttpSessionChannel,
  Receiver,
  Sending,
  Transport,
} from "./transport.ts";

export interface HttpOptions {
  url: string;
  /** Sent with everything; what a message brings along wins. */
  headers: Record<string, string>;
  network: Network;
  maxMessageBytes: number;
  /** Called when a connection has closed. */
  release?: () => Promise<void>;
}

/** Ending a session is a courtesy: no one waits long for it. */
const END_SESSION_MS = 2_000;

/** Streamable HTTP: every message a POST, answered with JSON or an event stream. */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly target: { url: string };
  readonly #url: URL;
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#url = parseUrl(options.url);
    this.target = { url: withoutSecrets(this.#url) };
  }

  async connect(receiver: Receiver): Promise<Connection> {
    const { network, headers } = this.#options;
    network.guard?.check(this.#url);
    const dispatcher = await network.dispatcher(this.#url.origin, credentialOf(headers));
    return new HttpConnection(this.#url, dispatcher, this.#options, receiver);
  }
}

/** No socket of its own: each message takes one from the pool. It is open until it is closed. */
class HttpConnection implements Connection {
  readonly closed: Promise<CloseReason>;
  readonly http: HttpSessionChannel;
  /** Read off the URL once: its getters cost more than a message. */
  readonly #place: { origin: string; path: string };
  readonly #dispatcher: Dispatcher;
  readonly #receiver: Receiver;
  readonly #maxMessageBytes: number;
  readonly #release: (() => Promise<void>) | undefined;
  readonly #postHeaders: Record<string, string>;
  readonly #getHeaders: Record<string, string>;
  #settle: (reason: CloseReason) => void = () => {};
  #open = true;

  constructor(url: URL, dispatcher: Dispatcher, options: HttpOptions, receiver: Receiver) {
    const { headers, maxMessageBytes, release } = options;
    this.#place = { origin: url.origin, path: url.pathname + url.search };
    this.#dispatcher = dispatcher;
    this.#receiver = receiver;
    this.#maxMessageBytes = maxMessageBytes;
    this.#release = release;
    this.#getHeaders = { accept: "text/event-stream", ...lowerCased(headers) };
    this.#postHeaders = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...lowerCased(headers),
    };
    this.closed = new Promise((resolve) => (this.#settle = resolve));
    this.http = {
      listen: (delivery) => this.#start("GET", undefined, delivery),
      endSession: (headers) => this.#endSession(headers),
    };
  }

  send(message: Message, delivery: Delivery = {}): Sending {
    return this.#start("POST", message, delivery);
  }

  async close(): Promise<void> {
    this.#open = false;
    this.#settle({ kind: "closed" });
    await this.#release?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(method: DispatchOptions["method"], message: Message | undefined, delivery: Delivery): Sending {
    const base = method === "POST" ? this.#postHeaders : this.#getHeaders;
    const options: DispatchOptions = {
      origin: this.#place.origin,
      path: this.#place.path,
      method,
      headers: delivery.headers ? { ...base, ...delivery.headers } : base,
      // Every call has a clock of its own; undici's would cut long ones short.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (message) options.body = JSON.stringify(message);
    const exchange = new HttpExchange({
      dispatcher: this.#dispatcher,
      options,
      streamOf: message && "id" in message && "method" in message ? message.id : undefined,
      receiver: this.#receiver,
      delivery,
      maxMessageBytes: this.#maxMessageBytes,
    });
    if (this.#open) exchange.start();
    return exchange;
  }

  async #endSession(headers: Record<string, string>): Promise<void> {
    let sending: Sending | undefined;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_SESSION_MS);
      sending = this.#start("DELETE", undefined, { headers, onEnd: () => resolve() });
    });
    clearTimeout(timer);
    sending?.abandon();
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new NexusError("CONFIG_INVALID", `Not an http or https URL: ${text}`, {
    phase: "config",
    hint: `Write the whole address, for example "https://example.com/mcp".`,
    mayHaveReached: false,
  });
}

/** For error reports: a URL may carry a password or a key in its query. */
function withoutSecrets(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** Which headers make two callers different people at the same origin. */
function credentialOf(headers: Record<string, string>): string {
  const sorted = Object.entries(lowerCased(headers)).sort(([a], [b]) => a.localeCompare(b));
  return JSON.stringify(sorted);
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
