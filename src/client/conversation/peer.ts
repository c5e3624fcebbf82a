import type { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError, messageOf } from "../../errors/nexus-error.ts";
import {
  isRequestId,
  type ErrorObject,
  type Message,
  type Notification,
  type Params,
  type Request,
  type RequestId,
  type Result,
} from "../../protocol/json-rpc.ts";
import { MAX_NESTING } from "../../json/nesting.ts";
import type {
  ChildView,
  CloseReason,
  Connection,
  Discarded,
  HttpSessionChannel,
  Receiver,
  ResumePoint,
  Sending,
  StreamEnd,
  Transport,
} from "../../transport/transport.ts";
import type { CallScope } from "./call-scope.ts";
import { IdTable } from "../../async/id-table.ts";
import type { Logger } from "../../text/logger.ts";
import { endedWithoutAnswer, PendingRequest, type Outgoing, type PendingOwner } from "./pending-request.ts";
import { refusalError } from "../../transport/refusal.ts";
import { ResumableStream } from "./resumable-stream.ts";
import { lastWords } from "../../errors/last-words.ts";

/** Receives what the server sends on its own. */
export interface PeerListener {
  request(request: Request, scope: CallScope | undefined): void;
  notification(notification: Notification, scope: CallScope | undefined): void;
}

interface PeerOptions {
  /** The server's name in the log. */
  server: string;
  logger: Logger;
  /** Values that are masked in what the server writes. */
  hidden?: HiddenValues | undefined;
  /** Cancels the connection attempt. */
  signal: AbortSignal;
}

interface PeerPostOptions {
  headers?: Record<string, string>;
  /** The scope whose timeout and signal limit the sending. */
  scope?: CallScope;
}

/** Timeout of a message that no call waits for. */
const POST_MS = 30_000;
const RESUME_FAILURES = 3;
/** How long to wait for a server that refuses connections to come back with the answer. */
const GONE_MS = 750;

/** JSON-RPC over one connection: matches answers to requests. Of MCP it knows only cancellation and progress. */
export class Peer implements PendingOwner {
  readonly kind: Transport["kind"];
  readonly closed: Promise<CloseReason>;
  /** The first texts from the server that were not messages. */
  readonly noise: readonly string[];
  /** What was received so far. */
  readonly received: Readonly<Received>;
  /** The scopes that receive the progress of tasks, by the token of the call that created the task. */
  readonly taskProgress: Map<RequestId, CallScope>;
  /** Why nothing more can be sent. */
  gone: NexusError | undefined;
  /** Headers of messages that are not requests: notifications, cancellations and answers to the server. */
  standingHeaders: Record<string, string> = {};
  readonly #connection: Connection;
  readonly #transport: Transport;
  readonly #server: string;
  readonly #logger: Logger;
  readonly #pending: IdTable<PendingRequest>;
  #nextId = 1;

  static async open(
    transport: Transport,
    listener: PeerListener,
    { server, logger, hidden, signal }: PeerOptions,
  ): Promise<Peer> {
    const pending = new IdTable<PendingRequest>();
    const noise: string[] = [];
    const received: Received = { messages: 0 };
    const tasks = new Map<RequestId, CallScope>();
    const connection = await transport.connect(
      receiverFor({ server, verb: verbOf(transport), pending, noise, received, tasks, listener, logger, hidden }),
      signal,
    );
    return new Peer({ server, transport, connection, pending, noise, received, tasks, logger });
  }

  private constructor({ server, transport, connection, pending, noise, received, tasks, logger }: PeerParts) {
    this.kind = transport.kind;
    this.#server = server;
    this.taskProgress = tasks;
    this.noise = noise;
    this.received = received;
    this.#transport = transport;
    this.#connection = connection;
    this.#pending = pending;
    this.#logger = logger;
    this.closed = connection.closed.then((reason) => {
      this.#lose(reason);
      return reason;
    });
  }

