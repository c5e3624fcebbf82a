import { Client, type ClientOptions } from "./client/client.ts";
import { readEnvironment } from "./environment.ts";
import { AddressGuard } from "./net/address-guard.ts";
import { Network } from "./net/network.ts";
import { childEnvironment } from "./transport/child-environment.ts";
import { HttpTransport } from "./transport/http.ts";
import { resolveEntry, type HttpReach, type ServerEntry, type StdioReach } from "./transport/server-entry.ts";
import { SseTransport } from "./transport/sse.ts";
import { StdioTransport } from "./transport/stdio.ts";
import type { Transport } from "./transport/transport.ts";

export type { KnownLists } from "./client/lists.ts";
export type { NotificationListener } from "./client/inbox.ts";
export { MemoryCache, type CachedAnswer, type CacheStore } from "./client/response-cache.ts";
export type { Skill, SkillEntry, Skills } from "./client/skills.ts";
export type { Change, ChangeListener, ChangingList, Feed, Interests } from "./client/feed.ts";
export type { Subscription } from "./client/subscriptions.ts";
export type { Started, Task, TaskOptions, Tasks, TaskStatus } from "./client/tasks.ts";
export { Client, type CallToolOptions, type ClientOptions } from "./client/client.ts";
export type { CallInfo, CallOptions } from "./client/call-scope.ts";
export type { InputContext, InputProvider } from "./client/input.ts";
export type { Logger } from "./client/logger.ts";
export type { Verdict } from "./client/negotiate.ts";
export type { RetrySettings } from "./client/retry.ts";
export { checkArguments, checkResult } from "./client/schema-check.ts";
export type { SchemaProblem } from "./client/schema-problems.ts";
export type { SchemaCheck } from "./client/schema-validator.ts";
export {
  NexusError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorPhase,
  type RpcErrorBody,
} from "./errors/nexus-error.ts";
export type * from "./protocol/json-rpc.ts";
export type * from "./protocol/mcp.ts";
export type { Era, LegacyRevision, ModernRevision, Revision } from "./protocol/revisions.ts";
export { MemoryTransport, type MemoryPeer } from "./transport/memory.ts";
export type { ServerEntry } from "./transport/server-entry.ts";
export type {
  ChildView,
  CloseReason,
  Connection,
  Delivery,
  Discarded,
  HttpSessionChannel,
  Receiver,
  ResumePoint,
  Sending,
  StreamEnd,
  Transport,
} from "./transport/transport.ts";

export interface ConnectOptions extends ClientOptions {
  /** The longest message taken from the server: 10 MB. */
  maxMessageBytes?: number | undefined;
  /** Certificate authorities (PEM) trusted beside the well-known ones. */
  ca?: readonly string[] | undefined;
  /** Refuse to reach addresses inside: loopback, private networks, cloud metadata. `allow` names exceptions. */
  publicOnly?: boolean | { allow: readonly string[] } | undefined;
}

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Connects to one server: an entry as in a configuration file, or a transport. */
export async function connect(server: ServerEntry | Transport, options: ConnectOptions = {}): Promise<Client> {
  if (isTransport(server)) return Client.open(server, options);
  const entry = resolveEntry(server);
  const settings: ClientOptions = {
    ...options,
    server: options.server ?? entry.id,
    roots: options.roots ?? entry.roots,
    timeoutMs: options.timeoutMs ?? entry.timeoutMs,
    connectTimeoutMs: options.connectTimeoutMs ?? entry.connectTimeoutMs,
    retry: {
      ...options.retry,
      maxRetries: options.retry?.maxRetries ?? entry.maxRetries,
      backoffMs: options.retry?.backoffMs ?? entry.retryBackoffMs,
    },
  };
  const transport =
    entry.reach.kind === "stdio" ? stdioTransport(entry.reach, options) : httpTransport(entry.reach, settings);
  return Client.open(transport, settings);
}

function isTransport(server: ServerEntry | Transport): server is Transport {
  return typeof server === "object" && server !== null && "connect" in server;
}

function httpTransport({ kind, url, headers }: HttpReach, options: ConnectOptions): Transport {
  const network = networkFor(options);
  const maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  const Reach = kind === "sse" ? SseTransport : HttpTransport;
  return new Reach({ url, headers, network, maxMessageBytes, release: () => network.close() });
}

function stdioTransport(reach: StdioReach, options: ConnectOptions): StdioTransport {
  const { variables, platform } = readEnvironment();
  const { command, args, cwd, env, passthrough } = reach;
  return new StdioTransport({
    command,
    args,
    cwd,
    env: childEnvironment({ variables, platform, env, passthrough }),
    maxLineBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    platform,
  });
}

function networkFor({ ca, publicOnly, connectTimeoutMs }: ConnectOptions): Network {
  const { proxy, extraCertificates } = readEnvironment();
  return new Network({
    proxy,
    ca: ca?.length ? [...extraCertificates, ...ca] : undefined,
    guard: publicOnly ? new AddressGuard(publicOnly === true ? {} : publicOnly) : undefined,
    connectTimeoutMs,
  });
}
