import { checkOptions } from "../errors/check-options.ts";
import { nearestName } from "../text/nearest-name.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import { INVALID_PARAMS, type Params, type Result } from "../protocol/json-rpc.ts";
import { withContent } from "../protocol/legacy.ts";
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  Implementation,
  LogLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Root,
  ServerCapabilities,
  Tool,
} from "../protocol/mcp.ts";
import type { Interests } from "../protocol/interests.ts";
import { LIST_METHODS } from "../protocol/methods.ts";
import { atLeast, type Era } from "../protocol/revisions.ts";
import type { CloseReason, Transport } from "../transport/transport.ts";
import type { ChangeListener } from "./changes/feed.ts";
import type { Subscription } from "./changes/subscriptions.ts";
import { DEFAULT_RETRY } from "./conversation/retry.ts";
import { CLIENT_OPTIONS, type ClientOptions } from "./client-settings.ts";
import type { CallOptions } from "./conversation/call-scope.ts";
import type { Requester } from "./conversation/requester.ts";
import type { Conversation } from "./conversation/conversation.ts";
import type { NotificationListener } from "./conversation/inbox.ts";
import type { InputProvider } from "./conversation/input.ts";
import type { KnownLists } from "./conversation/lists.ts";
import type { Verdict } from "./conversation/negotiate.ts";
import { UNKNOWN_TOOL, type ToolFacts } from "./conversation/tool-facts.ts";
import { LiveConversation } from "./live-conversation.ts";
import { Skills } from "./skills.ts";
import { Tasks, type TaskOptions } from "./tasks.ts";

export interface CallToolOptions extends CallOptions {
  /** Run the call as a task if the server supports it, and wait for its result. */
  task?: true | Pick<TaskOptions, "ttlMs" | "onStatus"> | undefined;
}

/** One conversation with one server of any revision. */
export class Client implements AsyncDisposable {
  readonly verdict: Verdict;
  readonly server: string;
  readonly #live: LiveConversation;
  readonly #conversation: Conversation;
  readonly #requester: Requester;
  #tasks: Tasks | undefined;
  #skills: Skills | undefined;

  /** Connects and detects the era. The client is ready for calls when this resolves. */
  static async open(transport: Transport, options: ClientOptions = {}): Promise<Client> {
    checkOptions("Client.open", options, CLIENT_OPTIONS);
    if (options.retry) checkOptions("retry", options.retry, DEFAULT_RETRY);
    const live = await LiveConversation.open(transport, options);
    return new Client(live, live.requester);
  }

  private constructor(live: LiveConversation, requester: Requester) {
    const { verdict, settings, conversation } = live;
    this.server = settings.server;
    this.verdict = verdict;
    this.#live = live;
    this.#conversation = conversation;
    this.#requester = requester;
  }

