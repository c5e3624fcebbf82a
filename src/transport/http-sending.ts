import { Cancellation } from "../async/cancellation.ts";
import { nextTurn } from "../async/event-loop.ts";
import { asNexusError, NexusError } from "../errors/nexus-error.ts";
import { networkFailure } from "../net/network-failure.ts";
import type { DispatchController, Dispatcher, DispatchHandler, DispatchOptions } from "../net/http-network.ts";
import { parseMessages, type Message, type RequestId, type ErrorObject } from "../protocol/json-rpc.ts";
import type { AuthorizedHeaders } from "./authorized-headers.ts";
import type { CredentialHeaders } from "./credential-source.ts";
import { SseParser } from "./sse-parser.ts";
import { ALWAYS_FEW, tooLarge, tooManyValues } from "./too-large.ts";
import {
  MAX_EXCERPT,
  type Delivery,
  type Receiver,
  type ResponseHeaders,
  type ResumePoint,
  type Sending,
  type StreamEnd,
} from "./transport.ts";
import { titleOfPage } from "./refused-body.ts";
import { parseJson } from "../json/parse-json.ts";
import { decodeAll } from "../text/bytes.ts";
import { isRecord } from "../json/is-record.ts";
import { isNestedDeeper } from "../json/nesting.ts";

interface HttpPeer {
  /** Whether any answer has begun. */
  hasAnswered: boolean;
}

interface HttpSendingOptions {
  dispatcher: Dispatcher;
  /** Its headers are set by the credential source, where there is one. */
  options: DispatchOptions;
  authorized: AuthorizedHeaders | undefined;
  /** The proxy, for error reports. */
  proxy: string | undefined;
  streamOf: RequestId | undefined;
  receiver: Receiver;
  /** What is known about the server; shared by all requests of the connection. */
  peer: HttpPeer;
  delivery: Delivery;
  maxMessageBytes: number;
  /** False: the body of a 2xx answer is only an acknowledgement. */
  answersInBody: boolean;
}

/** How the body of an answer is read, decided by status and headers. */
type Reading =
  | { kind: "waiting" }
  | { kind: "json"; chunks: Uint8Array[]; bytes: number }
  | { kind: "events"; parser: SseParser; retryMs?: number }
  | { kind: "refusal"; status: number; headers: ResponseHeaders; chunks: Uint8Array[]; bytes: number }
  | { kind: "other"; contentType: string; chunks: Uint8Array[]; bytes: number }
  | { kind: "redirect"; location: string }
  | { kind: "acknowledged" }
  | { kind: "over" };

const MAX_REFUSAL_BYTES = 64 * 1024;
/** How long a stream may stay open after its answer. */
const GRACE_MS = 1_000;
/** A body of so many characters takes some milliseconds to be parsed. */
const LARGE_BODY = 256 * 1024;
const MAX_REDIRECTS = 5;
/** 303 means "done, see another page": repeating the POST there could have an effect twice. */
const REDIRECTS = [301, 302, 307, 308];
/** How often a request is sent at most, whatever the credential source says. */
const MAX_ATTEMPTS = 5;

/** One HTTP request and the messages in its answer. */
export class HttpSending implements DispatchHandler, Sending {
  readonly #setup: HttpSendingOptions;
  #options: DispatchOptions;
  #grace: NodeJS.Timeout | undefined;
  #controller: DispatchController | undefined;
  /** The controller of the request that was redirected. */
  #left: DispatchController | undefined;
  #reading: Reading = { kind: "waiting" };
  #started = false;
  #redirects = 0;
  #attempts = 1;
  /** The credential with which it was sent. */
  #credential: CredentialHeaders | undefined;
  /** Present while the credential source is waited for. */
  #wait: Cancellation | undefined;

  constructor(setup: HttpSendingOptions) {
    this.#setup = setup;
    this.#options = setup.options;
  }

  start(): void {
    const { authorized } = this.#setup;
    if (!authorized) return this.#dispatch();
    const { method, path } = this.#options;
    const found = authorized.source.findHeaders(authorized.requestFor(method, path));
    if (found) this.#dispatchWith(found, authorized);
    else void this.#authorize(authorized);
  }

