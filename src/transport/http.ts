import { within } from "../async/within.ts";
import type { Message } from "../protocol/json-rpc.ts";
import { HttpEndpoint, identityOf, parseUrl, withoutSecrets, type HttpOptions } from "./http-endpoint.ts";
import { SseTransport } from "./sse.ts";
import {
  NOTHING_TO_ABANDON,
  type CloseReason,
  type Connection,
  type Delivery,
  type HttpSessionChannel,
  type Receiver,
  type Sending,
  type Transport,
} from "./transport.ts";

/** Ending a session is a courtesy: no one waits long for it. */
const END_SESSION_MS = 2_000;

/** Streamable HTTP: every message a POST, answered with JSON or an event stream. */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly target: { url: string };
  readonly identity: { server: string; principal: string };
  /** The transport of 2024-11-05, at the same URL. */
  readonly fallback: Transport;
  readonly #url: URL;
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#url = parseUrl(options.url);
    this.target = { url: withoutSecrets(this.#url) };
    this.identity = identityOf(this.#url, options.headers);
    this.fallback = new SseTransport(options);
  }

  async connect(receiver: Receiver): Promise<Connection> {
    return new HttpConnection(await HttpEndpoint.open(this.#url, this.#options, receiver), this.#options.release);
  }
}

/** No socket of its own: each message takes one from the pool. It is open until it is closed. */
class HttpConnection implements Connection {
  readonly closed: Promise<CloseReason>;
  readonly http: HttpSessionChannel;
  readonly #endpoint: HttpEndpoint;
  readonly #release: (() => Promise<void>) | undefined;
  #settle: (reason: CloseReason) => void = () => {};
  #open = true;

  constructor(endpoint: HttpEndpoint, release: (() => Promise<void>) | undefined) {
    this.#endpoint = endpoint;
    this.#release = release;
    this.closed = new Promise((resolve) => (this.#settle = resolve));
    this.http = {
      listen: (delivery, streamOf) => {
        return this.#open ? endpoint.start({ method: "GET", delivery, streamOf }) : NOTHING_TO_ABANDON;
      },
      endSession: (headers) => this.#endSession(headers),
    };
  }

  send(message: Message, delivery: Delivery = {}): Sending {
    return this.#open ? this.#endpoint.start({ method: "POST", message, delivery }) : NOTHING_TO_ABANDON;
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#settle({ kind: "closed" });
    await this.#release?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #endSession(headers: Record<string, string>): Promise<void> {
    let sending: Sending | undefined;
    const ended = new Promise<void>((resolve) => {
      const delivery = { headers, onEnd: () => resolve() };
      sending = this.#endpoint.start({ method: "DELETE", delivery, answersInBody: false });
    });
    await within(ended, END_SESSION_MS);
    sending?.abandon();
  }
}
