import { DEFAULT_SHARE } from "../../async/fair-shares.ts";

/** Limits of the server side. */
export interface ServerLimits {
  /**
   * Share of all limits that one principal may use while others compete, from 0 to 1. Without competition it may use
   * all.
   */
  share: number;
  /** Maximum bytes of all request bodies and unread answers, including running calls. */
  totalBytes: number;
  /** Maximum bytes of a request's body. */
  bodyBytes: number;
  /** Maximum bytes of a request's headers. */
  headerBytes: number;
  /** Maximum nesting depth of a request. */
  jsonDepth: number;
  /** Maximum number of values in a request: objects, lists, texts, numbers and so on. */
  jsonValues: number;
  /** Maximum number of members of one object in a request. */
  jsonMembers: number;
  /** Maximum number of messages in one batch of a 2025-03-26 client. */
  batchMessages: number;
  /** Maximum bytes of all answers to one batch; further answers are errors. */
  batchBytes: number;
  /** Maximum time for receiving a request. */
  bodyMs: number;
  connections: number;
  /** Maximum number of open streams without a call: subscriptions, and streams of older clients. */
  streams: number;
  /** Maximum unread bytes of a slow caller; then its stream is closed. */
  bufferedBytes: number;
  /** Maximum number of sessions of older clients. */
  sessions: number;
  /** How long an idle session is kept. Its client can still resume it later. */
  sessionIdleMs: number;
  /** How long a session id is valid. Until then, a dropped session is reopened for its client. */
  sessionLifeMs: number;
  /** Interval of keep-alive messages on open streams. */
  keepAliveMs: number;
  /**
   * How long one response lasts where its client comes back for the rest, as those of 2025-11-25 do; for proxies that end
   * every response after a fixed time.
   */
  streamMs: number;
}

/** What a body in JSON may hold. */
export type JsonBodyLimits = Pick<ServerLimits, "jsonDepth" | "jsonValues" | "jsonMembers">;

export const SERVER_LIMITS: ServerLimits = {
  share: DEFAULT_SHARE,
  totalBytes: 256 * 1024 * 1024,
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 32 * 1024,
  jsonDepth: 128,
  jsonValues: 200_000,
  jsonMembers: 20_000,
  batchMessages: 100,
  batchBytes: 32 * 1024 * 1024,
  bodyMs: 30_000,
  connections: 8192,
  streams: 2048,
  bufferedBytes: 8 * 1024 * 1024,
  sessions: 2048,
  sessionIdleMs: 30 * 60_000,
  sessionLifeMs: 30 * 24 * 60 * 60_000,
  keepAliveMs: 20_000,
  streamMs: Infinity,
};
