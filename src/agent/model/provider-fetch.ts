import { NexusError } from "../../errors/nexus-error.ts";
import { networkFailure } from "../../net/network-failure.ts";
import type { DispatchController, DispatchHandler, DispatchOptions } from "../../net/http-network.ts";
import type { Network } from "../../net/network.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import { explainRefusal } from "./provider-refusal.ts";
import type { ProviderEndpoint } from "./provider-endpoint.ts";

interface ProviderFetchOptions {
  network: Network;
  endpoint: ProviderEndpoint;
  model: string;
  /** What a successful answer contains. */
  expects: "events" | "json";
  /** Called whenever something arrives. */
  onActivity?: (() => void) | undefined;
  /** Called with the body of a refusal before it is thrown. */
  onRefusal?: ((body: string) => void) | undefined;
}

/** The parts of `fetch` that providers' packages use. */
export type ProviderFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Of an error; the rest is not read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const CONTENT_TYPES = { events: /^text\/event-stream\b/i, json: /\bjson\b/i };
/** Of a whole answer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * `fetch` for one request to a provider, with the proxies and certificates of the network. Only successful answers
 * are returned; everything else is thrown as a `NexusError`. Redirects are not followed: they would carry the key.
 */
export function providerFetch(settings: ProviderFetchOptions): ProviderFetch {
  const { network, endpoint } = settings;
  return async (target, init = {}) => {
    const url = new URL(target instanceof Request ? target.url : target);
    const dispatcher = await network.dispatcher(url.origin, endpoint.provider);
    const { method = "GET", body } = init;
    const options: DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: method === "POST" ? "POST" : "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (typeof body === "string") options.body = body;
    const pending = new PendingAnswer(url, settings);
    const { signal } = init;
    const stop = () => pending.stop(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    else dispatcher.dispatch(options, pending);
    return pending.response.finally(() => {
      // While the body arrives the signal still counts; it has no effect afterwards.
      if (pending.isOver) signal?.removeEventListener("abort", stop);
    });
  };
}

/** One request and its answer, whose body is read while it arrives. */
class PendingAnswer implements DispatchHandler {
  readonly response: Promise<Response>;
  isOver = false;
  readonly #url: URL;
  readonly #options: ProviderFetchOptions;
  #resolve: (response: Response) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: DispatchController | undefined;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #refused: { status: number; headers: Record<string, string | string[] | undefined>; chunks: Buffer[] } | undefined;
  #bytes = 0;

  constructor(url: URL, options: ProviderFetchOptions) {
    this.#url = url;
    this.#options = options;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  stop(reason: unknown): void {
    this.#fail(reason instanceof Error ? reason : new NexusError("CANCELLED", "The request was cancelled"));
    this.#controller?.abort(new Error("over"));
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(new Error("over"));
  }

  onResponseStart(
    _controller: DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.isOver) return;
    this.#options.onActivity?.();
    if (status > 299) {
      this.#refused = { status, headers, chunks: [] };
      return;
    }
    const type = [headers["content-type"]].flat()[0] ?? "";
    if (!CONTENT_TYPES[this.#options.expects].test(type)) return this.stop(this.#otherContent(type));
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        this.#body = stream;
      },
      cancel: () => this.stop(new NexusError("CANCELLED", "The answer was not read to its end")),
    });
    this.#resolve(new Response(body, { status, headers: { "content-type": type } }));
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.#options.onActivity?.();
    this.#bytes += chunk.length;
    if (this.#refused) {
      if (this.#bytes <= MAX_REFUSAL_BYTES) this.#refused.chunks.push(chunk);
      else this.#refuse();
    } else if (this.#bytes > MAX_ANSWER_BYTES) {
      this.stop(new NexusError("MESSAGE_TOO_LARGE", `The answer of ${this.#url.origin} is larger than 64 MiB`));
    } else {
      // The chunk is part of a buffer that is used again.
      this.#body?.enqueue(new Uint8Array(chunk));
    }
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    if (this.#refused) return this.#refuse();
    this.isOver = true;
    this.#body?.close();
  }

  onResponseError(_controller: DispatchController | undefined, error: Error): void {
    // An error whose body did not arrive says enough with its status.
    if (this.#refused && !this.isOver) return this.#refuse();
    const { origin } = this.#url;
    const failure = networkFailure(error, {
      origin,
      proxy: this.#options.network.proxyFor(origin),
      started: this.#controller !== undefined,
      hasAnswered: this.#body !== undefined,
    });
    this.#fail(failure.amended({ hint: this.#hint(failure) }));
  }

  #otherContent(type: string): NexusError {
    const { endpoint, expects } = this.#options;
    const wanted = expects === "events" ? "a stream of events" : "JSON";
    const what = type === "" ? "something else" : visible(shorten(type, 80));
    return new NexusError("PROTOCOL_VIOLATION", `${this.#shown} answered with ${what} instead of ${wanted}`, {
      phase: "request",
      hint: `Check that the base URL ${endpoint.baseUrl} belongs to a provider of the type "${endpoint.type}".`,
      mayHaveReached: true,
    });
  }

  get #shown(): string {
    return this.#url.origin + this.#url.pathname;
  }

  #hint({ hint }: NexusError): string {
    const { provider, baseUrl } = this.#options.endpoint;
    return `${hint === undefined ? "" : `${hint} `}The base URL of the provider "${provider}" is ${baseUrl}.`;
  }

  #refuse(): void {
    if (!this.#refused) return;
    const { status, headers, chunks } = this.#refused;
    const { endpoint, model, onRefusal } = this.#options;
    const body = Buffer.concat(chunks).toString("utf8");
    onRefusal?.(body);
    this.#fail(explainRefusal({ status, headers, body, url: this.#shown }, endpoint, model));
    this.#controller?.abort(new Error("over"));
  }

  #fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#reject(error);
    this.#body?.error(error);
  }
}
