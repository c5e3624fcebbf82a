import { join } from "node:path";
import { Turns } from "../async/turns.ts";
import type { CallOptions } from "../client/conversation/call-scope.ts";
import type { CancelSignal } from "../async/cancellation.ts";
import type { CallToolOptions } from "../client/client.ts";
import { guardedLogger, SILENT, type Logger } from "../text/logger.ts";
import type { Configuration, LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { serverId } from "../config/read/server-id.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
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
import { modelName } from "./directory/names.ts";
import { serverTarget, type AccessTarget } from "./directory/access-target.ts";
import type { Policy } from "./directory/policy.ts";
import { ServerDirectory } from "./directory/server-directory.ts";
import { ServerConnector } from "./servers/server-connector.ts";
import type { ServerState } from "./servers/server-state.ts";
import type { ServerSupervisor } from "./servers/server-supervisor.ts";
import { ServerSupervisors, type HostEvent } from "./servers/server-supervisors.ts";
import { trustOnce } from "./servers/trust-at-first-sight.ts";
import { VisibleLists, type ForAgent, type HostTool, type OfferedThings } from "./visible-lists.ts";
import { WatchedConfiguration } from "./watched-configuration.ts";

interface AgentCall extends ForAgent {
  signal?: CancelSignal | undefined;
}

export interface ServerStatus {
  id: string;
  state: ServerState;
  definition: ServerDefinition;
}

/** Many servers, kept running, as one set. One that fails concerns only its own callers. */
export class Host implements AsyncDisposable {
  /** The servers by their names, and who may see and use what. */
  readonly directory: ServerDirectory;
  /** Which gateways it works for. */
  readonly chain: GatewayChain;
  readonly #options: HostOptions;
  readonly #load: LoadOptions;
  readonly #connector: ServerConnector;
  readonly #supervisors: ServerSupervisors;
  readonly #lists: VisibleLists;
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
    this.directory = new ServerDirectory(options.policy);
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
    this.#lists = new VisibleLists(this.directory, this.#supervisors);
  }

  /** Decides who may see and use what: the host's settings and the servers' entries together. */
  get policy(): Policy {
    return this.directory.policy;
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

  /** What is known now, in the order of the configuration, as far as this agent may use it. */
  tools({ agent }: ForAgent = {}): HostTool[] {
    return this.#lists.tools(agent);
  }

  resources({ agent }: ForAgent = {}): { server: string; resource: Resource }[] {
    return this.#lists.resources(agent);
  }

  templates({ agent }: ForAgent = {}): { server: string; template: ResourceTemplate }[] {
    return this.#lists.templates(agent);
  }

  prompts({ agent }: ForAgent = {}): { server: string; name: string; prompt: Prompt }[] {
    return this.#lists.prompts(agent);
  }

  /** All that a server lists, unless it is switched off: for callers that ask the policy themselves. */
  offered(server: string): OfferedThings {
    return this.#lists.offered(server);
  }

  /** Finds a tool by any of its names; connects a server that has not been used yet, if it is the one named. */
  async getTool(name: string, options: AgentCall = {}): Promise<HostTool> {
    const { agent } = options;
    await this.#wakeOwners(name, options);
    const listed = ({ id }: ServerDefinition) => this.offered(id).tools;
    // Whether it may be called is decided when it is.
    const { definition, item: tool } = this.directory.resolve(name, { kind: "tool", agent, listed });
    const { id: server, prefix = server } = definition;
    return { name: modelName(prefix, tool.name), server, tool };
  }

  /** Calls a tool by name (`server.tool`, `mcp__server__tool`, `mcp:server.tool`) or as listed. */
  async callTool<T = Record<string, unknown>>(
    target: string | HostTool,
    args?: object,
    options: CallToolOptions & ForAgent = {},
  ): Promise<CallToolResult<T>> {
    const { server, tool: wanted } = typeof target === "string" ? await this.getTool(target, options) : target;
    const supervisor = this.#supervisor(server);
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
    const { id } = this.directory.get(server);
    await this.policy.permit({ agent, target: { kind: "resource", server: id, name: uri }, signal });
    return this.#using(id, options, (lease) => lease.client.readResource(uri, options));
  }

  async getPrompt(
    name: string,
    args?: Record<string, string>,
    options: CallOptions & ForAgent = {},
  ): Promise<GetPromptResult> {
    const { agent, signal } = options;
    await this.#wakeOwners(name, options);
    const listed = ({ id }: ServerDefinition) => this.offered(id).prompts;
    const { item, target, decision } = this.directory.resolve(name, { kind: "prompt", agent, listed });
    await this.policy.enforce(decision, { agent, target, arguments: args, signal });
    return this.#using(target.server, options, (lease) => lease.client.getPrompt(item.name, args, options));
  }

  /** A connection to one server, to be given back. What goes over it the policy is not asked about: ask it first. */
  lease(server: string, request: LeaseRequest = {}): Promise<Lease> {
    return this.#supervisor(server).lease(request);
  }

  /** The same where the connection is up already; undefined where it has to be waited for. */
  findLease(server: string, request: LeaseRequest = {}): Lease | undefined {
    return this.#supervisor(server).findLease(request);
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
    const supervisor = this.#supervisor(server);
    supervisor.toggle(enabled);
    if (enabled) await supervisor.start();
  }

  /** Tries a failed server again now, reads the lists of one that runs, and starts one anew that does not answer. */
  async retry(server: string): Promise<void> {
    await this.#supervisor(server).retry();
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
    this.directory.replace(definitions);
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

  #supervisor(name: string): ServerSupervisor {
    const found = this.#supervisors.find(this.directory.get(name).id);
    if (found) return found;
    throw this.directory.unknown(name);
  }

  /** Judged by what the server said of its tool, never by what a caller says of it. */
  async #permitTool(
    supervisor: ServerSupervisor,
    name: string,
    args: unknown,
    { agent, signal }: AgentCall,
  ): Promise<void> {
    const { definition, lists, state } = supervisor;
    const { id } = definition;
    await this.policy.permit({ agent, target: serverTarget(id), signal });
    if (!lists.findTool(name) && !isRunning(state)) await supervisor.wake(signal);
    const annotations = lists.findTool(name)?.annotations;
    const target: AccessTarget = { kind: "tool", server: id, name, annotations };
    await this.policy.permit({ agent, target, arguments: args, signal });
  }

  /**
   * A server named at the beginning of a name is connected before the name is looked up, if the agent may see it. One that
   * is switched off refuses: its names are not unknown.
   */
  async #wakeOwners(name: string, { agent, signal }: AgentCall): Promise<void> {
    for (const { id } of this.directory.findOwners(name)) {
      await this.policy.permit({ agent, target: serverTarget(id), signal });
      const supervisor = this.#supervisors.find(id);
      if (supervisor && !isRunning(supervisor.state)) await supervisor.wake(signal);
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

function isRunning({ kind }: ServerState): boolean {
  return kind === "ready" || kind === "degraded";
}

const NO_REQUEST: LeaseRequest = {};

/** Who answers for one call has a connection that asks nobody else. */
function requestFor({ signal, input }: CallOptions): LeaseRequest {
  if (!input) return signal ? { signal } : NO_REQUEST;
  return signal ? { input, signal } : { input };
}