  /** How the server's messages reach us, for people. */
  get verb(): "printed" | "sent" {
    return verbOf(this.#transport);
  }

  get child(): ChildView | undefined {
    return this.#connection.child;
  }

  get http(): HttpSessionChannel | undefined {
    return this.#connection.http;
  }

  reserveId(): number {
    return this.#nextId++;
  }

  /** One request and its answer. All failures are NexusErrors. */
  exchange(outgoing: Outgoing, scope: CallScope): Promise<Result> {
    const refusal = scope.stopped ?? this.gone;
    if (refusal) return Promise.reject(refusal.with({ mayHaveReached: false }));
    return new Promise<Result>((resolve, reject) => {
      const pending = new PendingRequest(this, outgoing, scope, { resolve, reject });
      this.#pending.set(outgoing.id, pending);
      scope.setInFlight(pending);
      const { id, method, params } = outgoing;
      const message: Request = params ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", id, method };
      try {
        pending.sending = this.#connection.send(message, pending);
      } catch (error) {
        pending.fail(unwritable(method, error));
      }
    });
  }

  /** Resolves when the server has accepted it; otherwise rejects. */
  notify(method: string, params?: Params, options?: PeerPostOptions): Promise<void> {
    return this.#post(params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method }, options);
  }

  respond(id: RequestId, answer: { result: Params } | { error: ErrorObject }): Promise<void> {
    return this.#post({ jsonrpc: "2.0", id, ...answer });
  }

  /** Calls in flight, oldest first. */
  scopes(): CallScope[] {
    return this.#pending.values().map((pending) => pending.scope);
  }

  /** Fails pending requests, ends the session at the server, and closes the connection. */
  async close(): Promise<void> {
    this.#lose({ kind: "closed" });
    if ("mcp-session-id" in this.standingHeaders) await this.http?.endSession(this.standingHeaders);
    await this.#connection.close();
  }

  forget(pending: PendingRequest): void {
    this.#pending.delete(pending.outgoing.id);
  }

  /** Continues to listen for an answer whose stream was cut; the timeout of the call limits it. */
  resume(pending: PendingRequest, point: ResumePoint, end: StreamEnd): Sending | undefined {
    const channel = this.http;
    if (!channel) return undefined;
    const { id: streamOf, method } = pending.outgoing;
    const onGivenUp = (last: StreamEnd) => {
      const isTooLarge = last.kind === "failed" && last.error.code === "MESSAGE_TOO_LARGE";
      pending.fail(isTooLarge ? last.error : endedWithoutAnswer(method, last));
    };
    // Events belong to their session: a renewed session does not know them.
    const session = this.standingHeaders;
    const headers = () => session;
    const retryMs = end.kind === "refused" ? undefined : end.retryMs;
    return new ResumableStream({
      channel,
      headers,
      streamOf,
      point,
      retryMs,
      wasCut: end.kind === "failed",
      maxFailures: RESUME_FAILURES,
      maxGoneMs: GONE_MS,
      onGivenUp,
    });
  }

  /** Call this when the answer is no longer needed. */
  cancel(pending: PendingRequest, reason: string): void {
    const { id, cancelBy } = pending.outgoing;
    if (cancelBy === "notification") {
      this.notify("notifications/cancelled", { requestId: id, reason }).catch((error: unknown) => {
        const server = this.#server;
        this.#logger.debug("a cancellation could not be sent", { server, id, reason: messageOf(error) });
      });
    }
    pending.sending?.abandon();
  }

  leftOut(method: string, names: readonly string[]): void {
    const shown = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(name));
    if (names.length > MAX_NAMED) shown.push(`${names.length - MAX_NAMED} more`);
    const what = `${method} of "${this.#server}"`;
    this.#logger.warn(`skipped in ${what} because it is nested deeper than ${MAX_NESTING} levels: ${shown.join(", ")}`);
  }

  get isEnding(): boolean {
    return this.gone === undefined && this.child?.hasExited === true;
  }

