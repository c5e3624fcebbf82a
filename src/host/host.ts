import { join } from "node:path";
import type { CallOptions } from "../client/call-scope.ts";
import type { CancelSignal } from "../client/cancellation.ts";
import type { CallToolOptions } from "../client/client.ts";
import { guardedLogger, SILENT, type Logger } from "../client/logger.ts";
import type { Configuration, LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { withServerId } from "../config/server-id.ts";
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
import { userFolders } from "../transport/user-folders.ts";
import { DEFAULT_BACKOFF } from "./backoff.ts";
import { FileEraCache } from "./era-cache.ts";
import { DEFAULT_SHARE } from "./fair-shares.ts";
import { defineHostServers } from "./define-host-servers.ts";
import type { HostOptions, HostServers } from "./host-options.ts";
import type { Lease, LeaseRequest } from "./lease.ts";
import { loadOptions } from "./load-options.ts";
import { modelName, resolveName } from "./names.ts";
import { PolicyGuard } from "./policy-guard.ts";
import { ServerConnector } from "./server-connector.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerSupervisor } from "./server-supervisor.ts";
import { ServerSupervisors, type HostEvent } from "./server-supervisors.ts";
import { trustOnce } from "./trust-at-first-sight.ts";
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

export interface ServerStatus {
  id: string;
  state: ServerState;
  definition: ServerDefinition;
}

/** Many servers, kept running, as one set. One that fails concerns nobody but its own callers. */
export class Host implements AsyncDisposable {
  readonly #options: HostOptions;
  readonly #load: LoadOptions;
  readonly #connector: ServerConnector;
  readonly #supervisors: ServerSupervisors;
  readonly #policy: PolicyGuard;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #logger: Logger;
  /** What was read, with warnings; undefined for servers given by a program. */
  configuration: Configuration | undefined;
  #files: WatchedConfiguration | undefined;
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
    const { cwd, askInput, stateFolder = userFolders(surroundings).state, timeoutMs } = options;
    const logger = guardedLogger(options.logger ?? SILENT);
    const patience = timeoutMs === undefined ? {} : { timeoutMs, connectTimeoutMs: timeoutMs };
    this.#options = options;
    this.#logger = logger;
    this.#load = loadOptions({ surroundings, stateFolder, cwd, askInput });
    this.#policy = new PolicyGuard(options.policy);
    this.#connector = new ServerConnector({
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

  /** What is known now, in the order of the configuration, as far as this agent may use it. */
  tools({ agent }: ForAgent = {}): HostTool[] {
    return this.#running(agent).flatMap(({ definition, lists }) =>
      lists.tools
        .filter((tool) => this.#policy.isListed(definition, tool, agent))
        .map((tool) => ({ name: modelName(definition.id, tool.name), server: definition.id, tool })),
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
  async getTool(name: string, options: ForAgent & { signal?: CancelSignal | undefined } = {}): Promise<HostTool> {
    name = this.#withServerId(name);
    await this.#wake(name, options);
    // Whether it may be called is decided when it is.
    const tools = this.#running(options.agent).flatMap(({ definition: { id: server }, lists }) =>
      lists.tools.map((tool) => ({ server, name: tool.name, tool })),
    );
    const { server, tool } = resolveName(name, tools, "tool");
    return { name: modelName(server, tool.name), server, tool };
  }

  /** Calls a tool by name (`server.tool`, `mcp__server__tool`, `mcp:server.tool`) or as listed. */
  async callTool<T = Record<string, unknown>>(
    target: string | HostTool,
    args?: object,
    options: CallToolOptions & ForAgent = {},
  ): Promise<CallToolResult<T>> {
    const { server, tool: wanted } = typeof target === "string" ? await this.getTool(target, options) : target;
    const supervisor = this.#supervisors.get(server);
    const { definition, lists } = supervisor;
    // Policy judges by what the server said of its tool, never by what a caller says of it.
    const tool = lists.findTool(wanted.name) ?? { name: wanted.name, inputSchema: {} };
    const { agent, signal } = options;
    const asking = this.#policy.permit({ definition, tool, args, agent, signal });
    if (asking) await asking;
    const lease = await supervisor.lease(requestFor(options));
    try {
      return await lease.client.callTool<T>(tool.name, args, options);
    } catch (error) {
      lease.report(error);
      throw error;
    } finally {
      lease.release();
    }
  }

  async readResource(server: string, uri: string, options: CallOptions & ForAgent = {}): Promise<ReadResourceResult> {
    this.#policy.requireVisible(server, options.agent);
    return this.#using(server, options, (lease) => lease.client.readResource(uri, options));
  }

  async getPrompt(
    name: string,
    args?: Record<string, string>,
    options: CallOptions & ForAgent = {},
  ): Promise<GetPromptResult> {
    name = this.#withServerId(name);
    await this.#wake(name, options);
    const { server, prompt } = resolveName(name, this.prompts(options), "prompt");
    return this.#using(server, options, (lease) => lease.client.getPrompt(prompt.name, args, options));
  }

  /** A connection to one server, to be given back. */
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
    const done = this.#setting.then(() => this.#apply(servers));
    this.#setting = done.catch(() => {});
    return done;
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
        await this.setServers(configuration.servers.filter(({ id }) => only?.includes(id) ?? true));
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
      .filter(({ enabled, definition }) => enabled && this.#policy.isVisible(definition.id, agent));
  }

  #withServerId(name: string): string {
    return withServerId(name, (id) => this.#supervisors.find(id) !== undefined);
  }

  /** A server named at the beginning of a name is connected before the name is looked up: for who may see it. */
  async #wake(name: string, { agent, signal }: ForAgent & { signal?: CancelSignal | undefined }): Promise<void> {
    for (const supervisor of this.#supervisors.all()) {
      const { definition, enabled, state } = supervisor;
      const { id } = definition;
      const isNamed = [`${id}.`, `mcp:${id}.`, `mcp__${id}__`].some((prefix) => name.startsWith(prefix));
      if (!isNamed || !enabled) continue;
      this.#policy.requireVisible(id, agent);
      if (state.kind !== "ready" && state.kind !== "degraded") await supervisor.wake(signal);
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

const NO_REQUEST: LeaseRequest = {};

/** Who answers for one call has a connection that asks nobody else. */
function requestFor({ signal, input }: CallOptions): LeaseRequest {
  if (!input) return signal ? { signal } : NO_REQUEST;
  return signal ? { input, signal } : { input };
}
