import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { isLoudEnough, type LogLevel, type Tool, type Implementation } from "../protocol/mcp.ts";
import type { StreamEnd, Transport } from "../transport/transport.ts";
import type { Subscriptions } from "./changes/subscriptions.ts";
import type { ClientOptions } from "./client-settings.ts";
import { Requester } from "./conversation/requester.ts";
import { Conversation } from "./conversation/conversation.ts";
import { isSessionForgotten } from "./conversation/forgotten-session.ts";
import { initialize, type Agreement, type Introduction } from "./conversation/handshake.ts";
import { Inbox } from "./conversation/inbox.ts";
import { InputDesk } from "./conversation/input.ts";
import { negotiate, type Negotiated, type Verdict } from "./conversation/negotiate.ts";
import { Peer } from "./conversation/peer.ts";
import { MemoryCache, ResponseCache, type CacheStore } from "./conversation/response-cache.ts";
import { ResumableStream } from "./conversation/resumable-stream.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { readList, usableItems, type KnownLists } from "./conversation/lists.ts";
import type { CallScope } from "./conversation/call-scope.ts";
import { isSearched, findsOthers, WITH_SEARCHED } from "../protocol/shown-tools.ts";
import { factsOf, UNKNOWN_TOOL, type ToolFacts } from "./conversation/tool-facts.ts";
import { LIST_METHODS } from "../protocol/methods.ts";
import { changeMethod } from "../protocol/list-kinds.ts";
import { VERSION } from "../protocol/version.ts";
import { DEFAULT_RETRY, type RetrySettings } from "./conversation/retry.ts";
import { Deadlines } from "../async/deadlines.ts";
import type { HiddenValues } from "../masking/hidden-values.ts";

interface Parts {
  transport: Transport;
  settings: ClientSettings;
  desk: InputDesk;
  inbox: Inbox;
}

/**
 * A conversation from the handshake to its end, with the stream and the renewal of a legacy session. All clients that
 * share a connection share it.
 */
export class LiveConversation {
  readonly verdict: Verdict;
  readonly settings: ClientSettings;
  readonly conversation: Conversation;
  /** The requester of the client that opened the connection. */
  readonly requester: Requester;
  readonly inbox: Inbox;
  readonly cache: ResponseCache;
  readonly lists: ListReader;
  /** Whether the server was told at the start that roots can change. */
  readonly announcesRoots: boolean;
  /** The level of a legacy session. */
  #logLevel: LogLevel | undefined;
  #stream: ResumableStream | undefined;
  #subscriptions: Subscriptions | undefined;
  #closing: Promise<void> | undefined;

  /** Connects and detects the era. */
  static async open(transport: Transport, options: ClientOptions): Promise<LiveConversation> {
    const settings = settingsOf(options, transport);
    const desk = new InputDesk(settings.server, options.input, options.roots);
    const inbox = new Inbox(desk, settings.logger);
    if (options.onNotification) inbox.listeners.add(options.onNotification);
    const parts = { transport, settings, desk, inbox };
    try {
      return new LiveConversation(await negotiateWith(parts, options), parts);
    } catch (error) {
      settings.deadlines.stopAll(new NexusError("CLOSED", "Connecting failed"));
      throw error instanceof NexusError ? connectingFailed(error, settings) : error;
    }
  }

  private constructor({ peer, agreement, verdict }: Negotiated, { transport, settings, desk, inbox }: Parts) {
    const { server, clientInfo, retry, logger } = settings;
    this.verdict = verdict;
    this.settings = settings;
    this.inbox = inbox;
    const conversation = (this.conversation = new Conversation(peer, agreement, {
      clientInfo,
      capabilities: (provider, sharedClient) => (sharedClient?.desk ?? desk).capabilities("modern", provider),
      retry,
      renew: () => this.#renew(),
      onRenewed: () => void this.#restore(),
      reloadTools: (scope) => this.lists.reloadTools(scope),
    }));
    this.requester = new Requester({ ...settings, conversation, desk });
    this.cache = openCache(settings, transport);
    this.lists = new ListReader({ server, conversation, inbox, cache: this.cache, logger });
    this.announcesRoots = agreement.era === "legacy" && desk.capabilities("legacy").roots?.listChanged === true;
    this.#begin(peer, agreement);
  }

