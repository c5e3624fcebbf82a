import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { isLoudEnough, type LogLevel } from "../protocol/mcp.ts";
import type { StreamEnd, Transport } from "../transport/transport.ts";
import type { Subscriptions } from "./changes/subscriptions.ts";
import {
  connectingFailed,
  introduce,
  settingsOf,
  withinTime,
  type ClientOptions,
  type ClientSettings,
} from "./client-settings.ts";
import { Requester } from "./conversation/requester.ts";
import { Conversation } from "./conversation/conversation.ts";
import { isSessionForgotten } from "./conversation/forgotten-session.ts";
import { initialize, type Agreement } from "./conversation/handshake.ts";
import { Inbox } from "./conversation/inbox.ts";
import { InputDesk } from "./conversation/input.ts";
import { ListReader } from "./conversation/list-reader.ts";
import { negotiate, type Negotiated, type Verdict } from "./conversation/negotiate.ts";
import { Peer } from "./conversation/peer.ts";
import { MemoryCache, ResponseCache } from "./conversation/response-cache.ts";
import { ResumableStream } from "./conversation/resumable-stream.ts";

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