  /** Tasks: work that continues at the server after the call has returned. */
  get tasks(): Tasks {
    const { logger } = this.#live.settings;
    return (this.#tasks ??= new Tasks(this.#requester, (name) => this.takesTask(name), logger));
  }

  /** Skills that the server offers: instructions for agents. Their files are checked when they are read. */
  get skills(): Skills {
    return (this.#skills ??= new Skills(this.#requester));
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

  /** Undefined if a modern revision was pinned, because the server was not asked. */
  get serverCapabilities(): ServerCapabilities | undefined {
    return this.#conversation.agreement.capabilities;
  }

  get instructions(): string | undefined {
    return this.#conversation.agreement.instructions;
  }

  /** The last lines that the server's process wrote to stderr. */
  get stderr(): readonly string[] {
    return this.#conversation.peer.child?.stderr() ?? [];
  }

  /** Whether the server runs in the same process. */
  get isInProcess(): boolean {
    return this.#conversation.peer.kind === "memory";
  }

  get pid(): number | undefined {
    return this.#conversation.peer.child?.pid;
  }

  /** Settles when the connection has ended, for any reason. */
  get closed(): Promise<CloseReason> {
    return this.#conversation.peer.closed;
  }

  /** Why the connection has ended; undefined while it is open. */
  get lost(): NexusError | undefined {
    return this.#conversation.peer.gone;
  }

  /** The lists as last read; cleared when the server reports a change. */
  get known(): Readonly<KnownLists> {
    return this.#live.inbox.known;
  }

  /** Roots from the server's entry; they are answered without the input provider. */
  get roots(): readonly Root[] | undefined {
    return this.#requester.desk.roots;
  }

  /** Whether a server of 2025-11-25 runs this tool only as a task. */
  async needsTask(tool: string): Promise<boolean> {
    return this.era === "legacy" && (await this.#taskFacts(tool)).needsTask;
  }

  /** Whether a server of 2025-11-25 can run this tool as a task. */
  async takesTask(tool: string): Promise<boolean> {
    return this.era === "legacy" && (await this.#taskFacts(tool)).takesTasks;
  }

  /** Sends one request and returns its result unchanged, including `input_required`. */
  request(method: string, params?: Params, options?: CallOptions): Promise<Result> {
    return this.#requester.request({ method, params, options });
  }

  /** Sends a request and answers the server's questions until the result is complete. */
  call(method: string, params: Params, options?: CallOptions): Promise<Result> {
    return this.#requester.rounds({ method, params, options });
  }

  /** Rejects if the server did not accept it. */
  async notify(method: string, params?: Params, options?: CallOptions): Promise<void> {
    const { peer } = this.#conversation;
    await this.#requester.inScope({ method, params, options }, (scope) => peer.notify(method, params, { scope }));
  }

  /** Reads all pages. Tools that HTTP clients must not offer are skipped with a warning. */
  listTools(options?: CallOptions): Promise<Tool[]> {
    return this.#requester.inScope({ method: "tools/list", options }, (scope) => this.#live.lists.readTools(scope));
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

  /** The items of a list that was read here, as the server sent them: nothing in them is repaired or left out. */
  asReceived(list: readonly object[]): readonly unknown[] {
    return this.#live.lists.receivedFor(list);
  }

  /** The tools that a list which was read here does not show, and that searching finds: of an API in this process. */
  searchedIn(list: readonly Tool[]): readonly Tool[] {
    return this.#live.lists.searchedFor(list);
  }

  /**
   * An error of the tool is a result with `isError`, not an exception. With `task`, waits for the task if the server
   * creates one.
   */
  async callTool<T = Record<string, unknown>>(
    name: string,
    args?: object,
    options?: CallToolOptions,
  ): Promise<CallToolResult<T>> {
    if (typeof name !== "string") throw wrongForm("callTool", "the name and the arguments", name, ", { … }");
    if (options?.task) {
      const task = options.task === true ? options : { ...options, ...options.task };
      return (await this.tasks.run(name, args, task)) as CallToolResult<T>;
    }
    // Some servers refuse a call without `arguments`, even if none is required.
    const params = { name, arguments: args ?? {} };
    try {
      const result = await this.#requester.rounds({ method: "tools/call", params, options });
      return (this.era === "legacy" ? withContent(result) : result) as CallToolResult<T>;
    } catch (error) {
      throw this.#withToolHint(error, name);
    }
  }

  /** Adds a hint with similar names if the server refuses a tool that it does not list. */
  #withToolHint(error: unknown, name: string): unknown {
    const isRefused = error instanceof NexusError && error.details.rpc?.code === INVALID_PARAMS;
    const names = this.known.tools?.map((tool) => tool.name);
    if (!isRefused || names?.includes(name)) return error;
    const near = names && nearestName(name, names);
    const meant = near === undefined ? "" : `Did you mean "${near}"? `;
    return error.with({ hint: `${meant}listTools() lists the tools of the server.` });
  }

  async readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    if (typeof uri !== "string") throw wrongForm("readResource", "the URI", uri);
    const [method, params] = ["resources/read", { uri }];
    const cached = options?.fresh ? undefined : await this.#live.cache.find(method, params);
    if (cached) return cached as ReadResourceResult;
    const ask = async () => {
      let cacheable = true;
      const result = await this.#requester.rounds({ method, params, options }, () => (cacheable = false));
      return { result, cacheable };
    };
    return (await this.#live.cache.load(method, params, ask)) as ReadResourceResult;
  }

  async getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult> {
    if (typeof name !== "string") throw wrongForm("getPrompt", "the name and the arguments", name, ", { … }");
    const params = { name, arguments: args ?? {} };
    return (await this.#requester.rounds({ method: "prompts/get", params, options })) as GetPromptResult;
  }

  /** Suggestions for an argument of a prompt or a variable of a resource template. */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    options: CallOptions & { context?: { arguments: Record<string, string> } } = {},
  ): Promise<CompleteResult> {
    // Before 2025-03-26 there was the method, but no capability to declare it.
    if (atLeast(this.protocolVersion, "2025-03-26")) this.#requester.require("completions", "completion/complete");
    const { context, ...rest } = options;
    const params = context ? { ref, argument, context } : { ref, argument };
    return (await this.request("completion/complete", params, rest)) as CompleteResult;
  }

  /** Sets the minimum level of the log messages that the server sends. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    this.#requester.require("logging", "logging/setLevel");
    const { sharedClient } = this.#requester;
    if (this.era === "modern") {
      (sharedClient ?? this.#conversation).logLevel = level;
      return;
    }
    const send = () => this.request("logging/setLevel", { level }, options);
    await this.#live.setLegacyLogLevel(level, { isShared: sharedClient !== undefined, send });
  }

  /** Checks that the server answers. Modern revisions have no `ping`; they receive `server/discover`. */
  async ping(options?: CallOptions): Promise<void> {
    await this.request(this.era === "modern" ? "server/discover" : "ping", undefined, options);
  }

  /** Whether the server can learn on this connection that there are other roots: a legacy one is told at the start only. */
  get takesRoots(): boolean {
    return this.era === "modern" || this.#live.announcesRoots;
  }

  /** Replaces the roots and notifies a legacy server. */
  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#requester.desk.roots = roots;
    // The roots of the other clients do not change.
    if (this.#requester.sharedClient) return;
    this.#conversation.capabilitiesChanged();
    if (this.#live.announcesRoots) await this.notify("notifications/roots/list_changed");
  }

  /** Reports changes of lists, resources and tasks, in both eras. */
  async subscribe(interests: Interests, listener: ChangeListener): Promise<Subscription> {
    const subscription = await (await this.#live.subscriptions()).open(interests, listener);
    this.#requester.sharedClient?.undoLater(() => subscription.close());
    return subscription;
  }

  /** Calls the listener for every notification of the server; the returned function removes it. */
  onNotification(listener: NotificationListener): () => void {
    this.#live.inbox.listeners.add(listener);
    const stop = () => this.#live.inbox.listeners.delete(listener);
    const forget = this.#requester.sharedClient?.undoLater(stop);
    return () => {
      stop();
      forget?.();
    };
  }

  /**
   * Returns a client that uses the same connection. `input` answers the server's questions during its calls. Its roots
   * and log level are separate. Closing it ends its calls and subscriptions; the connection stays open.
   */
  answeredBy(input: InputProvider): Client {
    return new Client(this.#live, this.#requester.answeredBy(input));
  }

  /** Closes the connection and stops the server's process, within five seconds. */
  close(): Promise<void> {
    return this.#requester.sharedClient ? this.#requester.sharedClient.close() : this.#live.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #list<K extends keyof KnownLists>(kind: K, options?: CallOptions): Promise<Required<KnownLists>[K]> {
    return this.#requester.inScope({ method: LIST_METHODS[kind], options }, (scope) =>
      this.#live.lists.read(kind, scope),
    );
  }

  async #taskFacts(name: string): Promise<ToolFacts> {
    const tasks = this.serverCapabilities?.["tasks"] as { requests?: { tools?: { call?: unknown } } } | undefined;
    if (!tasks?.requests?.tools?.call) return UNKNOWN_TOOL;
    if (!this.known.tools) await this.listTools();
    return this.#conversation.tools.get(name) ?? UNKNOWN_TOOL;
  }
}

/** For the form of other libraries, which pass one object: `callTool({ name })`. */
function wrongForm(method: string, takes: string, given: unknown, rest = ""): NexusError {
  const named = isRecord(given) ? (given["name"] ?? given["uri"]) : undefined;
  const shown = JSON.stringify(typeof named === "string" ? named : "name");
  return new NexusError("ARGUMENTS_INVALID", `${method} takes ${takes}: ${method}(${shown}${rest})`, {
    hint: "Its first argument is a text.",
    mayHaveReached: false,
  });
}