  /** Adds the last output of the server to an error about it. */
  describe(error: NexusError): NexusError {
    const stderr = this.child?.stderr();
    return error.with({ ...this.#transport.target, stderr: stderr?.length ? stderr : undefined });
  }

  async #post(message: Message, { headers = this.standingHeaders, scope }: PeerPostOptions = {}): Promise<void> {
    if (this.gone) throw this.gone.with({ mayHaveReached: false });
    let sending: Sending | undefined;
    let timer: NodeJS.Timeout | undefined;
    const taken = new Promise<void>((resolve, reject) => {
      const onEnd = (end: StreamEnd) => {
        if (end.kind === "ended") resolve();
        else reject(end.kind === "refused" ? refusalError(end) : end.error);
      };
      // The status shows that the message was accepted; a body is not waited for.
      const onHead = () => {
        sending?.finish?.();
        resolve();
      };
      timer = setTimeout(
        () => reject(new NexusError("TIMEOUT", "The server did not accept a message in time")),
        POST_MS,
      );
      sending = this.#connection.send(message, { headers, onHead, onEnd });
    });
    try {
      await (scope ? scope.until(taken) : taken);
    } catch (error) {
      sending?.abandon();
      throw error instanceof NexusError ? this.describe(error) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #lose(reason: CloseReason): void {
    if (this.gone) return;
    this.gone = this.describe(lossError(reason, this.child));
    for (const pending of this.#pending.values()) {
      pending.fail(this.gone.with({ mayHaveReached: true }));
      pending.sending?.abandon();
    }
  }
}

interface PeerParts {
  server: string;
  transport: Transport;
  connection: Connection;
  pending: IdTable<PendingRequest>;
  noise: string[];
  received: Received;
  logger: Logger;
  /** The scopes that receive the progress of tasks, by the token of the call that created the task. */
  tasks: Map<RequestId, CallScope>;
}

interface Received {
  messages: number;
}

const MAX_NOISE = 20;
/** Maximum number of skipped items that a message names. */
const MAX_NAMED = 10;
const MAX_SHOWN_NOISE = 200;

function receiverFor({
  server,
  verb,
  pending,
  noise,
  received,
  tasks,
  listener,
  logger,
  hidden,
}: Omit<PeerParts, "transport" | "connection"> &
  Pick<PeerOptions, "hidden"> & { listener: PeerListener; verb: string }): Receiver {
  return {
    message(message, streamOf) {
      received.messages += 1;
      if ("method" in message) {
        const scope = streamOf === undefined ? undefined : pending.get(streamOf)?.scope;
        if ("id" in message) receiveRequest(message, scope);
        else receiveNotification(message, scope);
        return;
      }
      // An error without a readable id belongs to the request on whose stream it came.
      const id = isRequestId(message.id) ? message.id : streamOf;
      const waiting = id === undefined ? undefined : pending.get(id);
      if (waiting) waiting.answer(message);
      else logger.debug(`an answer of "${server}" without a waiting request was dropped`, { id: message.id });
    },
    discarded: (what) => receiveDiscarded(what),
  };

  function receiveRequest(request: Request, scope: CallScope | undefined): void {
    const own = ONLY_OF_CLIENTS.has(request.method) ? pending.get(request.id) : undefined;
    if (own?.outgoing.method === request.method) own.fail(echoes());
    else listener.request(request, scope);
  }

  function receiveNotification(notification: Notification, stream: CallScope | undefined): void {
    let scope = stream;
    if (notification.method === "notifications/progress") {
      const token = notification.params?.["progressToken"];
      scope = (isRequestId(token) ? (pending.get(token)?.scope ?? tasks.get(token)) : undefined) ?? stream;
    }
    listener.notification(notification, scope);
  }

  function receiveDiscarded(what: Discarded): void {
    if (what.kind === "noise") {
      // A server that floods its stdout is reported, but its output is not repeated.
      if (noise.length >= MAX_NOISE) return;
      // Masked before it is cut: half of a secret value would not be recognised.
      const excerpt = (hidden?.in(what.excerpt) ?? what.excerpt).slice(0, MAX_SHOWN_NOISE);
      noise.push(excerpt);
      logger.warn(`server "${server}" ${verb} text that is not JSON-RPC: ${excerpt.trim()}`, { excerpt });
      return;
    }
    logger.warn(`"${server}": ${what.error.message}`);
    if (what.answered === "nothing") return;
    const waiting = what.answered === "unknown" ? pending.values() : [pending.get(what.answered.id)];
    for (const one of waiting) one?.fail(what.error);
  }
}

function verbOf({ kind }: Transport): "printed" | "sent" {
  return kind === "stdio" ? "printed" : "sent";
}

/** Methods that no server calls: a request with one of them is our own, sent back. */
const ONLY_OF_CLIENTS: ReadonlySet<string> = new Set(["server/discover", "initialize"]);

function echoes(): NexusError {
  return new NexusError("NOT_MCP", "The program sends back what it receives; it is not an MCP server", {
    hint: "Check that the command starts an MCP server.",
  });
}

function unwritable(method: string, error: unknown): NexusError {
  return new NexusError(
    "ARGUMENTS_INVALID",
    `The parameters of ${method} cannot be written as JSON: ${messageOf(error)}`,
    {
      cause: error,
      mayHaveReached: false,
    },
  );
}

const STRAY_PIPE =
  "Check that the command starts the server directly. A server must keep stdin and stdout open for messages.";

/** Why a connection that was lost can no longer be used. */
function lossError(reason: CloseReason, child: ChildView | undefined): NexusError {
  switch (reason.kind) {
    case "closed":
      return new NexusError("CLOSED", "The connection was closed");
    case "stream-ended":
      return (
        reason.error ??
        new NexusError("CONNECTION_LOST", "The server ended the stream that carries its answers", {
          hint: "Connect again. If it happens often, check the server's log and the proxies between here and the server.",
        })
      );
    case "stdin-closed":
      return new NexusError("CONNECTION_LOST", "The server closed its stdin and can no longer receive requests", {
        hint: STRAY_PIPE,
      });
    case "stdout-closed":
      return new NexusError("CONNECTION_LOST", "The server closed its stdout and can no longer answer", {
        hint: STRAY_PIPE,
      });
    case "exited": {
      const { exitCode, signal, killedBecause } = reason;
      if (killedBecause !== undefined) return killed(killedBecause);
      const how = signal ? `was terminated by ${signal}` : `exited with code ${exitCode ?? "unknown"}`;
      const words = lastWords(child?.stderr() ?? []);
      return new NexusError("SERVER_EXITED", `The server ${how}${words ? `: ${words}` : ""}`, {
        exitCode,
        signal,
        ...child?.causeOfExit?.({ exitCode, signal }),
      });
    }
  }
}

function killed(reason: string): NexusError {
  return new NexusError("SERVER_EXITED", `The server was stopped: ${reason}`, {
    hint: "Ask it for less at once, or raise its memory limit.",
  });
}
