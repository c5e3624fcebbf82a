import { nearestName } from "../text/nearest-name.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { INVALID_PARAMS, type Params, type Result } from "../protocol/json-rpc.ts";
import { withContent } from "../protocol/legacy.ts";
import {
  LOG_LEVELS,
  type CallToolResult,
  type CompleteResult,
  type CompletionReference,
  type GetPromptResult,
  type Implementation,
  type LogLevel,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Root,
  type ServerCapabilities,
  type Tool,
} from "../protocol/mcp.ts";
import { atLeast, type Era } from "../protocol/revisions.ts";
import type { CloseReason, Transport } from "../transport/transport.ts";
import type { CallOptions, CallScope } from "./conversation/call-scope.ts";
import { Caller } from "./conversation/caller.ts";
import {
  connectingFailed,
  introduce,
  settingsOf,
  withinTime,
  type ClientOptions,
  type Settings,
} from "./client-settings.ts";
import { Conversation } from "./conversation/conversation.ts";
import type { Interests } from "../protocol/interests.ts";
import type { ChangeListener } from "./changes/feed.ts";
import { isSessionForgotten } from "./conversation/forgotten-session.ts";
import { initialize, type Agreement } from "./conversation/handshake.ts";
import { Inbox, type NotificationListener } from "./conversation/inbox.ts";
import { InputDesk, type InputProvider } from "./conversation/input.ts";
import { readList, type KnownLists, type ListReading } from "./conversation/lists.ts";
import { negotiate, type Negotiated, type Verdict } from "./conversation/negotiate.ts";
import { Peer } from "./conversation/peer.ts";
import { MemoryCache, ResponseCache } from "./conversation/response-cache.ts";
import { ResumableStream } from "./conversation/resumable-stream.ts";
import { Skills } from "./skills.ts";
import { Subscriptions, type Subscription } from "./changes/subscriptions.ts";
import { Tasks, type TaskOptions } from "./tasks.ts";
import { factsOf, UNKNOWN_TOOL, type ToolFacts } from "./conversation/tool-facts.ts";
import { LIST_METHODS } from "../protocol/methods.ts";

export interface CallToolOptions extends CallOptions {
  /** Wait for a task, if the server makes one of the call. */
  task?: true | Pick<TaskOptions, "ttlMs" | "onStatus"> | undefined;
}

/** One conversation with one server, of whatever revision. */
export class Client implements AsyncDisposable {
  readonly verdict: Verdict;
  readonly server: string;
  /** Work that goes on at the server, and is waited for or come back to. */
  readonly tasks: Tasks;
  /** Instructions for agents that the server offers, checked as they are read. */
  readonly skills: Skills;
  readonly #caller: Caller;
  readonly #conversation: Conversation;
  readonly #settings: Settings;
  readonly #inbox: Inbox;
  readonly #cache: ResponseCache;
  readonly #subscriptions: Subscriptions;
  /** Whether the server was told at the start that roots may change. */
  readonly #announcesRoots: boolean;
  readonly #life: Life;

  /** Connects, finds the era, and is ready for calls when it resolves. */
  static async open(transport: Transport, options: ClientOptions = {}): Promise<Client> {
    const settings = settingsOf(options, transport);
    const desk = new InputDesk(settings.server, options.input, options.roots);
    const inbox = new Inbox(desk, settings.logger);
    if (options.onNotification) inbox.listeners.add(options.onNotification);
    const introduction = introduce(settings, desk, options.signal);
    introduction.deadline = Math.min(introduction.deadline, options.connectBy ?? Infinity);
    try {
      const negotiated = await negotiate({
        transport,
        open: (way) =>
          withinTime(introduction, async (signal) => {
            const { logger, hidden } = settings;
            return (inbox.peer = await Peer.open(way, inbox, { server: settings.server, logger, hidden, signal }));
          }),
        introduction,
        pinned: options.protocolVersion,
        era: options.era,
        probeMs: settings.probeMs,
        retry: settings.retry,
      });
      return Client.#begin(negotiated, { transport, desk, inbox, settings });
    } catch (error) {
      settings.deadlines.stopAll(new NexusError("CLOSED", "Connecting failed"));
      throw error instanceof NexusError ? connectingFailed(error, settings) : error;
    }
  }

