import { join } from "node:path";
import type { CallOptions } from "../client/call-scope.ts";
import type { CallToolOptions } from "../client/client.ts";
import type { InputProvider } from "../client/input.ts";
import { SILENT, type Logger } from "../client/logger.ts";
import { defineServers, loadConfiguration, type Configuration, type LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { ConfigurationWatcher } from "../config/watch.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../protocol/mcp.ts";
import type { ServerEntry } from "../transport/server-entry.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import { DEFAULT_BACKOFF, type BackoffSettings } from "./backoff.ts";
import { FileEraCache, type EraCache } from "./era-cache.ts";
import { loadOptions } from "./load-options.ts";
import { modelName, resolveName } from "./names.ts";
import { decide, isVisible, type Decision, type PolicySettings } from "./policy.ts";
import type { ServerState } from "./server-state.ts";
import { ServerSupervisor, type Lease, type LeaseRequest } from "./server-supervisor.ts";
import { ServerConnector } from "./server-connector.ts";
import { defaultStateFolder } from "./state-folder.ts";

export interface HostOptions {
  /** Servers by id, as in a configuration file; then no file is read. */
  servers?: Readonly<Record<string, HostEntry>> | undefined;
  /** This file alone, which is trusted because it was named. Without it and `servers`, all layers are read. */
  config?: string | undefined;
  /** Where the project is looked for; the working folder unless given. */
  cwd?: string | undefined;
  /** Trust the project's files for this run. */
  trust?: boolean | undefined;
  /** Go on reading the files when they change. */
  watch?: boolean | undefined;
  /** Answers `${input:id}` in entries. */
  askInput?: LoadOptions["askInput"];
  /** Answers the servers' questions. */
  input?: InputProvider | undefined;
  policy?: PolicySettings | undefined;
  logger?: Logger | undefined;
  /** Where logs and eras are kept; a place of the platform's unless given. */
  stateFolder?: string | undefined;
  eraCache?: EraCache | undefined;
  backoff?: Partial<BackoffSettings> | undefined;
  /** Servers that start at the same time: 8. */
  startAtOnce?: number | undefined;
  /** How long an owner's connection is kept after its last use: 5 minutes. */
  idleMs?: number | undefined;
  /** Connections of one server: 32. */
  maxConnections?: number | undefined;
}

/** An entry with what only a host looks at. */
export interface HostEntry extends ServerEntry {
  enabled?: boolean | undefined;
  disabled?: boolean | undefined;
  auto_start?: boolean | undefined;
  fail_if_no_tools?: boolean | undefined;
  tools?: { allow?: readonly string[]; deny?: readonly string[] } | undefined;
  isolation?: "owner" | "call" | "shared" | undefined;
}

/** A tool of some server, named for a model. */
export interface HostTool {
  /** `mcp__server__tool`. */
  name: string;
  server: string;
  tool: Tool;
}

/** For whom something is listed or done; servers that are shared with some agents are seen by no others. */
export interface ForAgent {
  agent?: string | undefined;
}

export interface ServerStatus {
  id: string;
  state: ServerState;
  definition: ServerDefinition;
}

export type HostEvent =
  | { kind: "state"; server: string; state: ServerState }
  /** What a server offers changed. */
  | { kind: "lists"; server: string };

/** Many servers, kept running, as one set. One that fails concerns nobody but its own callers. */
export class Host implements AsyncDisposable {
  readonly #options: HostOptions;
  readonly #surroundings: Surroundings;
  readonly #supervisors = new Map<string, ServerSupervisor>();
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #connector: ServerConnector;
  readonly #logger: Logger;
  /** What was read, with warnings; undefined for servers given by a program. */
  configuration: Configuration | undefined;
  #watcher: ConfigurationWatcher | undefined;
  #starting: Promise<unknown> = Promise.resolve();
  #setting: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** Returns as soon as it is known what there is to run; `ready()` waits for it to run. */
  static async start(options: HostOptions, surroundings: Surroundings): Promise<Host> {
    const host = new Host(options, surroundings);
    await host.#connector.sweep();
    await (options.servers ? host.setServers(options.servers) : host.#followFiles());
    return host;
  }

  private constructor(options: HostOptions, surroundings: Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#logger = options.logger ?? SILENT;
    const stateFolder = this.#stateFolder;
    this.#connector = new ServerConnector({
      surroundings,
      stateFolder,
      eras: options.eraCache ?? new FileEraCache(join(stateFolder, "eras.json")),
      atOnce: options.startAtOnce ?? 8,
      logger: this.#logger,
    });
  }

  /** Every server that starts by itself is connected, or has failed. */
  async ready(): Promise<void> {
    await this.#starting;
  }

  servers(): ServerStatus[] {
    return [...this.#supervisors.values()].map(({ definition, state }) => ({ id: definition.id, state, definition }));
  }

  /** What is known now, in the order of the configuration, as far as this agent may use it. */
  tools({ agent }: ForAgent = {}): HostTool[] {
    return this.#running(agent).flatMap(({ definition: { id }, lists }) =>
      lists.tools
        .filter((tool) => this.#decide(id, tool, agent).kind !== "denied")
        .map((tool) => ({ name: modelName(id, tool.name), server: id, tool })),
    );
  }

  resources({ agent }: ForAgent = {}): { server: string; resource: Resource }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.resources.map((resource) => ({ server, resource })),
    );
  }

  templates({ agent }: ForAgent = {}): { server: string; template: ResourceTemplate }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.templates.map((template) => ({ server, template })),
    );
  }

  prompts({ agent }: ForAgent = {}): { server: string; name: string; prompt: Prompt }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.prompts.map((prompt) => ({ server, name: prompt.name, prompt })),
    );
  }

  /** Finds a tool by any of its names; connects a server that has not been used yet, if it is the one named. */
  async getTool(name: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<HostTool> {
    await this.#wake(name, signal);
    const { server, tool } = resolveName(name, this.#allTools(), "tool");
    return { name: modelName(server, tool.name), server, tool };
  }

  /** Calls a tool by name (`server.tool`, `mcp__server__tool`, `mcp:server.tool`) or as listed. */
  async callTool(
    target: string | HostTool,
    args?: object,
    options: CallToolOptions & ForAgent = {},
  ): Promise<CallToolResult> {
    const { server, tool: wanted } = typeof target === "string" ? await this.getTool(target, options) : target;
    // Policy judges by what the server said of its tool, never by what a caller says of it.
    const tool = this.#get(server).lists.findTool(wanted.name) ?? { name: wanted.name, inputSchema: {} };
    const asking = this.#permit({ server, tool, args, agent: options.agent });
    if (asking) await asking;
    const lease = await this.lease(server, requestFor(options.signal));
    try {
      return await lease.client.callTool(tool.name, args, options);
    } finally {
      lease.release();
    }
  }

  async readResource(server: string, uri: string, options: CallOptions & ForAgent = {}): Promise<ReadResourceResult> {
    this.#requireVisible(server, options.agent);
    using lease = await this.lease(server, requestFor(options.signal));
    return await lease.client.readResource(uri, options);
  }

  async getPrompt(
    name: string,
    args?: Record<string, string>,
    options: CallOptions & ForAgent = {},
  ): Promise<GetPromptResult> {
    await this.#wake(name, options.signal);
    const { server, prompt } = resolveName(name, this.prompts(options), "prompt");
    using lease = await this.lease(server, requestFor(options.signal));
    return await lease.client.getPrompt(prompt.name, args, options);
  }

  /** A connection to one server, to be given back. */
  lease(server: string, request: LeaseRequest = {}): Promise<Lease> {
    return this.#get(server).lease(request);
  }

  /** Runs these from now on: what is the same keeps its connection, what is gone is closed, what is new is started. */
  setServers(servers: Readonly<Record<string, HostEntry>> | readonly ServerDefinition[]): Promise<void> {
    // One after the other: the newest wish wins, not the one that was understood last.
    const done = this.#setting.then(() => this.#apply(servers));
    this.#setting = done.catch(() => {});
    return done;
  }

  async #apply(servers: Readonly<Record<string, HostEntry>> | readonly ServerDefinition[]): Promise<void> {
    const definitions = Array.isArray(servers)
      ? (servers as readonly ServerDefinition[])
      : await defineServers(servers, this.#loadOptions());
    if (this.#closing) throw new NexusError("CLOSED", "The host was closed", { mayHaveReached: false });
    const wanted = new Map(definitions.map((definition) => [definition.id, definition]));
    const gone = [...this.#supervisors].filter(([id, supervisor]) => {
      const definition = wanted.get(id);
      return !definition || !supervisor.adopt(definition);
    });
    for (const [id] of gone) this.#supervisors.delete(id);
    for (const definition of definitions) {
      if (!this.#supervisors.has(definition.id)) this.#supervisors.set(definition.id, this.#supervise(definition));
    }
    this.#inOrder(definitions);
    // Those that were switched on just now start, too; one that failed keeps to its own time.
    const waiting = [...this.#supervisors.values()].filter(({ state }) => state.kind === "idle");
    this.#starting = Promise.all([this.#starting, ...waiting.map((supervisor) => supervisor.start())]);
    await Promise.all(gone.map(([, supervisor]) => supervisor.close()));
  }

  /** Off: its tools are gone, its connection stays. On: they are back. */
  async toggle(server: string, enabled: boolean): Promise<void> {
    const supervisor = this.#get(server);
    supervisor.toggle(enabled);
    if (enabled) await supervisor.start();
  }

  /** Tries a failed server again now, or a degraded one's lists. */
  async retry(server: string): Promise<void> {
    await this.#get(server).retry();
  }

  /** Hears of every change; call what it returns to stop. */
  on(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#watcher?.close();
    await Promise.all([...this.#supervisors.values()].map((supervisor) => supervisor.close()));
  }

  /** Reads the configuration and, if that is wanted, goes on reading it. */
  async #followFiles(): Promise<void> {
    const { config, watch } = this.#options;
    const load = { ...this.#loadOptions(), explicit: config };
    const apply = async (configuration: Configuration) => {
      this.configuration = configuration;
      await this.setServers(configuration.servers);
    };
    if (watch) {
      this.#watcher = new ConfigurationWatcher({
        ...load,
        onChange: (changed) => {
          apply(changed).catch((error: unknown) =>
            this.#logger.warn(`the changed configuration was not applied: ${messageOf(error)}`),
          );
        },
        onError: (error) => this.#logger.warn(`the configuration could not be read again: ${messageOf(error)}`),
      });
    }
    const configuration = await loadConfiguration(load);
    const problem = config === undefined ? undefined : configuration.files[0]?.problem;
    if (problem) {
      this.#watcher?.close();
      throw problem;
    }
    await apply(configuration);
  }

  #loadOptions(): LoadOptions {
    const { cwd, trust, askInput } = this.#options;
    return loadOptions({ surroundings: this.#surroundings, stateFolder: this.#stateFolder, cwd, trust, askInput });
  }

  get #stateFolder(): string {
    return this.#options.stateFolder ?? defaultStateFolder(this.#surroundings);
  }

  /** Those that are switched on, and that this agent may see. */
  #running(agent: string | undefined): ServerSupervisor[] {
    const policy = this.#options.policy ?? {};
    return [...this.#supervisors.values()].filter(
      ({ enabled, definition }) => enabled && isVisible(policy, definition.id, agent),
    );
  }

  /** Whoever may see them: that is decided when one is called. */
  #allTools(): { server: string; name: string; tool: Tool }[] {
    const running = [...this.#supervisors.values()].filter(({ enabled }) => enabled);
    return running.flatMap(({ definition: { id: server }, lists }) =>
      lists.tools.map((tool) => ({ server, name: tool.name, tool })),
    );
  }

  #get(server: string): ServerSupervisor {
    const found = this.#supervisors.get(server);
    if (found) return found;
    throw new NexusError("NAME_UNKNOWN", `There is no server "${server}"`, {
      server,
      hint: `Configured are: ${[...this.#supervisors.keys()].join(", ") || "none"}.`,
      mayHaveReached: false,
    });
  }

  /** A server named at the beginning of a name is connected before the name is looked up. */
  async #wake(name: string, signal: AbortSignal | undefined): Promise<void> {
    const meant = [...this.#supervisors.values()].filter(({ definition: { id }, enabled, state }) => {
      const isNamed = [`${id}.`, `mcp:${id}.`, `mcp__${id}__`].some((prefix) => name.startsWith(prefix));
      return isNamed && enabled && state.kind !== "ready" && state.kind !== "degraded";
    });
    for (const supervisor of meant) (await supervisor.lease(requestFor(signal))).release();
  }

  #requireVisible(server: string, agent: string | undefined): void {
    if (isVisible(this.#options.policy ?? {}, server, agent)) return;
    throw new NexusError("DENIED", `Server "${server}" is not shared with this agent`, {
      server,
      mayHaveReached: false,
    });
  }

  #decide(server: string, tool: Tool, agent: string | undefined): Decision {
    const { definition } = this.#get(server);
    const target = { server, tool: tool.name, annotations: tool.annotations, own: definition.tools };
    return decide(this.#options.policy ?? {}, target, agent);
  }

  /** Throws where it is denied; a promise only where somebody has to be asked. */
  #permit(call: { server: string; tool: Tool; args: unknown; agent: string | undefined }): Promise<void> | undefined {
    const decision = this.#decide(call.server, call.tool, call.agent);
    if (decision.kind === "denied") throw refusal(call, decision.reason);
    return decision.kind === "needs-consent" ? this.#askConsent(call) : undefined;
  }

  async #askConsent(call: { server: string; tool: Tool; args: unknown; agent: string | undefined }): Promise<void> {
    const { server, tool, args, agent } = call;
    const request = { server, tool: tool.name, arguments: args, annotations: tool.annotations, agent };
    if (!(await this.#options.policy?.consent?.(request))) throw refusal(call, "consent was not given");
  }

  #supervise(definition: ServerDefinition): ServerSupervisor {
    const { id } = definition;
    return new ServerSupervisor(definition, {
      connect: (wanted, settings) => this.#connector.connect(wanted, settings),
      input: this.#options.input,
      backoff: { ...DEFAULT_BACKOFF, ...this.#options.backoff },
      idleMs: this.#options.idleMs ?? 300_000,
      maxConnections: this.#options.maxConnections ?? 32,
      logger: this.#logger,
      onState: (state) => this.#tell({ kind: "state", server: id, state }),
      onLists: () => this.#tell({ kind: "lists", server: id }),
    });
  }

  #tell(event: HostEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.error("a host listener threw", { error });
      }
    }
  }

  /** Lists follow the configuration, never who was ready first. */
  #inOrder(definitions: readonly ServerDefinition[]): void {
    const order = definitions.map(({ id }) => [id, this.#get(id)] as const);
    this.#supervisors.clear();
    for (const [id, supervisor] of order) this.#supervisors.set(id, supervisor);
  }
}

const NO_REQUEST: LeaseRequest = {};

function requestFor(signal: AbortSignal | undefined): LeaseRequest {
  return signal ? { signal } : NO_REQUEST;
}

function refusal({ server, tool }: { server: string; tool: Tool }, reason: string): NexusError {
  return new NexusError("DENIED", `"${tool.name}" of "${server}" may not be called: ${reason}`, {
    server,
    mayHaveReached: false,
  });
}
