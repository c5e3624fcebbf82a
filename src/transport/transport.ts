import type { NexusError } from "../errors/nexus-error.ts";
import type { Answered } from "../protocol/oversize-outline.ts";
import type { ErrorObject, Message, RequestId } from "../protocol/json-rpc.ts";

/** Knows how to reach one server. It moves messages and never looks inside them. */
export interface Transport {
  readonly kind: "stdio" | "http" | "sse" | "memory";
  /** What tells this server, and who asks it, from others; not for people. Absent: like no other. */
  readonly identity?: { server: string; principal: string };
  /** Another way to the same server, for when it turns out not to speak this one. */
  readonly fallback?: Transport;
  /** How long its server may need for one call, where that is known: who names no timeout of his own waits that long. */
  readonly longestCallMs?: number;
  /** What error reports name. */
  readonly target: { command?: string; url?: string };
  connect(receiver: Receiver, signal?: AbortSignal): Promise<Connection>;
}

/** Where a connection puts what arrives. Called synchronously, in order, for each thing that came. */
export interface Receiver {
  /** `streamOf` is the request whose stream the message came on, where the transport knows. */
  message(message: Message, streamOf?: RequestId): void;
  discarded(what: Discarded): void;
}

/** What arrived and could not be delivered. */
export type Discarded =
  | { kind: "noise"; excerpt: string }
  | { kind: "too-large"; answered: Answered; error: NexusError };

/** Characters of noise that are handed on: more than is shown, so that what must not be seen can be found in it. */
export const MAX_EXCERPT = 1_000;

export interface Connection extends AsyncDisposable {
  /** Hands one message to the wire; `delivery` hears what became of it. */
  send(message: Message, delivery?: Delivery): Sending;
  /** Settles once, when nothing can be sent or received any more. */
  readonly closed: Promise<CloseReason>;
  /** Ends the connection gracefully, then by force; never longer than five seconds. */
  close(): Promise<void>;
  /** Of a child process. */
  readonly child?: ChildView;
  /** Of Streamable HTTP: the streams and ends of sessions that revisions before 2026-07-28 have. */
  readonly http?: HttpSessionChannel;
}

/** What the sender of one message wants sent with it, and told about it. */
export interface Delivery {
  /** HTTP only. */
  readonly headers?: Record<string, string> | undefined;
  /** HTTP only: the server accepted the message and answers with these headers. */
  readonly onHead?: ((headers: ResponseHeaders) => void) | undefined;
  /** HTTP only: an event of another kind than "message" came on the stream. */
  onOtherEvent?(type: string, data: string): void;
  /**
   * No more messages will come on this message's own stream. Of a message that expects no answer: it was taken, or
   * could not be. A request on a transport without streams of their own hears it only when it could not be sent.
   */
  onEnd?(end: StreamEnd): void;
}

export type ResponseHeaders = Record<string, string | string[] | undefined>;

export type StreamEnd =
  | { kind: "ended"; resume?: ResumePoint; retryMs?: number }
  | { kind: "failed"; error: NexusError; resume?: ResumePoint; retryMs?: number }
  /** The server answered with a status outside 2xx; `rpc` is the JSON-RPC error in the body, if there was one. */
  | { kind: "refused"; status: number; headers: ResponseHeaders; body: string; rpc?: ErrorObject };

/** Where a stream of a legacy HTTP server can be taken up again. */
export interface ResumePoint {
  lastEventId: string;
}

export interface Sending {
  /** Stop listening to this message's stream. */
  abandon(): void;
  /** The answer came: the stream may end by itself, but not leave its connection open for ever. */
  finish?(): void;
  /** False while nothing has been written yet; transports that cannot tell leave it out. */
  readonly started?: boolean;
}

export interface HttpSessionChannel {
  /** Opens the stream on which a legacy server speaks outside any request, or goes on with that of a request. */
  listen(delivery: Delivery, streamOf?: RequestId): Sending;
  /** Tells a legacy server that the session is over. */
  endSession(headers: Record<string, string>): Promise<void>;
}

export interface ChildView {
  readonly pid: number | undefined;
  /** The last lines the process wrote to stderr. */
  stderr(): readonly string[];
  /** Resolves when the process first writes to stderr. */
  readonly firstStderr: Promise<void>;
}

export type CloseReason =
  | { kind: "closed" }
  | { kind: "exited"; exitCode: number | undefined; signal: string | undefined }
  | { kind: "stdin-closed" | "stdout-closed" }
  | { kind: "stream-ended"; error?: NexusError };

/** A sending that has no stream of its own. */
export const NOTHING_TO_ABANDON: Sending = { abandon() {} };

/** Whether a server was given as a transport, and not as an entry. */
export function isTransport(server: unknown): server is Transport {
  return typeof server === "object" && server !== null && "connect" in server && typeof server.connect === "function";
}