  /** Loaded with the first of them. */
  async subscriptions(): Promise<Subscriptions> {
    const { Subscriptions: Loaded } = await import("./changes/subscriptions.ts");
    return (this.#subscriptions ??= new Loaded(this.requester, this.settings.logger));
  }

  /** Sets the log level of a legacy server. The connection has one level for all clients that share it. */
  async setLegacyLogLevel(level: LogLevel, { isShared, send }: LogLevelChange): Promise<void> {
    // A client that shares the connection can lower the level, but not take messages from the others.
    if (isShared && this.#logLevel && isLoudEnough(level, this.#logLevel)) return;
    await send();
    this.#logLevel = level;
  }

  /** Closes the connection and stops the server's process, within five seconds. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  #begin(peer: Peer, agreement: Agreement): void {
    const { inbox } = this;
    inbox.onChange = (notification) => {
      this.cache.invalidate(notification.method);
      this.#subscriptions?.notified(notification);
    };
    inbox.isModern = agreement.era === "modern";
    if (inbox.isModern && peer.kind === "http") peer.standingHeaders = { "mcp-protocol-version": agreement.version };
    void peer.closed.then(() => {
      if (peer.gone) this.#endAll(peer.gone);
    });
    this.#listen();
  }

  async #close(): Promise<void> {
    this.#endAll(new NexusError("CLOSED", "The connection was closed"), { isWanted: true });
    await this.conversation.peer.close();
  }

  /** Stops everything that belongs to this conversation, because its connection has ended. */
  #endAll(error: NexusError, { isWanted = this.#closing !== undefined } = {}): void {
    this.inbox.close();
    this.#stream?.abandon();
    this.#subscriptions?.abandon(isWanted ? undefined : error);
    this.settings.deadlines.stopAll(error);
  }

  /** Only legacy servers over HTTP send messages outside a request. */
  #listen(): void {
    const { peer, agreement } = this.conversation;
    this.#stream?.abandon();
    if (agreement.era !== "legacy" || !peer.http) return;
    this.#stream = new ResumableStream({
      channel: peer.http,
      headers: () => peer.standingHeaders,
      maxFailures: Infinity,
      maxGoneMs: Infinity,
      onGivenUp: (end, wasOpen) => this.#streamEnded(agreement, end, wasOpen),
    });
  }

  #streamEnded(agreement: Agreement, end: StreamEnd, wasOpen: boolean): void {
    const { server, logger } = this.settings;
    // A server without such a stream may also answer 404. Only if the stream was open does 404 mean a forgotten
    // session.
    const isForgotten =
      wasOpen &&
      agreement.sessionId !== undefined &&
      end.kind === "refused" &&
      isSessionForgotten({ status: end.status, rpc: end.rpc, text: end.body });
    const onNotRenewed = (error: unknown) =>
      logger.warn(`"${server}" forgot its session, and a new one could not be opened: ${messageOf(error)}`);
    if (isForgotten) this.conversation.renew(agreement).catch(onNotRenewed);
    else logger.debug(`"${server}" has no stream of its own`);
  }

  #renew(): Promise<Agreement> {
    const { server, logger } = this.settings;
    logger.info(`"${server}" forgot its session; opening a new one`);
    return initialize(this.conversation.peer, introduce(this.settings, this.requester.desk, undefined));
  }

  /** Restores log level and subscriptions in the new session. */
  async #restore(): Promise<void> {
    this.#listen();
    const level = this.#logLevel;
    const setLevel = level && this.requester.request({ method: "logging/setLevel", params: { level } });
    for (const done of await Promise.allSettled([setLevel, this.#subscriptions?.renewed()])) {
      if (done.status === "rejected")
        this.settings.logger.warn(
          `the renewed session of "${this.settings.server}" could not be restored completely: ${messageOf(done.reason)}`,
        );
    }
  }
}

interface LogLevelChange {
  /** Whether other clients use the connection. */
  isShared: boolean;
  send: () => Promise<unknown>;
}

function negotiateWith({ transport, settings, desk, inbox }: Parts, options: ClientOptions): Promise<Negotiated> {
  const { server, logger, hidden, probeMs, retry } = settings;
  const introduction = introduce(settings, desk, options.signal);
  introduction.deadline = Math.min(introduction.deadline, options.connectBy ?? Infinity);
  return negotiate({
    transport,
    open: (way) =>
      withinTime(
        introduction,
        async (signal) => (inbox.peer = await Peer.open(way, inbox, { server, logger, hidden, signal })),
      ),
    introduction,
    pinned: options.protocolVersion,
    era: options.era,
    probeMs,
    retry,
  });
}

/** The principal matters only in a cache that is shared with others; the login may change also here. */
function openCache({ cache, principal, logger }: ClientSettings, transport: Transport): ResponseCache {
  const login = () => transport.loginName;
  if (!cache) return new ResponseCache(new MemoryCache(), { server: "", principal: "", login }, logger);
  const { server, principal: credential } = transport.identity ?? { server: crypto.randomUUID(), principal: "" };
  return new ResponseCache(cache, { server, principal: principal ?? credential, login }, logger);
}

