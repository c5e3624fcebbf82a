import { within } from "../async/within.ts";
import type { Message } from "../protocol/json-rpc.ts";
import { HttpSender, identityOf, parseUrl, withoutSecrets, type HttpOptions } from "./http-sender.ts";
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

/** The server need not confirm the end of a session, so the wait is short. */
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
    this.identity = identityOf(this.#url, options);
    this.fallback = new SseTransport(options);
  }

  get loginName(): string | undefined {
    return this.#options.credentials?.loginName;
  }

  async connect(receiver: Receiver): Promise<Connection> {
    return new HttpConnection(await HttpSender.open(this.#url, this.#options, receiver), this.#options.release);
  }
}

/** Has no socket of its own: each message uses one from the pool. It is open until it is closed. */
class HttpConnection implements Connection {
  readonly closed: Promise<CloseReason>;
  readonly http: HttpSessionChannel;
  readonly #sender: HttpSender;
  readonly #release: (() => Promise<void>) | undefined;
  #settle: (reason: CloseReason) => void = () => {};
  #open = true;

  constructor(sender: HttpSender, release: (() => Promise<void>) | undefined) {
    this.#sender = sender;
    this.#release = release;
    this.closed = new Promise((resolve) => (this.#settle = resolve));
    this.http = {
      listen: (delivery, streamOf) => {
        return this.#open ? sender.start({ method: "GET", delivery, streamOf }) : NOTHING_TO_ABANDON;
      },
      endSession: (headers) => this.#endSession(headers),
    };
  }

  send(message: Message, delivery: Delivery = {}): Sending {
    return this.#open ? this.#sender.start({ method: "POST", message, delivery }) : NOTHING_TO_ABANDON;
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
      sending = this.#sender.start({ method: "DELETE", delivery, answersInBody: false });
    });
    await within(ended, END_SESSION_MS);
    sending?.abandon();
  }
}