  #dispatch(): void {
    try {
      this.#setup.dispatcher.dispatch(this.#options, this);
    } catch (error) {
      this.#fail(this.#networkFailure(error));
    }
  }

  get started(): boolean {
    return this.#started;
  }

  get #isOver(): boolean {
    return this.#reading.kind === "over";
  }

  abandon(): void {
    if (this.#isOver) return;
    this.#over();
    this.#wait?.abort(new NexusError("CANCELLED", "The request was cancelled before it was sent"));
    this.#controller?.abort(new Error("abandoned"));
  }

  /** Servers SHOULD end the stream after the answer; some leave it and its socket open. */
  finish(): void {
    const { kind } = this.#reading;
    if (kind === "json" || kind === "over") return;
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => this.abandon(), GRACE_MS);
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    this.#started = true;
    if (this.#reading.kind === "over") controller.abort(new Error("abandoned"));
  }

  onResponseStart(controller: DispatchController, status: number, headers: ResponseHeaders): void {
    this.#setup.peer.hasAnswered = true;
    if (status < 200 || this.#reading.kind === "over") return;
    if (status >= 300) {
      const { location } = headers;
      const isRedirect = REDIRECTS.includes(status) && typeof location === "string";
      this.#reading = isRedirect
        ? { kind: "redirect", location }
        : { kind: "refusal", status, headers, chunks: [], bytes: 0 };
      // The status is enough; a body without end adds nothing.
      this.#grace = setTimeout(() => this.#cutShort(), GRACE_MS);
    } else {
      // 202 accepts a message without an answer; a body is ignored.
      const isAnswer = status !== 202 && this.#setup.answersInBody;
      this.#reading = isAnswer ? this.#readingOf(contentTypeOf(headers)) : { kind: "acknowledged" };
      this.#setup.delivery.onHead?.(headers);
    }
  }

  onResponseData(_controller: DispatchController, chunk: Uint8Array): void {
    const reading = this.#reading;
    const { maxMessageBytes } = this.#setup;
    switch (reading.kind) {
      case "events":
        reading.parser.push(chunk);
        break;
      case "json":
        reading.bytes += chunk.length;
        if (reading.bytes > maxMessageBytes) this.#abort(tooLarge(reading.bytes, maxMessageBytes));
        else reading.chunks.push(chunk);
        break;
      case "refusal":
      case "other":
        reading.bytes += chunk.length;
        if (reading.bytes <= MAX_REFUSAL_BYTES) reading.chunks.push(chunk);
        else this.#cutShort();
        break;
      case "waiting":
      case "redirect":
      case "acknowledged":
      case "over":
        break;
    }
  }

  onResponseEnd(): void {
    const reading = this.#reading;
    switch (reading.kind) {
      case "json":
        this.#endJson(decodeAll(reading.chunks));
        break;
      case "refusal":
        this.#endRefused(reading);
        break;
      case "other":
        this.#endOther(reading.contentType, decodeAll(reading.chunks));
        break;
      case "redirect":
        this.#follow(reading.location);
        break;
      case "events":
      case "waiting":
      case "acknowledged":
        this.#end({ kind: "ended", ...this.#resumable() });
        break;
      case "over":
        break;
    }
  }

  onResponseError(controller: DispatchController | undefined, error: Error): void {
    // Events of the redirected request are ignored.
    if (controller !== undefined && controller === this.#left) return;
    this.#end({ kind: "failed", error: this.#networkFailure(error), ...this.#resumable() });
  }

  /** Ends reading, because enough is known. */
  #cutShort(): void {
    const controller = this.#controller;
    this.onResponseEnd();
    controller?.abort(new Error("abandoned"));
  }

  /** A stream whose events have ids can be resumed after the last one. */
  #resumable(): { resume?: ResumePoint; retryMs?: number } {
    if (this.#reading.kind !== "events") return {};
    const { parser, retryMs } = this.#reading;
    const { lastEventId } = parser;
    return {
      ...(lastEventId === "" ? {} : { resume: { lastEventId } }),
      ...(retryMs === undefined ? {} : { retryMs }),
    };
  }

  #readingOf(contentType: string): Reading {
    if (contentType === "text/event-stream") return { kind: "events", parser: this.#eventParser() };
    if (contentType === "application/json") return { kind: "json", chunks: [], bytes: 0 };
    return { kind: "other", contentType, chunks: [], bytes: 0 };
  }

  #eventParser(): SseParser {
    return new SseParser(this.#setup.maxMessageBytes, {
      event: ({ type, data }) => {
        if (type !== "" && type !== "message") this.#setup.delivery.onOtherEvent?.(type, data);
        // An event without data only opens a resumable stream.
        else if (data !== "") this.#deliver(data);
      },
      retry: (ms) => {
        if (this.#reading.kind === "events") this.#reading.retryMs = ms;
      },
      tooLarge: (bytes) => this.#abort(tooLarge(bytes, this.#setup.maxMessageBytes)),
    });
  }

  /** False if there was nothing to deliver. */
  #deliver(json: string): boolean {
    const messages = this.#messagesIn(json);
    return messages === undefined || this.#deliverAll(messages, json);
  }

  /** Undefined if there are too many values in the text; then reading has ended. */
  #messagesIn(json: string): Message[] | undefined {
    const error = json.length < ALWAYS_FEW ? undefined : tooManyValues(json, this.#setup.maxMessageBytes);
    if (!error) return parseMessages(json);
    this.#abort(error);
    return undefined;
  }

  #deliverAll(messages: readonly Message[], json: string): boolean {
    const { receiver, streamOf } = this.#setup;
    for (const message of messages) receiver.message(message, streamOf);
    if (messages.length === 0) receiver.discarded({ kind: "noise", excerpt: json.slice(0, MAX_EXCERPT) });
    return messages.length > 0;
  }

  #endJson(body: string): void {
    if (body.length >= LARGE_BODY) void this.#endLargeJson(body);
    else if (body.trim() === "" || this.#deliver(body)) this.#end({ kind: "ended" });
    else this.#fail(notMcp("application/json", body));
  }

  /** To parse it, and what is done with it, have a turn of the event loop each. */
  async #endLargeJson(body: string): Promise<void> {
    await nextTurn();
    const messages = this.#isOver ? undefined : this.#messagesIn(body);
    await nextTurn();
    if (messages === undefined || this.#isOver) return;
    if (this.#deliverAll(messages, body)) this.#end({ kind: "ended" });
    else this.#fail(notMcp("application/json", body));
  }

  #endOther(contentType: string, body: string): void {
    if (body.trim() === "") this.#end({ kind: "ended" });
    else this.#fail(notMcp(contentType === "" ? "no content type" : contentType, body));
  }

  /** Same origin only: otherwise headers and body would reach a server that was not configured. */
  #follow(location: string): void {
    const { origin } = this.#options;
    const here = new URL(this.#options.path, origin).href;
    const target = URL.canParse(location, here) ? new URL(location, here) : undefined;
    if (target?.origin !== origin || ++this.#redirects > MAX_REDIRECTS) {
      const reason = target?.origin === origin ? "too many times" : `to ${target?.origin ?? "an invalid address"}`;
      this.#fail(
        new NexusError("REDIRECT_REFUSED", `The server redirects ${reason}`, {
          hint: "If you trust the final address, use it as the server's URL.",
          mayHaveReached: false,
        }),
      );
      return;
    }
    this.#options = { ...this.#options, path: target.pathname + target.search };
    this.#leave();
    this.start();
  }

  /** Prepares for another request after this one was answered. */
  #leave(): void {
    clearTimeout(this.#grace);
    this.#reading = { kind: "waiting" };
    this.#left = this.#controller;
    this.#controller = undefined;
    this.#started = false;
  }

  #dispatchWith(credential: CredentialHeaders, authorized: AuthorizedHeaders): void {
    this.#credential = credential;
    this.#options.headers = authorized.headersFor(this.#options.method, credential, this.#setup.delivery.headers);
    this.#dispatch();
  }

  async #authorize(authorized: AuthorizedHeaders): Promise<void> {
    const { method, path } = this.#options;
    const credential = await this.#waitFor((signal) => {
      return authorized.source.getHeaders(authorized.requestFor(method, path), signal);
    });
    if (credential !== undefined) this.#dispatchWith(credential, authorized);
  }

  /** A request that was refused with 401 or 403 was not executed, so it may be sent again with other credentials. */
  #endRefused(reading: Reading & { kind: "refusal" }): void {
    const { authorized } = this.#setup;
    const { status } = reading;
    const isFinal = (status !== 401 && status !== 403) || this.#attempts >= MAX_ATTEMPTS;
    if (authorized && !isFinal) void this.#renew(authorized, reading);
    else this.#end(refusedEnd(reading.status, reading.headers, decodeAll(reading.chunks)));
  }

  async #renew(authorized: AuthorizedHeaders, reading: Reading & { kind: "refusal" }): Promise<void> {
    const { status, headers } = reading;
    const { method, path } = this.#options;
    this.#leave();
    const isRenewed = await this.#waitFor((signal) => {
      const request = authorized.requestFor(method, path);
      const refusal = { request, status, headers, sent: this.#credential ?? {}, attempts: this.#attempts };
      return authorized.source.renew(refusal, signal);
    });
    if (isRenewed === false) this.#end(refusedEnd(reading.status, reading.headers, decodeAll(reading.chunks)));
    if (isRenewed !== true) return;
    this.#attempts++;
    this.start();
  }

  /** Undefined: there is nothing more to do, because it was abandoned or has failed meanwhile. */
  async #waitFor<T>(ask: (signal: Cancellation) => Promise<T>): Promise<T | undefined> {
    const wait = new Cancellation();
    this.#wait = wait;
    try {
      const answer = await ask(wait);
      return wait.aborted ? undefined : answer;
    } catch (error) {
      // Nothing happens where it was abandoned.
      this.#fail(asNexusError(error));
      return undefined;
    } finally {
      this.#wait = undefined;
    }
  }

  /** Fails, and reads nothing more. */
  #abort(error: NexusError): void {
    const controller = this.#controller;
    this.#fail(error);
    controller?.abort(error);
  }

  #networkFailure(error: unknown): NexusError {
    return networkFailure(error, {
      origin: this.#options.origin,
      proxy: this.#setup.proxy,
      started: this.#started,
      hasAnswered: this.#setup.peer.hasAnswered,
    });
  }

  #fail(error: NexusError): void {
    this.#end({ kind: "failed", error });
  }

  #end(end: StreamEnd): void {
    if (this.#reading.kind === "over") return;
    this.#over();
    this.#setup.delivery.onEnd?.(end);
  }

  #over(): void {
    clearTimeout(this.#grace);
    this.#reading = { kind: "over" };
  }
}