  static #begin({ peer, agreement, verdict }: Negotiated, { transport, desk, inbox, settings }: Beginning): Client {
    const conversation = new Conversation(peer, agreement, {
      clientInfo: settings.clientInfo,
      capabilities: (provider, sharer) => (sharer?.desk ?? desk).capabilities("modern", provider),
      retry: settings.retry,
      renew: () => client.#renew(),
      onRenewed: () => void client.#restore(),
      reloadTools: (scope) => client.#reloadTools(scope),
    });
    const caller = new Caller({ ...settings, conversation, desk });
    const cache = openCache(settings, transport);
    const subscriptions = new Subscriptions(caller, settings.logger);
    const announcesRoots = agreement.era === "legacy" && desk.capabilities("legacy").roots?.listChanged === true;
    const life: Life = { isClosing: false };
    const parts = { verdict, caller, conversation, settings, inbox, cache, subscriptions, announcesRoots, life };
    const client: Client = new Client(parts);
    inbox.onChange = (notification) => {
      cache.invalidate(notification.method);
      subscriptions.notified(notification);
    };
    inbox.isModern = agreement.era === "modern";
    if (inbox.isModern && peer.kind === "http") peer.standingHeaders = { "mcp-protocol-version": agreement.version };
    void peer.closed.then(() => {
      if (peer.gone) client.#endAll(peer.gone);
    });
    client.#listen();
    return client;
  }

  private constructor(parts: ClientParts) {
    const { verdict, caller, conversation, settings, inbox, cache, subscriptions, announcesRoots, life } = parts;
    this.server = settings.server;
    this.verdict = verdict;
    this.#inbox = inbox;
    this.#settings = settings;
    this.#conversation = conversation;
    this.#caller = caller;
    this.tasks = new Tasks(caller, (name) => this.takesTask(name), settings.logger);
    this.skills = new Skills(caller);
    this.#subscriptions = subscriptions;
    this.#cache = cache;
    this.#announcesRoots = announcesRoots;
    this.#life = life;
  }

  get era(): Era {
    return this.#conversation.agreement.era;
  }

  get protocolVersion(): string {
    return this.#conversation.agreement.version;
  }

  get serverInfo(): Implementation | undefined {
    return this.#conversation.agreement.serverInfo;
  }

  /** Undefined where the server was never asked: a modern revision was pinned. */
  get serverCapabilities(): ServerCapabilities | undefined {
    return this.#conversation.agreement.capabilities;
  }

  get instructions(): string | undefined {
    return this.#conversation.agreement.instructions;
  }

  /** What the server's process wrote to stderr last. */
  get stderr(): readonly string[] {
    return this.#conversation.peer.child?.stderr() ?? [];
  }

  /** The server runs in this very process. */
  get isInProcess(): boolean {
    return this.#conversation.peer.kind === "memory";
  }

  get pid(): number | undefined {
    return this.#conversation.peer.child?.pid;
  }

  /** Settles when the connection is gone, whoever ended it. */
  get closed(): Promise<CloseReason> {
    return this.#conversation.peer.closed;
  }

  /** Why the connection is gone; undefined while it is there. */
  get lost(): NexusError | undefined {
    return this.#conversation.peer.gone;
  }

  /** The lists as last read, until the server says that they changed. */
  get known(): Readonly<KnownLists> {
    return this.#inbox.known;
  }

  /** Of the server's entry: what is answered without asking anybody. */
  get roots(): readonly Root[] | undefined {
    return this.#caller.desk.roots;
  }

  /** Whether a server of 2025-11-25 refuses to run this tool except as a task. */
  async needsTask(tool: string): Promise<boolean> {
    return this.era === "legacy" && (await this.#taskFacts(tool)).needsTask;
  }

  /** Whether a server of 2025-11-25 runs this tool as a task for whoever wants that. */
  async takesTask(tool: string): Promise<boolean> {
    return this.era === "legacy" && (await this.#taskFacts(tool)).takesTasks;
  }

  /** One exchange; the result as it came, `input_required` included. */
  request(method: string, params?: Params, options?: CallOptions): Promise<Result> {
    return this.#caller.request({ method, params, options });
  }

  /** Any request during which the server may ask, until its answer is complete. */
  call(method: string, params: Params, options?: CallOptions): Promise<Result> {
    return this.#caller.rounds({ method, params, options });
  }

  /** Rejects if the server did not take it. */
  async notify(method: string, params?: Params, options?: CallOptions): Promise<void> {
    const { peer } = this.#conversation;
    await this.#caller.inScope({ method, params, options }, (scope) => peer.notify(method, params, { scope }));
  }

  /** Every page. Tools that HTTP clients must not offer are left out, with a warning that says why. */
  listTools(options?: CallOptions): Promise<Tool[]> {
    return this.#caller.inScope({ method: "tools/list", options }, (scope) => this.#loadTools(scope));
  }

  listResources(options?: CallOptions): Promise<Resource[]> {
    return this.#list("resources", options);
  }

  listResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return this.#list("resourceTemplates", options);
  }

  listPrompts(options?: CallOptions): Promise<Prompt[]> {
    return this.#list("prompts", options);
  }

  /** A tool's own failure is a result with `isError`, not an exception. With `task`, waits for one if the server makes one. */
  async callTool<T = Record<string, unknown>>(
    name: string,
    args?: object,
    options?: CallToolOptions,
  ): Promise<CallToolResult<T>> {
    if (options?.task) {
      const task = options.task === true ? options : { ...options, ...options.task };
      return (await this.tasks.run(name, args, task)) as CallToolResult<T>;
    }
    // Servers that validate what they get refuse a call without arguments, even where none is required.
    const params = { name, arguments: args ?? {} };
    try {
      const result = await this.#caller.rounds({ method: "tools/call", params, options });
      return (this.era === "legacy" ? withContent(result) : result) as CallToolResult<T>;
    } catch (error) {
      throw this.#withToolHint(error, name);
    }
  }

  /** A server's refusal of a tool that it does not list is explained by the tools that it does. */
  #withToolHint(error: unknown, name: string): unknown {
    const isRefused = error instanceof NexusError && error.details.rpc?.code === INVALID_PARAMS;
    const names = this.known.tools?.map((tool) => tool.name);
    if (!isRefused || names?.includes(name)) return error;
    const near = names && nearestName(name, names);
    const meant = near === undefined ? "" : `Did you mean "${near}"? `;
    return error.with({ hint: `${meant}listTools() lists the tools of the server.` });
  }

  async readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    const [method, params] = ["resources/read", { uri }];
    const cached = options?.fresh ? undefined : await this.#cache.find(method, params);
    if (cached) return cached as ReadResourceResult;
    const ask = async () => {
      let cacheable = true;
      const result = await this.#caller.rounds({ method, params, options }, () => (cacheable = false));
      return { result, cacheable };
    };
    return (await this.#cache.load(method, params, ask)) as ReadResourceResult;
  }

  async getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult> {
    const params = { name, arguments: args ?? {} };
    return (await this.#caller.rounds({ method: "prompts/get", params, options })) as GetPromptResult;
  }

  /** Suggestions for an argument of a prompt or a variable of a resource template. */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    options: CallOptions & { context?: { arguments: Record<string, string> } } = {},
  ): Promise<CompleteResult> {
    // Before 2025-03-26 there was the method, but no capability to declare it.
    if (atLeast(this.protocolVersion, "2025-03-26")) this.#caller.require("completions", "completion/complete");
    const { context, ...rest } = options;
    const params = context ? { ref, argument, context } : { ref, argument };
    return (await this.request("completion/complete", params, rest)) as CompleteResult;
  }

  /** Which log messages the server sends from now on. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    this.#caller.require("logging", "logging/setLevel");
    const { sharer } = this.#caller;
    if (this.era === "modern") {
      (sharer ?? this.#conversation).logLevel = level;
      return;
    }
    // A legacy connection has one level for all: who shares it may want to hear more, and takes nothing from the others.
    if (sharer && this.#life.logLevel && isAtLeastAsLoud(this.#life.logLevel, level)) return;
    await this.request("logging/setLevel", { level }, options);
    this.#life.logLevel = level;
  }

  /** Is the server there? Modern revisions have no `ping`; they are asked what they are. */
  async ping(options?: CallOptions): Promise<void> {
    await this.request(this.era === "modern" ? "server/discover" : "ping", undefined, options);
  }

  /** Replaces the roots given at the start, and tells a legacy server. */
  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#caller.desk.roots = roots;
    // The others' are what they were.
    if (this.#caller.sharer) return;
    this.#conversation.capabilitiesChanged();
    if (this.#announcesRoots) await this.notify("notifications/roots/list_changed");
  }

  /** Hears of changes to lists, resources and tasks, in whichever way the server's era tells them. */
  async subscribe(interests: Interests, listener: ChangeListener): Promise<Subscription> {
    const subscription = await this.#subscriptions.open(interests, listener);
    this.#caller.sharer?.undoLater(() => subscription.close());
    return subscription;
  }

  /** Hears every notification of the server; call what it returns to stop. */
  onNotification(listener: NotificationListener): () => void {
    this.#inbox.listeners.add(listener);
    const stop = () => this.#inbox.listeners.delete(listener);
    const forget = this.#caller.sharer?.undoLater(stop);
    return () => {
      stop();
      forget?.();
    };
  }

  /**
   * The same connection for somebody else: what the server asks during calls made through it, `input` answers. Roots
   * and log level set through it are theirs, and closing it ends what they do; the connection stays.
   */
  answeredBy(input: InputProvider): Client {
    return new Client({
      verdict: this.verdict,
      caller: this.#caller.answeredBy(input),
      conversation: this.#conversation,
      settings: this.#settings,
      inbox: this.#inbox,
      cache: this.#cache,
      subscriptions: this.#subscriptions,
      announcesRoots: this.#announcesRoots,
      life: this.#life,
    });
  }

  /** Ends the conversation and what was started for it, within five seconds. */
  close(): Promise<void> {
    if (this.#caller.sharer) return this.#caller.sharer.close();
    return (this.#life.closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#life.isClosing = true;
    this.#endAll(new NexusError("CLOSED", "The connection was closed"));
    await this.#conversation.peer.close();
  }

  /** Nothing that belongs to this conversation goes on without its connection. */
  #endAll(error: NexusError): void {
    this.#inbox.close();
    this.#life.stream?.abandon();
    this.#subscriptions.abandon(this.#life.isClosing ? undefined : error);
    this.#settings.deadlines.stopAll(error);
  }

  async #list<K extends keyof KnownLists>(kind: K, options?: CallOptions): Promise<Required<KnownLists>[K]> {
    const { changes } = this.#inbox;
    const list = await this.#caller.inScope({ method: LIST_METHODS[kind], options }, (scope) =>
      readList(kind, this.#reading(scope)),
    );
    if (changes === this.#inbox.changes) this.#inbox.known[kind] = list;
    return list;
  }

  #reading(scope: CallScope): ListReading {
    const { logger } = this.#settings;
    return { conversation: this.#conversation, cache: this.#cache, scope, server: this.server, logger };
  }

  async #loadTools(scope: CallScope): Promise<Tool[]> {
    const conversation = this.#conversation;
    const { changes } = this.#inbox;
    const listed = await readList("tools", this.#reading(scope));
    // The rules for headers bind HTTP clients of modern servers; a pipe has no headers to break.
    const strict = conversation.peer.kind === "http" && this.era === "modern";
    conversation.tools = new Map();
    const tools = listed.filter((tool) => {
      const { facts, reason } = factsOf(tool, strict);
      if (reason !== undefined) {
        this.#settings.logger.warn(`tool "${tool.name}" of "${this.server}" is left out: ${reason}`);
        return false;
      }
      if (facts !== UNKNOWN_TOOL) conversation.tools.set(tool.name, facts);
      return true;
    });
    if (changes === this.#inbox.changes) this.#inbox.known.tools = tools;
    return tools;
  }

  /** The server says that what is known of its tools is wrong. */
  async #reloadTools(scope: CallScope): Promise<void> {
    this.#cache.invalidate("notifications/tools/list_changed");
    await this.#loadTools(scope);
  }

  async #taskFacts(name: string): Promise<ToolFacts> {
    const tasks = this.serverCapabilities?.["tasks"] as { requests?: { tools?: { call?: unknown } } } | undefined;
    if (!tasks?.requests?.tools?.call) return UNKNOWN_TOOL;
    if (!this.known.tools) await this.listTools();
    return this.#conversation.tools.get(name) ?? UNKNOWN_TOOL;
  }

  /** Only legacy servers on HTTP have something to say outside a request. */
  #listen(): void {
    const { peer, agreement } = this.#conversation;
    const { logger } = this.#settings;
    this.#life.stream?.abandon();
    if (agreement.era !== "legacy" || !peer.http) return;
    this.#life.stream = new ResumableStream({
      channel: peer.http,
      headers: () => peer.standingHeaders,
      maxFailures: Infinity,
      maxGoneMs: Infinity,
      onGivenUp: (end, wasOpen) => {
        // A server without such a stream may answer 404 as well; only one that had it has forgotten the session.
        const isForgotten =
          wasOpen &&
          agreement.sessionId !== undefined &&
          end.kind === "refused" &&
          isSessionForgotten({ status: end.status, rpc: end.rpc, text: end.body });
        if (isForgotten) this.#conversation.renew(agreement).catch((error: unknown) => logger.warn(messageOf(error)));
        else logger.debug(`"${this.server}" has no stream of its own`);
      },
    });
  }

  #renew(): Promise<Agreement> {
    this.#settings.logger.info(`"${this.server}" forgot its session; opening a new one`);
    return initialize(this.#conversation.peer, introduce(this.#settings, this.#caller.desk, undefined));
  }

  /** What the forgotten session knew is told to the new one. */
  async #restore(): Promise<void> {
    this.#listen();
    const level = this.#life.logLevel;
    const told = level ? this.request("logging/setLevel", { level }) : Promise.resolve();
    for (const done of await Promise.allSettled([told, this.#subscriptions.renewed()])) {
      if (done.status === "rejected")
        this.#settings.logger.warn(`a renewed session lacks something: ${messageOf(done.reason)}`);
    }
  }
}

interface Beginning {
  transport: Transport;
  desk: InputDesk;
  inbox: Inbox;
  settings: Settings;
}

interface ClientParts {
  verdict: Verdict;
  caller: Caller;
  conversation: Conversation;
  settings: Settings;
  inbox: Inbox;
  cache: ResponseCache;
  subscriptions: Subscriptions;
  announcesRoots: boolean;
  life: Life;
}

/** What changes in the life of a connection, for everybody who uses it. */
interface Life {
  /** Of a legacy session. */
  logLevel?: LogLevel;
  stream?: ResumableStream;
  closing?: Promise<void>;
  isClosing: boolean;
}

function isAtLeastAsLoud(level: LogLevel, wanted: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(wanted);
}

/** Whose answers they are matters only where others' are kept beside them. */
function openCache({ cache, principal, logger }: Settings, transport: Transport): ResponseCache {
  if (!cache) return new ResponseCache(new MemoryCache(), { server: "", principal: "" }, logger);
  const { server, principal: credential } = transport.identity ?? { server: crypto.randomUUID(), principal: "" };
  return new ResponseCache(cache, { server, principal: principal ?? credential }, logger);
}
