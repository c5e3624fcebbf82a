import type { IncomingHttpHeaders } from "node:http";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { Interests } from "../../protocol/interests.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Params, Request, Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Implementation, LogLevel, ProgressToken, Question } from "../../protocol/mcp.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import {
  type Era,
  LEGACY_REVISIONS,
  type LegacyRevision,
  MODERN_REVISIONS,
  type ModernRevision,
  type Revision,
} from "../../protocol/revisions.ts";
import type { Principal } from "./principal.ts";
import type { Receipt } from "./receipt.ts";

/**
 * One request of a client, in the form of the newest specification whatever the client speaks: edges translate, nothing
 * behind them asks which era it is, except where somebody has to be asked.
 */
export interface Exchange<Endpoint = unknown, State = unknown> {
  /** Of the core that is asked. */
  endpoint: Endpoint;
  principal: Principal;
  method: string;
  /** Without the `_meta` keys that the specification reserves: those are each hop's own. */
  params: Params;
  caller: Caller;
  /** Identifies the request in logs, in audit records, at other servers and in its result. */
  correlationId: string;
  /** W3C trace id, 32 hexadecimal digits: the caller's, or made. */
  traceId: string;
  /** Trace context that is sent to a server, where it is not made from the caller's. */
  outgoing?: Caller["trace"];
  /** Time that servers took for it, in milliseconds, and how often it was sent to them again; the core counts. */
  upstreamMs?: number | undefined;
  retries?: number | undefined;
  /** The span of the request, where it is traced. */
  span?: ServerSpan | undefined;
  /** Why the edge could not check the request: the core records it, and fails with it. */
  failure?: unknown;
  /** The tool that is called, where another one was asked to call it; the core notes it. */
  called?: CalledTool | undefined;
  /** What the core has found out about the request, so that it does so once. The edge leaves it as it is. */
  state?: State | undefined;
  /** For the record of the request. Without it, the size of the answer is not recorded. */
  receipt?: Receipt | undefined;
  /** Fires when the caller no longer wants the answer. */
  signal: CancelSignal;
}

/** A tool that is called through another one. */
export interface CalledTool {
  /** As the caller named it. */
  name: string;
  /** What the caller wrote, where that is another form of the name: errors say nothing else. */
  given?: string;
  arguments: unknown;
  /** The tool that was asked to call it, by its own name. */
  through: string;
}

/** Who asks, and what can be told and asked while the request is being worked on. */
export interface Caller {
  era: Era;
  /** The revision the caller speaks. */
  version: string;
  /** Whose connections to servers with sessions are used: a principal's, or those of a legacy session. */
  owner: string;
  /** As declared: with the request (modern) or at `initialize` (legacy). */
  capabilities: ClientCapabilities;
  logLevel: LogLevel | undefined;
  /** Present: the caller wants progress, under this token. */
  progressToken: ProgressToken | undefined;
  /** The client's name and version, as declared; at most 128 characters each. */
  client: ClientName | undefined;
  /** W3C trace context of the request's `_meta` or, without it, of its HTTP headers. */
  trace: { traceparent: string; tracestate?: string; baggage?: string } | undefined;
  /** For whom a gateway in front of this server calls, where it says so. */
  onBehalfOf?: string | undefined;
  /** Which state of the tools that caller has seen; empty if the gateway does not know. Undefined: there is no gateway. */
  seen?: string | undefined;
  /**
   * Whether a legacy caller has a stream open on which it is told of changes. Absent where that is unknown: on a pipe, many
   * clients read such messages and do nothing.
   */
  hearsChanges?: (() => boolean) | undefined;
  /** On the request's own stream, before its answer. Never throws; a stream that is gone swallows it. */
  notify(notification: Notification): void;
  /**
   * The server closed the stream of this request, and wants to be asked for its answer after a while: so may the caller's
   * be closed. Absent where the caller could not come back.
   */
  pause?: ((retryMs: number | undefined) => void) | undefined;
  /**
   * Asks the caller on the request's own stream, and resolves with what it answered. Legacy callers only; a modern one is
   * asked with an answer that says `input_required`. Rejects with a NexusError when there is no stream, when the caller
   * answers with an error, or when `signal` fires.
   */
  ask: ((question: Question, signal: AbortSignal) => Promise<Params>) | undefined;
}

/** The span of a request in a trace. */
export interface ServerSpan {
  /** Begins the span of a request to a server. */
  child(server: string, method: string, target: unknown): UpstreamSpan;
}

/** The span of a request to a server. */
export interface UpstreamSpan {
  /** Sent to the server. */
  trace: NonNullable<Caller["trace"]>;
  /** With the code of the failure, if there was one. */
  end(code: string | undefined): void;
}