function notMcp(kind: string, body: string): NexusError {
  const title = titleOfPage(body);
  const page = title ? `a web page titled "${title}"` : "a web page";
  return new NexusError(
    "NOT_MCP",
    `The answer is ${title === undefined ? "" : `${page}, `}not an MCP message (${kind})`,
    {
      likelyCause:
        title === undefined ? undefined : "The URL belongs to a website or a login page, not to an MCP endpoint.",
      hint: "Check that the URL is the server's MCP endpoint. It often ends in /mcp, or in /sse for older servers.",
      raw: body.slice(0, 500),
      mayHaveReached: true,
    },
  );
}

function contentTypeOf(headers: ResponseHeaders): string {
  const value = headers["content-type"];
  return typeof value === "string" ? (value.split(";", 1)[0] ?? "").trim().toLowerCase() : "";
}

/** The end of a request that was answered with a status outside 2xx. */
function refusedEnd(status: number, headers: ResponseHeaders, body: string): StreamEnd {
  const rpc = errorIn(body);
  return rpc ? { kind: "refused", status, headers, body, rpc } : { kind: "refused", status, headers, body };
}

/** A JSON-RPC error with any content type. */
function errorIn(body: string): ErrorObject | undefined {
  const value = parseJson(body);
  const error = isRecord(value) ? value["error"] : undefined;
  if (!isRecord(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string") return undefined;
  if (isNestedDeeper(error)) return undefined;
  return error as unknown as ErrorObject;
}
