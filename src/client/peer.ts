import { NexusError } from "../errors/nexus-error.ts";
import {
  isRecord,
  isRequestId,
  type ErrorObject,
  type Message,
  type Notification,
  type Params,
  type Request,
  type RequestId,
  type Response,
  type Result,
} from "../protocol/json-rpc.ts";
import type {
  ChildView,
  CloseReason,
  Connection,
  Delivery,
  Discarded,
  HttpSessionChannel,
  Receiver,
  ResponseHeaders,
  ResumePoint,
  Sending,
  StreamEnd,
  Transport,
} from "../transport/transport.ts";
import type { CallScope, Stoppable } from "./call-scope.ts";
import { IdTable } from "./id-table.ts";
import type { Logger } from "./logger.ts";
import { ResumableStream } from "./resumable-stream.ts";
import { refusalError } from "./refusal.ts";

/** Who hears what the server says by itself. */
export interface PeerListener {
  request(request: Request, scope: CallScope | undefined): void;
  notification(notification: Notification, scope: CallScope | undefined): void;
}

export interface PeerOptions {
  logger: Logger;
  /** Abandons connecting. */
  signal: AbortSignal;
}

export interface Outgoing {
  /** From `reserveId`, or a name of its own. */
  id: RequestId;
  method: string;
  params?: Params | undefined;
  headers?: Record<string, string> | undefined;
  onHead?: ((headers: ResponseHeaders) => void) | undefined;
  /** Whether a stream that broke off may be taken up again where it ended. */
  resumable?: boolean;
  /** How the server learns that nobody waits any more: a notification, the end of the stream, or not at all. */
  cancelBy: "notification" | "stream" | "nothing";
}

/** JSON-RPC over one connection: matches answers to requests, and knows no MCP beyond cancelling and progress. */
export class Peer {
  readonly closed: Promise<CloseReason>;
  readonly #connection: Connection;
  readonly #transport: Transport;
  readonly #logger: Logger;
  readonly #pending: IdTable<Pending>;
  #nextId = 1;
  #gone: NexusError | undefined;
  /** Headers for messages that are no requests of a caller: cancellations, answers to the server. */
  sessionHeaders: Record<string, string> = {};

  static async open(transport: Transport, listener: PeerListener, { logger, signal }: PeerOptions): Promise<Peer> {
    const pending = new IdTable<Pending>();
    const connection = await transport.connect(receiverFor(pending, listener, logger), signal);
    return new Peer(transport, connection, pending, logger);
  }

