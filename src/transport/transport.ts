import type { ErrorDetails, NexusError } from "../errors/nexus-error.ts";
import type { Answered } from "../protocol/oversize-outline.ts";
import type { ErrorObject, Message, RequestId } from "../protocol/json-rpc.ts";

/** Knows how to reach one server. It moves messages and never looks inside them. */
export interface Transport {
  readonly kind: "stdio" | "http" | "sse" | "memory";
  /** Identifies this server and its user for caches; not for people. Absent: unique. */
  readonly identity?: { server: string; principal: string };
  /** The login in use, which may change while a connection is open: private answers are kept for one only. */
  readonly loginName?: string | undefined;
  /** Another transport to the same server, if the server does not support this one. */
  readonly fallback?: Transport;
  /** How long the server may need for one call, if known; it is the default timeout. */
  readonly longestCallMs?: number;
  /** How error reports describe the server. */
  readonly target: { command?: string; url?: string };
  connect(receiver: Receiver, signal?: AbortSignal): Promise<Connection>;
}

/** Receives everything that arrives on a connection. Called synchronously and in order. */
export interface Receiver {
  /** `streamOf` is the request whose stream carried the message, if the transport knows it. */
  message(message: Message, streamOf?: RequestId): void;
  discarded(what: Discarded): void;
}

/** A received message that could not be delivered. */
export type Discarded =
  | { kind: "noise"; excerpt: string }
  | { kind: "too-large"; answered: Answered; error: NexusError };

/**
 * Characters of an undeliverable message that are passed on: more than is shown, so that hidden values can be found in
 * it.
 */
export const MAX_EXCERPT = 1_000;

export interface Connection extends AsyncDisposable {
  /** Sends one message; `delivery` receives the outcome. */
  send(message: Message, delivery?: Delivery): Sending;
  /** Settles when the connection has ended. */
  readonly closed: Promise<CloseReason>;
  /** Closes the connection gracefully, then by force, within five seconds. */
  close(): Promise<void>;
  /** Only for a child process. */
  readonly child?: ChildView;
  /** For Streamable HTTP: streams and session handling of revisions before 2026-07-28. */
  readonly http?: HttpSessionChannel;
}

/** Options and callbacks for sending one message. */
export interface Delivery {
  /** HTTP only. */
  readonly headers?: Record<string, string> | undefined;
  /** HTTP only: the server accepted the message and answers with these headers. */
  readonly onHead?: ((headers: ResponseHeaders) => void) | undefined;
  /** HTTP only: an event of another type than "message" arrived on the stream. */
  onOtherEvent?(type: string, data: string): void;
  /**
   * No more messages will come on this message's own stream. For a message without an answer: it was accepted or could
   * not be sent. On a transport without such streams, a request gets it only if it could not be sent.
   */
  onEnd?(end: StreamEnd): void;
}

export type ResponseHeaders = Record<string, string | string[] | undefined>;

export type StreamEnd =
  | { kind: "ended"; resume?: ResumePoint; retryMs?: number }
  | { kind: "failed"; error: NexusError; resume?: ResumePoint; retryMs?: number }
  /** The server answered with a status outside 2xx; `rpc` is the JSON-RPC error in the body, if there was one. */
  | { kind: "refused"; status: number; headers: ResponseHeaders; body: string; rpc?: ErrorObject };

/** The position from which the stream of a legacy HTTP server can be resumed. */
export interface ResumePoint {
  lastEventId: string;
}

export interface Sending {
  /** Stop listening to this message's stream. */
  abandon(): void;
  /** The answer has arrived: the stream may end on its own, but it must not stay open forever. */
  finish?(): void;
  /** False while nothing has been written; absent if the transport cannot tell. */
  readonly started?: boolean;
}

export interface HttpSessionChannel {
  /** Opens the stream for messages of a legacy server outside a request, or resumes the stream of a request. */
  listen(delivery: Delivery, streamOf?: RequestId): Sending;
  /** Ends the session at a legacy server. */
  endSession(headers: Record<string, string>): Promise<void>;
}

export interface ChildView {
  readonly pid: number | undefined;
  /** The last lines the process wrote to stderr. */
  stderr(): readonly string[];
  /** Resolves when the process first writes to stderr. */
  readonly firstStderr: Promise<void>;
  /** Whether it is known to have exited; its last output may still come. */
  readonly hasExited: boolean;
  /** Why it has exited, as far as code, signal and output say. */
  causeOfExit?(exit: { exitCode: number | undefined; signal: string | undefined }): ChildDiagnosis;
  /** Whether lines of its output say that it serves elsewhere than on its pipes. */
  causeOfListening?(lines: readonly string[]): ChildDiagnosis | undefined;
}

/** What a person should know about a child process that failed. */
type ChildDiagnosis = Pick<ErrorDetails, "likelyCause" | "hint" | "snippet">;

export type CloseReason =
  | { kind: "closed" }
  | {
      kind: "exited";
      exitCode: number | undefined;
      signal: string | undefined;
      /** Why Nexus killed it, if it did. */
      killedBecause?: string | undefined;
    }
  | { kind: "stdin-closed" | "stdout-closed" }
  | { kind: "stream-ended"; error?: NexusError };

/** A sending that has no stream of its own. */
export const NOTHING_TO_ABANDON: Sending = { abandon() {} };

/** Whether a server is a transport and not an entry. */
export function isTransport(server: unknown): server is Transport {
  return typeof server === "object" && server !== null && "connect" in server && typeof server.connect === "function";
}