/** What a client calls itself. */
export interface ClientName {
  name: string;
  version: string;
}

/** What an endpoint offers, for `server/discover` and `initialize`: modern capabilities. */
export interface Offer {
  serverInfo: Implementation;
  capabilities: Record<string, unknown>;
  instructions: string | undefined;
  ttlMs: number;
  cacheScope: "public" | "private";
  /**
   * The capability `tasks` of 2025-11-25, where the core runs such tasks itself: `tools/call` with `task`, and `tasks/…`, of
   * callers of that revision then reach it as they are. Without it, callers of that revision never see a task.
   */
  legacyTasks?: Record<string, unknown> | undefined;
}

export interface ListenRequest {
  principal: Principal;
  /** The request that asks for it, for the record; absent where the edge listens by itself. */
  asked?: AskedListen | undefined;
  owner: string;
  capabilities: ClientCapabilities;
  interests: Interests;
  /** Hears each change as a notification in the caller's own names and URIs, without a subscription id. */
  onChange: (notification: Notification) => void;
  /** The core ends what can be ended: its client is told, and may subscribe again. Absent where there is no such end. */
  onEnd?: (() => void) | undefined;
}

/** What is recorded of a request to listen. */
interface AskedListen extends Pick<Exchange, "params" | "correlationId" | "traceId" | "receipt"> {
  caller: Pick<Caller, "era" | "version" | "client">;
}

/** Changes that somebody listens to. */
export interface Listening extends AsyncDisposable {
  /** What will be told, of what was asked for. */
  readonly accepted: Interests;
  /** Replaces the interests; nothing is lost meanwhile. */
  update(interests: Interests): Promise<void>;
  close(): Promise<void>;
}

/** Where requests come from, for the record of those that do not go on. */
export interface RequestOrigin extends Pick<Caller, "era" | "version" | "client"> {
  headers: IncomingHttpHeaders;
}

/** How many of several requests go on, in their order; each of the others is answered with the error. */
export interface Admission {
  admitted: number;
  error: NexusError;
}

/** What stands behind an endpoint, whatever edge its clients come through. */
export interface Core<Endpoint = unknown, State = unknown> {
  /** Goes with every exchange: what stands behind several endpoints knows by it which one was asked. */
  readonly endpoint: Endpoint;
  /** Names the endpoint among those of this process: a session of one is unknown at another. */
  readonly name: string;
  /** Whether results carry the correlation id of their request. */
  readonly showsCorrelation?: boolean | undefined;
  /** The revisions that are served; default: all. */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Asked over HTTP before anything is done for requests that count against the limits of a principal. Undefined: all of
   * them go on. Absent where nothing is limited.
   */
  admit?(
    principal: Principal,
    requests: readonly Request[],
    sender: RequestOrigin,
  ): Admission | undefined | Promise<Admission | undefined>;
  offer(principal: Principal): Promise<Offer>;
  /** Who answers, as far as it is known by now. */
  serverInfo(): Implementation | undefined;
  /**
   * Answers a request with a result in the form of the newest specification (`resultType`, `ttlMs` and `cacheScope`
   * where they belong). Throws a NexusError, which `rpcErrorOf` turns into what the caller is told.
   */
  handle(exchange: Exchange<Endpoint, State>): Promise<Result>;
  listen(request: ListenRequest): Promise<Listening>;
  /** Which arguments of a tool a modern HTTP client repeats in headers; the edge checks them before it hands the exchange over. */
  paramHeaders(
    principal: Principal,
    tool: string,
    exchange: Exchange<Endpoint, State>,
  ): readonly ParamHeader[] | Promise<readonly ParamHeader[]>;
  /** A legacy session is over: what was kept for it alone ends. */
  release(owner: string): void;
}

/** Something that can be served: it has a core. */
export interface Servable {
  readonly core: Core;
}

/** The revisions that a core serves, by era, the newest first. */
export interface ServedRevisions {
  modern: readonly ModernRevision[];
  legacy: readonly LegacyRevision[];
}

const ALL: ServedRevisions = { modern: MODERN_REVISIONS, legacy: LEGACY_REVISIONS };
const known = new WeakMap<readonly Revision[], ServedRevisions>();

/** Asked with every message. */
export function servedRevisions({ revisions }: Core): ServedRevisions {
  if (!revisions) return ALL;
  const found = known.get(revisions) ?? byEra(revisions);
  known.set(revisions, found);
  return found;
}

function byEra(revisions: readonly Revision[]): ServedRevisions {
  return {
    modern: MODERN_REVISIONS.filter((revision) => revisions.includes(revision)),
    legacy: LEGACY_REVISIONS.filter((revision) => revisions.includes(revision)),
  };
}
