import { NexusError } from "../errors/nexus-error.ts";
import type { Notification, Params, Result } from "../protocol/json-rpc.ts";
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  Implementation,
  LogLevel,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Root,
  ServerCapabilities,
  Tool,
} from "../protocol/mcp.ts";
import { atLeast, type Era } from "../protocol/revisions.ts";
import { VERSION } from "../protocol/version.ts";
import type { CloseReason, Transport } from "../transport/transport.ts";
import { CallScope, DEFAULT_TIMEOUT_MS, type CallOptions } from "./call-scope.ts";
import { Conversation } from "./conversation.ts";
import { Deadlines } from "./deadlines.ts";
import { initialize, type Introduction } from "./handshake.ts";
import { InputDesk, type InputProvider } from "./input.ts";
import { forgetLists, LISTS, readList, type KnownLists } from "./lists.ts";
import { SILENT, type Logger } from "./logger.ts";
import { negotiate, type Verdict } from "./negotiate.ts";
import { Peer, type PeerListener } from "./peer.ts";
import { Questions } from "./questions.ts";
import { DEFAULT_RETRY, type RetrySettings } from "./retry.ts";
import { runRounds } from "./rounds.ts";
import { ResumableStream } from "./resumable-stream.ts";
import { factsOf } from "./tool-facts.ts";

export interface ClientOptions {
  /** How errors and questions name the server. */
  server?: string | undefined;
  /** Answers the server's questions. */
  input?: InputProvider | undefined;
  /** Answered without asking the provider. */
  roots?: readonly Root[] | undefined;
  clientInfo?: Implementation | undefined;
  /** Use this revision and ask nothing. */
  protocolVersion?: string | undefined;
  /** The era as known from an earlier time. */
  era?: Era | undefined;
  /** Of a call: 30 seconds. */
  timeoutMs?: number | undefined;
  /** Of connecting: 30 seconds. */
  connectTimeoutMs?: number | undefined;
  /** How long a child may be silent on the era probe: 2 seconds. */
  probeTimeoutMs?: number | undefined;
  retry?: Partial<RetrySettings> | undefined;
  /** Rounds of questions that one call may have: 50. */
  maxRounds?: number | undefined;
  logger?: Logger | undefined;
  /** Abandons connecting. */
  signal?: AbortSignal | undefined;
  /** Hears notifications from the first one on. */
  onNotification?: NotificationListener | undefined;
}

/** `method` and `params` of a notification, exactly as the server sent them. */
export type NotificationListener = (notification: Notification) => void;

/** One conversation with one server, of whatever revision. */
export class Client implements AsyncDisposable {
  readonly verdict: Verdict;
  readonly server: string;
  readonly #conversation: Conversation;
  readonly #desk: InputDesk;
  readonly #settings: Settings;
  readonly #listeners: Set<NotificationListener>;
  readonly #questions: Questions;
  readonly #known: KnownLists;
  #stream: ResumableStream | undefined;
  #closing: Promise<void> | undefined;

  /** Connects, finds the era, and is ready for calls when it resolves. */
  static async open(transport: Transport, options: ClientOptions = {}): Promise<Client> {
    const settings = settingsOf(options);
    const desk = new InputDesk(settings.server, options.input, options.roots);
    const questions = new Questions(desk);
    const listeners = new Set(options.onNotification ? [options.onNotification] : []);
    const known: KnownLists = {};
    let peer: Peer | undefined;
    const listener: PeerListener = {
      request: (request, scope) => {
        if (peer) void questions.answer(peer, request, scope);
      },
      notification: (notification, scope) => {
        if (notification.method === "notifications/progress") reportProgress(notification, scope);
        else if (notification.method === "notifications/cancelled")
          questions.withdraw(notification.params?.["requestId"]);
        else forgetLists(known, notification.method);
        for (const each of listeners) guard(() => each(notification), settings.logger);
      },
    };
    const introduction = introduce(settings, desk, options.signal);
    try {
      const negotiated = await negotiate({
        transport,
        open: async (way) => {
          peer = await withinTime(introduction, (signal) =>
            Peer.open(way, listener, { logger: settings.logger, signal }),
          );
          return peer;
        },
        introduction,
        pinned: options.protocolVersion,
        era: options.era,
        probeMs: settings.probeMs,
        retry: settings.retry,
      });
      return new Client({ ...negotiated, desk, questions, listeners, known, settings });
    } catch (error) {
      settings.deadlines.close();
      throw error instanceof NexusError ? error.with({ server: settings.server, phase: "handshake" }) : error;
    }
  }

