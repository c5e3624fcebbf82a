import { DEFAULT_SHARE } from "../../async/fair-shares.ts";

/** What one server takes on, so that no client can make it take on everything. */
export interface ServerLimits {
  /** What one principal gets of everything here while another one competes, from 0 to 1. Alone it gets all of it. */
  share: number;
  /** Bytes of all request bodies and unread answers together, those of calls that run included. */
  totalBytes: number;
  /** Bytes of a request's body. */
  bodyBytes: number;
  /** Bytes of a request's headers. */
  headerBytes: number;
  /** How deep objects and arrays of a request may be nested. */
  jsonDepth: number;
  /** Messages of one batch, which clients of 2025-03-26 may send. */
  batchMessages: number;
  /** Bytes of all answers to one batch together; what does not fit is answered with an error. */
  batchBytes: number;
  /** How long a request may take to arrive. */
  bodyMs: number;
  connections: number;
  /** Streams that stay open without a call: subscriptions, and those of older clients. */
  streams: number;
  /** Bytes that wait for a caller who reads slowly; then its stream is closed. */
  bufferedBytes: number;
  /** Sessions of older clients. */
  sessions: number;
  /** How long a session is kept without a sign of life. Its client can still come back later. */
  sessionIdleMs: number;
  /** How long the id of a session is good. Until then a session that is no longer kept is opened again for its client. */
  sessionLifeMs: number;
  /** How often an open stream shows that it is alive. */
  keepAliveMs: number;
  /**
   * How long one response lasts where its client comes back for the rest, as those of 2025-11-25 do; for proxies that end
   * every response after a fixed time.
   */
  streamMs: number;
  /** How long calls may go on after `close`. */
  drainMs: number;
}

export type BatchLimits = Pick<ServerLimits, "batchMessages" | "batchBytes">;

export const SERVER_LIMITS: ServerLimits = {
  share: DEFAULT_SHARE,
  totalBytes: 256 * 1024 * 1024,
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 32 * 1024,
  jsonDepth: 128,
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
  drainMs: 10_000,
};
