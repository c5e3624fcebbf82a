import type { HiddenValues } from "../masking/hidden-values.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Implementation, Root } from "../protocol/mcp.ts";
import type { Era } from "../protocol/revisions.ts";
import { VERSION } from "../protocol/version.ts";
import type { Transport } from "../transport/transport.ts";
import { Deadlines } from "../async/deadlines.ts";
import type { Introduction } from "./conversation/handshake.ts";
import type { NotificationListener } from "./conversation/inbox.ts";
import type { InputDesk, InputProvider } from "./conversation/input.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import type { CacheStore } from "./conversation/response-cache.ts";
import { DEFAULT_RETRY, type RetrySettings } from "./conversation/retry.ts";
import { maskError } from "../errors/masked-error.ts";

export interface ClientOptions {
  /** The server's name in errors and questions. */
  server?: string | undefined;
  /** Answers the server's questions. */
  input?: InputProvider | undefined;
  /** Roots that are answered without the input provider. */
  roots?: readonly Root[] | undefined;
  clientInfo?: Implementation | undefined;
  /** Use this revision without detection. */
  protocolVersion?: string | undefined;
  /** The era that is remembered from an earlier connection. */
  era?: Era | undefined;
  /** Timeout of a call; default: 30 seconds. */
  timeoutMs?: number | undefined;
  /** Timeout of connecting; default: 30 seconds. */
  connectTimeoutMs?: number | undefined;
  /** Absolute deadline on the clock of `performance.now()`, for several attempts in one time limit. */
  connectBy?: number | undefined;
  /** How long to wait for a child process to answer the era detection; default: 2 seconds. */
  probeTimeoutMs?: number | undefined;
  retry?: { [K in keyof RetrySettings]?: RetrySettings[K] | undefined } | undefined;
  /** Maximum number of question rounds in one call; default: 50. */
  maxRounds?: number | undefined;
  logger?: Logger | undefined;
  /** Values that are masked in errors, logs and the stderr of a child process. */
  hidden?: HiddenValues | undefined;
  /** Cancels the connection attempt. */
  signal?: AbortSignal | undefined;
  /** Caches answers with a `ttlMs`; default: in memory. */
  cache?: CacheStore | undefined;
  /** The principal of this client in a shared cache; private answers are separated by it. */
  principal?: string | undefined;
  /** Called for every notification, including the first ones. */
  onNotification?: NotificationListener | undefined;
}

/** A client's options with all defaults applied. */
export interface ClientSettings {
  server: string;
  clientInfo: Implementation;
  timeoutMs: number | undefined;
  transport: Pick<Transport, "kind" | "longestCallMs">;
  connectTimeoutMs: number;
  probeMs: number;
  maxRounds: number;
  retry: RetrySettings;
  logger: Logger;
  hidden: HiddenValues | undefined;
  /** For this client's calls. */
  deadlines: Deadlines;
  /** Undefined: the client keeps answers in its own memory. */
  cache: CacheStore | undefined;
  principal: string | undefined;
}

export function settingsOf(
  options: ClientOptions,
  transport: Pick<Transport, "kind" | "longestCallMs">,
): ClientSettings {
  return {
    server: options.server ?? "server",
    clientInfo: options.clientInfo ?? { name: "nexus-mcp", version: VERSION },
    timeoutMs: options.timeoutMs,
    transport,
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    probeMs: options.probeTimeoutMs ?? 2_000,
    maxRounds: options.maxRounds ?? 50,
    retry: {
      maxRetries: options.retry?.maxRetries ?? DEFAULT_RETRY.maxRetries,
      backoffMs: options.retry?.backoffMs ?? DEFAULT_RETRY.backoffMs,
      trustToolHints: options.retry?.trustToolHints ?? DEFAULT_RETRY.trustToolHints,
    },
    logger: options.logger ?? SILENT,
    hidden: options.hidden,
    // A connection in memory has no socket or process that keeps this process alive while a call waits.
    deadlines: new Deadlines({ keepsProcess: transport.kind === "memory" }),
    cache: options.cache,
    principal: options.principal,
  };
}

export function introduce(settings: ClientSettings, desk: InputDesk, signal: AbortSignal | undefined): Introduction {
  const { clientInfo, connectTimeoutMs, deadlines } = settings;
  const deadline = performance.now() + connectTimeoutMs;
  return { clientInfo, capabilities: (era) => desk.capabilities(era), deadline, signal, deadlines };
}

export function connectingFailed(error: NexusError, settings: ClientSettings): NexusError {
  const named = namedFailure(error, settings);
  return settings.hidden ? maskError(settings.hidden, named) : named;
}

function namedFailure(error: NexusError, { server, connectTimeoutMs }: ClientSettings): NexusError {
  const known = { server, phase: "handshake" } as const;
  if (error.code !== "TIMEOUT") return error.with(known);
  // The timeout of the whole attempt has passed, not that of its last step.
  const message = `Not connected within ${connectTimeoutMs / 1_000} s. ${error.message}`;
  return new NexusError("TIMEOUT", message, { ...error.with(known).details, cause: error });
}

/**
 * Runs something that has no scope yet, with a signal that is aborted by the caller or by the timeout of connecting.
 */
export async function withinTime<T>(
  { deadline, signal }: Introduction,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const giveUp = () => late.abort(new NexusError("TIMEOUT", "The server did not accept the connection in time"));
  const cancel = () =>
    late.abort(new NexusError("CANCELLED", "The connection attempt was cancelled", { cause: signal?.reason }));
  if (signal?.aborted)
    throw new NexusError("CANCELLED", "The connection attempt was cancelled", { cause: signal.reason as unknown });
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await run(late.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