  private constructor({ peer, agreement, verdict, desk, questions, listeners, known, settings }: ClientParts) {
    this.server = settings.server;
    this.verdict = verdict;
    this.#desk = desk;
    this.#questions = questions;
    this.#listeners = listeners;
    this.#known = known;
    this.#settings = settings;
    this.#conversation = new Conversation(peer, agreement, {
      clientInfo: settings.clientInfo,
      capabilities: (provider) => desk.capabilities(provider),
      retry: settings.retry,
      renew: () => this.#renew(),
      reloadTools: (scope) => this.#reloadTools(scope),
    });
    this.#listen();
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

  get pid(): number | undefined {
    return this.#conversation.peer.child?.pid;
  }

  /** Settles when the connection is gone, whoever ended it. */
  get closed(): Promise<CloseReason> {
    return this.#conversation.peer.closed;
  }

  get known(): Readonly<KnownLists> {
    return this.#known;
  }

  /** One exchange; the result as it came, `input_required` included. */
  async request(method: string, params?: Params, options?: CallOptions): Promise<Result> {
    return this.#inScope(method, params, options, (scope) => this.#conversation.exchange(method, params, scope));
  }

  async notify(method: string, params?: Params): Promise<void> {
    await this.#conversation.peer.notify(method, params);
  }

  /** Every page. Tools that HTTP clients must not offer are left out, with a warning that says why. */
  async listTools(options?: CallOptions): Promise<Tool[]> {
    return this.#inScope("tools/list", undefined, options, (scope) => this.#reloadTools(scope));
  }

  async listResources(options?: CallOptions): Promise<Resource[]> {
    return this.#list("resources", options);
  }

  async listResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return this.#list("resourceTemplates", options);
  }

  async listPrompts(options?: CallOptions): Promise<Prompt[]> {
    return this.#list("prompts", options);
  }

  /** A tool's own failure is a result with `isError`, not an exception. */
  async callTool(name: string, args?: Params, options?: CallOptions): Promise<CallToolResult> {
    const params = args === undefined ? { name } : { name, arguments: args };
    return (await this.#rounds("tools/call", params, options)) as CallToolResult;
  }

  async readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    return (await this.#rounds("resources/read", { uri }, options)) as ReadResourceResult;
  }

  async getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult> {
    const params = args === undefined ? { name } : { name, arguments: args };
    return (await this.#rounds("prompts/get", params, options)) as GetPromptResult;
  }

  /** Suggestions for an argument of a prompt or a variable of a resource template. */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    options: CallOptions & { context?: { arguments: Record<string, string> } } = {},
  ): Promise<CompleteResult> {
    // Before 2025-03-26 there was the method, but no capability to declare it.
    if (atLeast(this.protocolVersion, "2025-03-26")) this.#require("completions", "completion/complete");
    const { context, ...rest } = options;
    const params = context ? { ref, argument, context } : { ref, argument };
    return (await this.request("completion/complete", params, rest)) as CompleteResult;
  }

  /** Which log messages the server sends from now on. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    this.#require("logging", "logging/setLevel");
    if (this.era === "modern") this.#conversation.logLevel = level;
    else await this.request("logging/setLevel", { level }, options);
  }

  /** Is the server there? Modern revisions have no `ping`; they are asked what they are. */
  async ping(options?: CallOptions): Promise<void> {
    await this.request(this.era === "modern" ? "server/discover" : "ping", undefined, options);
  }

  /** Replaces the roots given at the start, and tells a legacy server. */
  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#desk.roots = roots;
    if (this.era === "legacy" && this.#desk.capabilities().roots) await this.notify("notifications/roots/list_changed");
  }

  /** Hears every notification of the server; call what it returns to stop. */
  onNotification(listener: NotificationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the conversation and what was started for it, within five seconds. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#questions.close();
    this.#stream?.abandon();
    await this.#conversation.peer.close();
    this.#settings.deadlines.close();
  }

  async #rounds(method: string, params: Params, options: CallOptions | undefined): Promise<Result> {
    return this.#inScope(method, params, options, (scope) =>
      runRounds(params, {
        exchange: (full) => this.#conversation.exchange(method, full, scope),
        desk: this.#desk,
        scope,
        maxRounds: this.#settings.maxRounds,
      }),
    );
  }

  async #inScope<T>(
    method: string,
    params: Params | undefined,
    options: CallOptions | undefined,
    run: (scope: CallScope) => Promise<T>,
  ): Promise<T> {
    const scope = new CallScope({ method, params }, options ?? {}, this.#settings);
    try {
      return await run(scope);
    } catch (error) {
      throw error instanceof NexusError ? error.with({ server: this.server, method, phase: "request" }) : error;
    } finally {
      scope.finish();
    }
  }

  async #list<K extends keyof KnownLists>(kind: K, options?: CallOptions): Promise<Required<KnownLists>[K]> {
    const list = await this.#inScope(LISTS[kind].method, undefined, options, (scope) =>
      readList(kind, this.#conversation, scope),
    );
    this.#known[kind] = list;
    return list;
  }

  async #reloadTools(scope: CallScope): Promise<Tool[]> {
    const conversation = this.#conversation;
    const listed = await readList("tools", conversation, scope);
    // The rules for headers bind HTTP clients of modern servers; a pipe has no headers to break.
    const strict = conversation.peer.kind === "http" && this.era === "modern";
    conversation.tools = new Map();
    const tools = listed.filter((tool) => {
      const { facts, reason } = factsOf(tool);
      if (strict && reason !== undefined) {
        this.#settings.logger.warn(`tool "${tool.name}" of "${this.server}" is left out: ${reason}`);
        return false;
      }
      conversation.tools.set(tool.name, facts);
      return true;
    });
    return (this.#known.tools = tools);
  }

  #require(capability: keyof ServerCapabilities, method: string): void {
    const declared = this.serverCapabilities;
    if (!declared || declared[capability]) return;
    throw new NexusError("CAPABILITY_MISSING", `Server "${this.server}" does not offer ${method}`, {
      server: this.server,
      method,
      mayHaveReached: false,
      hint: `It declares: ${Object.keys(declared).join(", ") || "nothing"}.`,
    });
  }

  /** Only legacy servers on HTTP have something to say outside a request. */
  #listen(): void {
    const { peer, agreement } = this.#conversation;
    this.#stream?.abandon();
    if (agreement.era !== "legacy" || !peer.http) return;
    this.#stream = new ResumableStream({
      channel: peer.http,
      headers: () => peer.sessionHeaders,
      maxFailures: Infinity,
      onGivenUp: (end) => this.#settings.logger.debug(`"${this.server}" has no stream of its own`, { end }),
    });
  }

  async #renew() {
    const { peer } = this.#conversation;
    this.#settings.logger.info(`"${this.server}" forgot its session; opening a new one`);
    peer.sessionHeaders = {};
    const agreement = await initialize(peer, introduce(this.#settings, this.#desk, undefined));
    this.#listen();
    return agreement;
  }
}