  private constructor(transport: Transport, connection: Connection, pending: IdTable<Pending>, logger: Logger) {
    this.#transport = transport;
    this.#connection = connection;
    this.#pending = pending;
    this.#logger = logger;
    this.closed = connection.closed;
    void connection.closed.then((reason) => this.#lose(reason));
  }

  get kind(): Transport["kind"] {
    return this.#transport.kind;
  }

  get child(): ChildView | undefined {
    return this.#connection.child;
  }

  get http(): HttpSessionChannel | undefined {
    return this.#connection.http;
  }

  get isOpen(): boolean {
    return this.#gone === undefined;
  }

  reserveId(): number {
    return this.#nextId++;
  }

  /** One request and its answer. Errors of the server, the transport and the clock all arrive as NexusError. */
  exchange(outgoing: Outgoing, scope: CallScope): Promise<Result> {
    const refusal = scope.stopped ?? this.#gone;
    if (refusal) return Promise.reject(refusal.with({ mayHaveReached: false }));
    return new Promise<Result>((resolve, reject) => {
      const pending = new Pending(this, outgoing, scope, { resolve, reject });
      this.#pending.set(outgoing.id, pending);
      scope.inFlight(pending);
      const { id, method, params } = outgoing;
      const message: Request = params ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", id, method };
      pending.sending = this.#connection.send(message, pending);
    });
  }

  /** Resolves when the server has taken it, or cannot. */
  notify(method: string, params?: Params, headers?: Record<string, string>): Promise<void> {
    return this.#post(params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method }, headers);
  }

  respond(id: RequestId, answer: { result: Params } | { error: ErrorObject }): Promise<void> {
    return this.#post({ jsonrpc: "2.0", id, ...answer });
  }

  /** Calls in flight, oldest first. */
  scopes(): CallScope[] {
    return this.#pending.values().map((pending) => pending.scope);
  }

  /** Fails what is pending, tells a server that keeps a session, and closes the connection. */
  async close(): Promise<void> {
    this.#lose({ kind: "closed" });
    if ("mcp-session-id" in this.sessionHeaders) await this.http?.endSession(this.sessionHeaders);
    await this.#connection.close();
  }

  /** Of a pending request that is over, however it ended. */
  forget(pending: Pending): void {
    this.#pending.delete(pending.outgoing.id);
  }

  /** Goes on listening for an answer whose stream broke off; the call's own clock bounds it. */
  resume(pending: Pending, point: ResumePoint): Sending | undefined {
    const channel = this.http;
    if (!channel) return undefined;
    const onGivenUp = () => pending.fail(endedWithoutAnswer(pending.outgoing.method));
    const headers = () => this.sessionHeaders;
    return new ResumableStream({ channel, headers, streamOf: pending.outgoing.id, point, maxFailures: 3, onGivenUp });
  }

  /** Nobody waits for this answer any more. */
  cancel(pending: Pending, reason: string): void {
    const { id, cancelBy } = pending.outgoing;
    if (cancelBy === "notification") void this.notify("notifications/cancelled", { requestId: id, reason });
    if (cancelBy !== "nothing") pending.sending?.abandon();
  }

  /** The last words of the server, for an error that is about it. */
  describe(error: NexusError): NexusError {
    const stderr = this.child?.stderr();
    return error.with({ ...this.#transport.target, stderr: stderr?.length ? stderr : undefined });
  }

  #post(message: Message, headers = this.sessionHeaders): Promise<void> {
    if (this.#gone) return Promise.resolve();
    return new Promise((resolve) => {
      const onEnd = (end: StreamEnd) => {
        if (end.kind !== "ended") this.#logger.debug("the server did not take a message", { message, end });
        resolve();
      };
      this.#connection.send(message, { headers, onEnd });
    });
  }

  #lose(reason: CloseReason): void {
    if (this.#gone) return;
    this.#gone = this.describe(lossError(reason));
    for (const pending of this.#pending.values()) {
      pending.fail(this.#gone.with({ mayHaveReached: true }));
      pending.sending?.abandon();
    }
  }
}

interface Settle {
  resolve(result: Result): void;
  reject(error: NexusError): void;
}

/** A request that waits for its answer. It is also what the transport reports to. */
class Pending implements Delivery, Stoppable {
  readonly outgoing: Outgoing;
  readonly scope: CallScope;
  sending: Sending | undefined;
  readonly #peer: Peer;
  readonly #settle: Settle;
  #isOver = false;

  constructor(peer: Peer, outgoing: Outgoing, scope: CallScope, settle: Settle) {
    this.#peer = peer;
    this.outgoing = outgoing;
    this.scope = scope;
    this.#settle = settle;
  }

  get headers(): Record<string, string> | undefined {
    return this.outgoing.headers;
  }

  get onHead(): ((headers: ResponseHeaders) => void) | undefined {
    return this.outgoing.onHead;
  }

  onEnd(end: StreamEnd): void {
    if (this.#isOver) return;
    const point = end.kind !== "refused" && this.outgoing.resumable ? end.resume : undefined;
    if (point) this.sending = this.#peer.resume(this, point) ?? this.sending;
    else if (end.kind === "refused") this.fail(refusalError(end));
    else if (end.kind === "failed") this.fail(end.error);
    else this.fail(endedWithoutAnswer(this.outgoing.method));
  }

  answer(response: Response): void {
    if (!this.#over()) return;
    if ("result" in response && isRecord(response.result)) this.#settle.resolve(response.result);
    else this.#settle.reject(answerError(response, this.outgoing.method));
  }

  fail(error: NexusError): void {
    if (this.#over()) this.#settle.reject(error);
  }

  stop(error: NexusError): void {
    if (!this.#over()) return;
    this.#peer.cancel(this, error.message);
    this.#settle.reject(this.#peer.describe(error.with({ mayHaveReached: true })));
  }

  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    if (this.sending instanceof ResumableStream) this.sending.abandon();
    this.#peer.forget(this);
    this.scope.inFlight(undefined);
    return true;
  }
}

function receiverFor(pending: IdTable<Pending>, listener: PeerListener, logger: Logger): Receiver {
  return {
    message(message, streamOf) {
      if ("method" in message) {
        const scope = streamOf === undefined ? undefined : pending.get(streamOf)?.scope;
        if ("id" in message) listener.request(message, scope);
        else receiveNotification(message, scope);
        return;
      }
      // An error whose id the server could not read belongs to the request on whose stream it came.
      const id = isRequestId(message.id) ? message.id : streamOf;
      const waiting = id === undefined ? undefined : pending.get(id);
      if (waiting) waiting.answer(message);
      else logger.debug("an answer that nobody waits for was dropped", { id: message.id });
    },
    discarded: (what) => receiveDiscarded(what),
  };

  function receiveNotification(notification: Notification, stream: CallScope | undefined): void {
    let scope = stream;
    if (notification.method === "notifications/progress") {
      const token = notification.params?.["progressToken"];
      scope = (isRequestId(token) ? pending.get(token)?.scope : undefined) ?? stream;
    }
    listener.notification(notification, scope);
  }

  function receiveDiscarded(what: Discarded): void {
    if (what.kind === "noise") {
      logger.warn("the server wrote something that is no MCP message", { excerpt: what.excerpt });
      return;
    }
    logger.warn(what.error.message);
    if (what.answered === "nothing") return;
    const waiting = what.answered === "unknown" ? pending.values() : [pending.get(what.answered.id)];
    for (const one of waiting) one?.fail(what.error);
  }
}

/** The server's error as it came; an answer that is neither result nor error breaks the protocol. */
function answerError(response: Response, method: string): NexusError {
  const error: unknown = "error" in response ? response.error : undefined;
  if (isRecord(error) && typeof error["code"] === "number" && typeof error["message"] === "string") {
    return new NexusError("SERVER_ERROR", error["message"], {
      rpc: error as unknown as ErrorObject,
      mayHaveReached: true,
    });
  }
  return new NexusError("PROTOCOL_VIOLATION", `The answer to ${method} is neither a result nor an error`, {
    raw: response,
    mayHaveReached: true,
  });
}

function endedWithoutAnswer(method: string): NexusError {
  return new NexusError("CONNECTION_LOST", `The server ended the stream of ${method} without an answer`, {
    phase: "request",
    mayHaveReached: true,
  });
}

function lossError(reason: CloseReason): NexusError {
  switch (reason.kind) {
    case "closed":
      return new NexusError("CLOSED", "The connection was closed");
    case "stream-ended":
      return (
        reason.error ?? new NexusError("CONNECTION_LOST", "The server ended the stream that carries its answers", {})
      );
    case "stdout-closed":
      return new NexusError("CONNECTION_LOST", "The server closed its stdout and can no longer answer");
    case "exited": {
      const how = reason.signal ? `was ended by ${reason.signal}` : `exited with code ${reason.exitCode ?? "unknown"}`;
      return new NexusError("SERVER_EXITED", `The server ${how}`, {
        exitCode: reason.exitCode,
        signal: reason.signal,
      });
    }
  }
}
