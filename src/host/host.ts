import { join } from "node:path";
import { Turns } from "../async/turns.ts";
import type { CallOptions } from "../client/conversation/call-scope.ts";
import type { CancelSignal } from "../async/cancellation.ts";
import type { CallToolOptions } from "../client/client.ts";
import { guardedLogger, SILENT, type Logger } from "../text/logger.ts";
import type { Configuration, LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { serverId, withServerId } from "../config/read/server-id.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../protocol/mcp.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import { userFolders } from "../files/user-folders.ts";
import { DEFAULT_BACKOFF } from "../async/backoff.ts";
import { FileEraCache } from "./servers/era-cache.ts";
import { DEFAULT_SHARE } from "../async/fair-shares.ts";
import { defineHostServers } from "./define-host-servers.ts";
import type { HostOptions, HostServers } from "./host-options.ts";
import type { Lease, LeaseRequest } from "./servers/lease.ts";
import { loadOptions } from "./servers/load-options.ts";
import { GatewayChain } from "./servers/gateway-chain.ts";
import { beginsWithServer, modelName, resolveName, type Named } from "./directory/names.ts";
import { serverTarget, type AccessTarget } from "./directory/access-target.ts";
import { Policy } from "./directory/policy.ts";
import { ServerConnector } from "./servers/server-connector.ts";
import type { ServerState } from "./servers/server-state.ts";
import type { ServerSupervisor } from "./servers/server-supervisor.ts";
import { ServerSupervisors, type HostEvent } from "./servers/server-supervisors.ts";
import { trustOnce } from "./servers/trust-at-first-sight.ts";
import { WatchedConfiguration } from "./watched-configuration.ts";

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

/** What one server lists. */
export interface OfferedThings {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly prompts: readonly Prompt[];
}

const NOTHING: OfferedThings = { tools: [], resources: [], templates: [], prompts: [] };

export interface ServerStatus {
  id: string;
  state: ServerState;
  definition: ServerDefinition;
}

/** Many servers, kept running, as one set. One that fails concerns nobody but its own callers. */
export class Host implements AsyncDisposable {
  /** Who may see and use what: its own settings and the servers' entries together. */
  readonly policy: Policy;
  /** Which gateways it works for. */
  readonly chain: GatewayChain;
  readonly #options: HostOptions;
  readonly #load: LoadOptions;
  readonly #connector: ServerConnector;
  readonly #supervisors: ServerSupervisors;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #logger: Logger;
  /** What was read, with warnings; undefined for servers given by a program. */
  configuration: Configuration | undefined;
  #files: WatchedConfiguration | undefined;
  readonly #setting = new Turns();
  #closing: Promise<void> | undefined;

  /** Returns as soon as it is known what there is to run; `ready()` waits for it to run. */
  static async start(options: HostOptions, surroundings: Surroundings): Promise<Host> {
    const host = new Host(options, surroundings);
    await host.#connector.sweep();
    await (options.servers ? host.setServers(options.servers) : host.#followFiles());
    return host;
  }

  private constructor(options: HostOptions, surroundings: Surroundings) {
    const { cwd, askInput, stateFolder = userFolders(surroundings).state, timeoutMs } = options;
    const logger = guardedLogger(options.logger ?? SILENT);
    const patience = timeoutMs === undefined ? {} : { timeoutMs, connectTimeoutMs: timeoutMs };
    this.#options = options;
    this.#logger = logger;
    this.#load = loadOptions({ surroundings, stateFolder, cwd, askInput });
    this.policy = new Policy(options.policy ?? {}, (server) => this.#supervisors.find(server)?.definition.tools);
    this.chain = new GatewayChain(surroundings.variables);
    this.#connector = new ServerConnector({
      chain: this.chain,
      surroundings,
      stateFolder,
      eras: options.eraCache ?? new FileEraCache(join(stateFolder, "eras.json")),
      atOnce: options.startAtOnce ?? 8,
      logger,
      openApi: options.openApi,
      trust: options.trust ? trustOnce(this.#load.trust) : this.#load.trust,
    });
    this.#supervisors = new ServerSupervisors({
      connect: (definition, settings) => this.#connector.connect(definition, { ...patience, ...settings }),
      input: options.input,
      backoff: { ...DEFAULT_BACKOFF, ...options.backoff },
      idleMs: options.idleMs ?? 300_000,
      maxConnections: options.maxConnections ?? 32,
      maxOwnerConnections: options.maxOwnerConnections ?? 8,
      connectionShare: options.connectionShare ?? DEFAULT_SHARE,
      waitMs: options.connectionWaitMs ?? 10_000,
      healthCheckMs: options.healthCheckMs ?? 30_000,
      logger,
      tell: (event) => this.#tell(event),
    });
  }

  /** Every server that starts by itself is connected, or has failed. */
  ready(): Promise<void> {
    return this.#supervisors.started();
  }

  servers(): ServerStatus[] {
    return this.#supervisors.all().map(statusOf);
  }

  /** Undefined where there is no such server. */
  find(server: string): ServerStatus | undefined {
    const supervisor = this.#supervisors.find(server);
    return supervisor && statusOf(supervisor);
  }

  /** The id of the server whose tools and prompts have names that begin like this: with its id, or the prefix of its entry. */
  serverOfPrefix(prefix: string): string | undefined {
    return this.#supervisors.idOfPrefix(prefix);
  }

  /** What is known now, in the order of the configuration, as far as this agent may use it. */
  tools({ agent }: ForAgent = {}): HostTool[] {
    return this.#running(agent).flatMap(({ definition: { id: server, prefix = server }, lists }) =>
      lists.tools
        .filter((tool) => this.policy.allows(agent, toolTarget(server, tool)))
        .map((tool) => ({ name: modelName(prefix, tool.name), server, tool })),
    );
  }

  resources({ agent }: ForAgent = {}): { server: string; resource: Resource }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.resources
        .filter(({ uri }) => this.policy.allows(agent, { kind: "resource", server, name: uri }))
        .map((resource) => ({ server, resource })),
    );
  }

  templates({ agent }: ForAgent = {}): { server: string; template: ResourceTemplate }[] {
    return this.#running(agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.templates
        .filter(({ uriTemplate }) => this.policy.allows(agent, { kind: "resource", server, name: uriTemplate }))
        .map((template) => ({ server, template })),
    );
  }

  prompts({ agent }: ForAgent = {}): { server: string; name: string; prompt: Prompt }[] {
    return this.#allPrompts(agent)
      .filter(({ server, name }) => this.policy.allows(agent, { kind: "prompt", server, name }))
      .map(({ server, name, prompt }) => ({ server, name, prompt }));
  }

  /** What a server that is switched on offers, whoever may use it: for those who ask the policy themselves. */
  offered(server: string): OfferedThings {
    const { enabled, lists } = this.#supervisors.find(server) ?? { enabled: false, lists: NOTHING };
    return enabled ? lists : NOTHING;
  }

  /** Finds a tool by any of its names; connects a server that has not been used yet, if it is the one named. */
  async getTool(name: string, options: ForAgent & { signal?: CancelSignal | undefined } = {}): Promise<HostTool> {
    name = this.#withServerId(name);
    await this.#wake(name, options);
    // Whether it may be called is decided when it is.
    const tools = this.#running(options.agent).flatMap(({ definition: { id: server, prefix = server }, lists }) =>
      lists.tools.map((tool) => ({ server, prefix, name: tool.name, tool })),
    );
    const { server, prefix, tool } = resolveName(name, tools, "tool");
    return { name: modelName(prefix, tool.name), server, tool };
  }

  /** Calls a tool by name (`server.tool`, `mcp__server__tool`, `mcp:server.tool`) or as listed. */
  async callTool<T = Record<string, unknown>>(
    target: string | HostTool,
    args?: object,
    options: CallToolOptions & ForAgent = {},
  ): Promise<CallToolResult<T>> {
    const { server, tool: wanted } = typeof target === "string" ? await this.getTool(target, options) : target;
    const supervisor = this.#supervisors.get(server);
    const { name } = wanted;
    // Rules name servers by their ids, callers may name them otherwise.
    if (!this.policy.isOpen("tool", supervisor.definition.id)) await this.#permitTool(supervisor, name, args, options);
    const lease = await supervisor.lease(requestFor(options));
    try {
      return await lease.client.callTool<T>(name, args, options);
    } catch (error) {
      lease.report(error);
      throw error;
    } finally {
      lease.release();
    }
  }

  async readResource(server: string, uri: string, options: CallOptions & ForAgent = {}): Promise<ReadResourceResult> {
    const { agent, signal } = options;
    const { id } = this.#supervisors.get(server).definition;
    await this.policy.permit({ agent, target: { kind: "resource", server: id, name: uri }, signal });
    return this.#using(id, options, (lease) => lease.client.readResource(uri, options));
  }

  async getPrompt(
    name: string,
    args?: Record<string, string>,
    options: CallOptions & ForAgent = {},
  ): Promise<GetPromptResult> {
    name = this.#withServerId(name);
    const { agent, signal } = options;
    await this.#wake(name, options);
    const { server, prompt } = resolveName(name, this.#allPrompts(agent), "prompt");
    await this.policy.permit({ agent, target: { kind: "prompt", server, name: prompt.name }, arguments: args, signal });
    return this.#using(server, options, (lease) => lease.client.getPrompt(prompt.name, args, options));
  }

  /** A connection to one server, to be given back. What goes over it the policy is not asked about: ask it first. */
  lease(server: string, request: LeaseRequest = {}): Promise<Lease> {
    return this.#supervisors.get(server).lease(request);
  }

  /** The same where the connection is up already; undefined where it has to be waited for. */
  findLease(server: string, request: LeaseRequest = {}): Lease | undefined {
    return this.#supervisors.get(server).findLease(request);
  }

  /** An owner is gone: connections of its own end, those in use as soon as they are given back. */
  release(owner: string): void {
    for (const supervisor of this.#supervisors.all()) supervisor.release(owner);
  }

  /** Runs these from now on: what is the same keeps its connection, what is gone is closed, what is new is started. */
  setServers(servers: HostServers | readonly ServerDefinition[]): Promise<void> {
    // One after the other: the newest wish wins, not the one that was understood last.
    return this.#setting.run(() => this.#apply(servers));
  }

  /** Off: its tools are gone, its connection stays. On: they are back. */
  async toggle(server: string, enabled: boolean): Promise<void> {
    const supervisor = this.#supervisors.get(server);
    supervisor.toggle(enabled);
    if (enabled) await supervisor.start();
  }

  /** Tries a failed server again now, reads the lists of one that runs, and starts one anew that does not answer. */
  async retry(server: string): Promise<void> {
    await this.#supervisors.get(server).retry();
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
    this.#files?.close();
    await this.#supervisors.close();
  }

  async #apply(servers: HostServers | readonly ServerDefinition[]): Promise<void> {
    const definitions = Array.isArray(servers)
      ? (servers as readonly ServerDefinition[])
      : await defineHostServers(servers as HostServers, this.#load);
    if (this.#closing) throw new NexusError("CLOSED", "The host was closed", { mayHaveReached: false });
    await this.#supervisors.apply(definitions);
  }

  /** Reads the configuration and, if that is wanted, goes on reading it. */
  async #followFiles(): Promise<void> {
    const { config, only, watch = false, trust = false } = this.#options;
    this.#files = new WatchedConfiguration({
      load: { ...this.#load, explicit: config },
      trustsFirst: trust,
      watches: watch,
      logger: this.#logger,
      onChange: async (configuration) => {
        this.configuration = configuration;
        const ids = only?.map(serverId);
        await this.setServers(configuration.servers.filter(({ id }) => ids?.includes(id) ?? true));
      },
    });
    await this.#files.start();
  }

  async #using<T>(server: string, options: CallOptions, run: (lease: Lease) => Promise<T>): Promise<T> {
    using lease = await this.lease(server, requestFor(options));
    try {
      return await run(lease);
    } catch (error) {
      lease.report(error);
      throw error;
    }
  }

  /** Those that are switched on, and that this agent may see. */
  #running(agent: string | undefined): ServerSupervisor[] {
    return this.#supervisors
      .all()
      .filter(({ enabled, definition: { id } }) => enabled && this.policy.allows(agent, serverTarget(id)));
  }

  #allPrompts(agent: string | undefined): (Named & { prompt: Prompt })[] {
    return this.#running(agent).flatMap(({ definition: { id: server, prefix }, lists }) =>
      lists.prompts.map((prompt) => ({ server, prefix, name: prompt.name, prompt })),
    );
  }

  /** Judged by what the server said of its tool, never by what a caller says of it. */
  async #permitTool(
    supervisor: ServerSupervisor,
    name: string,
    args: unknown,
    { agent, signal }: ForAgent & { signal?: CancelSignal | undefined },
  ): Promise<void> {
    const { definition, lists, state } = supervisor;
    const { id } = definition;
    await this.policy.permit({ agent, target: serverTarget(id), signal });
    if (!lists.findTool(name) && !isRunning(state)) await supervisor.wake(signal);
    const target = toolTarget(id, lists.findTool(name) ?? { name });
    await this.policy.permit({ agent, target, arguments: args, signal });
  }

  #withServerId(name: string): string {
    return withServerId(name, (id) => this.#supervisors.find(id) !== undefined);
  }

  /**
   * A server named at the beginning of a name is connected before the name is looked up: for who may see it. Of one that is
   * switched off it is said so: its names are not unknown.
   */
  async #wake(name: string, { agent, signal }: ForAgent & { signal?: CancelSignal | undefined }): Promise<void> {
    for (const supervisor of this.#supervisors.all()) {
      const { definition, state } = supervisor;
      if (!beginsWithServer(name, definition)) continue;
      await this.policy.permit({ agent, target: serverTarget(definition.id), signal });
      if (!isRunning(state)) await supervisor.wake(signal);
    }
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
}

function statusOf({ definition, state }: ServerSupervisor): ServerStatus {
  return { id: definition.id, state, definition };
}

function toolTarget(server: string, { name, annotations }: Pick<Tool, "name" | "annotations">): AccessTarget {
  return { kind: "tool", server, name, annotations };
}

function isRunning({ kind }: ServerState): boolean {
  return kind === "ready" || kind === "degraded";
}

const NO_REQUEST: LeaseRequest = {};

/** Who answers for one call has a connection that asks nobody else. */
function requestFor({ signal, input }: CallOptions): LeaseRequest {
  if (!input) return signal ? { signal } : NO_REQUEST;
  return signal ? { input, signal } : { input };
}
