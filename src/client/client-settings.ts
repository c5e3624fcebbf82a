import { MILLISECONDS, type OptionNames, SIGNAL } from "../errors/check-options.ts";
import type { HiddenValues } from "../masking/hidden-values.ts";
import type { Implementation, Root } from "../protocol/mcp.ts";
import type { Era } from "../protocol/revisions.ts";
import type { NotificationListener } from "./conversation/inbox.ts";
import { INPUT, type InputProvider } from "./conversation/input.ts";
import type { Logger } from "../text/logger.ts";
import type { CacheStore } from "./conversation/response-cache.ts";
import { type RetrySettings } from "./conversation/retry.ts";

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

/** Every option, for those who check what a program passes. */
export const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  server: true,
  input: INPUT,
  roots: true,
  clientInfo: true,
  protocolVersion: true,
  era: true,
  timeoutMs: MILLISECONDS,
  connectTimeoutMs: MILLISECONDS,
  connectBy: true,
  probeTimeoutMs: MILLISECONDS,
  retry: true,
  maxRounds: true,
  logger: true,
  hidden: true,
  signal: SIGNAL,
  cache: true,
  principal: true,
  onNotification: true,
};

/** The options of the client alone, of those who also say how the server is reached. */
export function clientOptionsOf(options: ClientOptions): ClientOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(CLIENT_OPTIONS, name)));
}
