import { NexusError } from "../errors/nexus-error.ts";
import { isRequest, type Message } from "../protocol/json-rpc.ts";
import { refusalError } from "./refusal.ts";
import { HttpSender, identityOf, parseUrl, withoutSecrets, type HttpOptions } from "./http-sender.ts";
import type { CloseReason, Connection, Delivery, Receiver, Sending, StreamEnd, Transport } from "./transport.ts";

/** HTTP+SSE of 2024-11-05: one stream for all messages of the server, which also names the path for POSTs. */
export class SseTransport implements Transport {
  readonly kind = "sse";
  readonly target: { url: string };
  readonly identity: { server: string; principal: string };
  readonly #url: URL;
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#url = parseUrl(options.url);
    this.target = { url: withoutSecrets(this.#url) };
    this.identity = identityOf(this.#url, options);
  }

  get loginName(): string | undefined {
    return this.#options.credentials?.loginName;
  }

  async connect(receiver: Receiver, signal?: AbortSignal): Promise<Connection> {
    const sender = await HttpSender.open(this.#url, this.#options, receiver);
    let settle: (reason: CloseReason) => void = () => {};
    const closed = new Promise<CloseReason>((resolve) => (settle = resolve));
    let stream: Sending | undefined;
    try {
      const path = await new Promise<string>((resolve, reject) => {
        const delivery: Delivery = {
          onOtherEvent: (type, data) => {
            if (type === "endpoint") answerTo(resolve, reject, () => postPath(this.#url, data));
          },
          onEnd: (end) => {
            reject(openingFailure(end));
            settle({ kind: "stream-ended", ...(end.kind === "failed" ? { error: end.error } : {}) });
          },
        };
        signal?.throwIfAborted();
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        stream = sender.start({ method: "GET", delivery });
      });
      return new SseConnection({ sender, path, stream, closed, settle, release: this.#options.release });
    } catch (error) {
      stream?.abandon();
      await this.#options.release?.();
      throw error;
    }
  }
}

interface SseParts {
  sender: HttpSender;
  path: string;
  stream: Sending | undefined;
  closed: Promise<CloseReason>;
  settle: (reason: CloseReason) => void;
  release: (() => Promise<void>) | undefined;
}

class SseConnection implements Connection {
  readonly closed: Promise<CloseReason>;
  readonly #parts: SseParts;
  #open = true;

  constructor(parts: SseParts) {
    this.closed = parts.closed;
    this.#parts = parts;
  }

  send(message: Message, delivery: Delivery = {}): Sending {
    const { sender, path } = this.#parts;
    const onEnd = (end: StreamEnd) => {
      // The answer to an accepted request comes on the common stream.
      if (end.kind !== "ended" || !isRequest(message)) delivery.onEnd?.(end);
    };
    return sender.start({
      method: "POST",
      message,
      path,
      delivery: { headers: delivery.headers, onEnd },
      answersInBody: false,
    });
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#parts.settle({ kind: "closed" });
    this.#parts.stream?.abandon();
    await this.#parts.release?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Posts go to the path from the stream, but never to another origin, because they carry credentials. */
function postPath(url: URL, endpoint: string): string {
  const target = URL.canParse(endpoint, url.href) ? new URL(endpoint, url.href) : undefined;
  if (target?.origin === url.origin) return target.pathname + target.search;
  throw new NexusError(
    "REDIRECT_REFUSED",
    `The server asks for messages at another origin: ${target?.origin ?? "an invalid address"}`,
    {
      phase: "connect",
      hint: "If you trust that address, use it as the server's URL.",
      mayHaveReached: false,
    },
  );
}

function answerTo<T>(resolve: (value: T) => void, reject: (error: unknown) => void, run: () => T): void {
  try {
    resolve(run());
  } catch (error) {
    reject(error);
  }
}

function openingFailure(end: StreamEnd): NexusError {
  if (end.kind === "failed") return end.error;
  if (end.kind === "refused") return refusalError(end).amended({ phase: "connect", mayHaveReached: false });
  return new NexusError("NOT_MCP", "The event stream ended before it named an endpoint", {
    phase: "connect",
    hint: "Check that the URL is the server's MCP endpoint.",
    mayHaveReached: false,
  });
}