interface ListReaderOptions {
  server: string;
  conversation: Conversation;
  inbox: Inbox;
  cache: ResponseCache;
  logger: Logger;
}

/** Reads the lists of one server, and keeps the facts about its tools that calls need. */
class ListReader {
  readonly #options: ListReaderOptions;
  /** The items of each list as the server sent them. */
  readonly #received = new WeakMap<readonly unknown[], readonly unknown[]>();
  readonly #searched = new WeakMap<readonly unknown[], readonly Tool[]>();

  constructor(options: ListReaderOptions) {
    this.#options = options;
  }

  async read<K extends keyof KnownLists>(kind: K, scope: CallScope): Promise<Required<KnownLists>[K]> {
    const { inbox } = this.#options;
    const { changes } = inbox;
    const { list, received } = await readList(kind, this.#readingIn(scope));
    this.#received.set(list, received);
    if (changes === inbox.changes) inbox.known[kind] = list;
    return list;
  }

  /** What the server sent for a list that was read here. */
  receivedFor(list: readonly unknown[]): readonly unknown[] {
    return this.#received.get(list) ?? list;
  }

  /** The tools of a list that was read here which only searching finds: those of an API in this process. */
  searchedFor(list: readonly unknown[]): readonly Tool[] {
    return this.#searched.get(list) ?? [];
  }

  /** Skips tools that HTTP clients must not offer, with a warning. */
  async readTools(scope: CallScope): Promise<Tool[]> {
    const { conversation, inbox } = this.#options;
    const { changes } = inbox;
    const { list, received } = await this.#readAllTools(scope);
    const listed = list.filter((tool) => !isSearched(tool));
    const facts = new Map<string, ToolFacts>();
    conversation.tools = facts;
    const tools = listed.filter((tool) => this.#keepFacts(tool, facts));
    this.#received.set(tools, received);
    if (list.length > listed.length) this.#searched.set(tools, list.filter(isSearched));
    if (changes === inbox.changes) inbox.known.tools = tools;
    return tools;
  }

  /** An API in this process also lists the tools that are found by searching. */
  async #readAllTools(scope: CallScope): ReturnType<typeof readList<"tools">> {
    const reading = this.#readingIn(scope);
    const { conversation } = reading;
    const first = await readList("tools", reading);
    if (conversation.peer.kind !== "memory" || !findsOthers(first.list)) return first;
    const { tools: found } = await conversation.exchange(LIST_METHODS.tools, WITH_SEARCHED, scope);
    if (!Array.isArray(found)) return first;
    const list = usableItems("tools", found, reading) as unknown as Tool[];
    return { list, received: found };
  }

  /** Call this when the server reports that the known tools are wrong. */
  async reloadTools(scope: CallScope): Promise<void> {
    this.#options.cache.invalidate(changeMethod("tools"));
    await this.readTools(scope);
  }

  /** False for a tool that must not be offered. */
  #keepFacts(tool: Tool, facts: Map<string, ToolFacts>): boolean {
    const { conversation, server, logger } = this.#options;
    // The rules for headers apply to HTTP clients of modern servers; a pipe has no headers.
    const isStrict = conversation.peer.kind === "http" && conversation.agreement.era === "modern";
    const { facts: found, reason } = factsOf(tool, isStrict);
    if (reason !== undefined) {
      logger.warn(`tool "${tool.name}" of "${server}" is skipped: ${reason}`);
      return false;
    }
    if (found !== UNKNOWN_TOOL) facts.set(tool.name, found);
    return true;
  }

  #readingIn(scope: CallScope) {
    const { conversation, cache, server, logger } = this.#options;
    return { conversation, cache, scope, server, logger };
  }
}

function settingsOf(options: ClientOptions, transport: Pick<Transport, "kind" | "longestCallMs">): ClientSettings {
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

function introduce(settings: ClientSettings, desk: InputDesk, signal: AbortSignal | undefined): Introduction {
  const { clientInfo, connectTimeoutMs, deadlines } = settings;
  const deadline = performance.now() + connectTimeoutMs;
  return { clientInfo, capabilities: (era) => desk.capabilities(era), deadline, signal, deadlines };
}

function connectingFailed(error: NexusError, settings: ClientSettings): NexusError {
  const named = namedFailure(error, settings);
  return settings.hidden?.inError(named) ?? named;
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
async function withinTime<T>({ deadline, signal }: Introduction, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
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

/** A client's options with all defaults applied. */
interface ClientSettings {
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