interface Settings {
  server: string;
  clientInfo: Implementation;
  timeoutMs: number;
  connectTimeoutMs: number;
  probeMs: number;
  maxRounds: number;
  retry: RetrySettings;
  logger: Logger;
  /** Of this client's calls. */
  deadlines: Deadlines;
}

type ClientParts = Awaited<ReturnType<typeof negotiate>> & {
  desk: InputDesk;
  questions: Questions;
  listeners: Set<NotificationListener>;
  known: KnownLists;
  settings: Settings;
};

function settingsOf(options: ClientOptions): Settings {
  return {
    server: options.server ?? "server",
    clientInfo: options.clientInfo ?? { name: "nexus-mcp", version: VERSION },
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    probeMs: options.probeTimeoutMs ?? 2_000,
    maxRounds: options.maxRounds ?? 50,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    logger: options.logger ?? SILENT,
    deadlines: new Deadlines(),
  };
}

function introduce(settings: Settings, desk: InputDesk, signal: AbortSignal | undefined): Introduction {
  const { clientInfo, connectTimeoutMs, deadlines } = settings;
  const deadline = performance.now() + connectTimeoutMs;
  return { clientInfo, capabilities: desk.capabilities(), deadline, signal, deadlines };
}

/** For what has no scope yet: a signal that fires when the caller, or the time for connecting, says so. */
async function withinTime<T>({ deadline, signal }: Introduction, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const giveUp = () => late.abort(new NexusError("TIMEOUT", "The server did not take the connection in time"));
  const cancel = () => late.abort(new NexusError("CANCELLED", "Connecting was cancelled", { cause: signal?.reason }));
  const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await run(late.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function reportProgress({ params }: Notification, scope: CallScope | undefined): void {
  if (!scope || typeof params?.["progress"] !== "number") return;
  scope.touch();
  scope.options.onProgress?.(params as unknown as Progress);
}

/** A listener that throws must not take the connection with it. */
function guard(run: () => void, logger: Logger): void {
  try {
    run();
  } catch (error) {
    logger.error("a notification listener threw", { error });
  }
}
