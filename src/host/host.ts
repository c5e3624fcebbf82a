import { join } from "node:path";
import { Turns } from "../async/turns.ts";
import type { CallOptions } from "../client/conversation/call-scope.ts";
import type { CallToolOptions, Client } from "../client/client.ts";
import type { ConnectOptions } from "../client/connect/connect-entry.ts";
import { safeLogger, SILENT, type Logger } from "../text/logger.ts";
import type { Configuration, LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/read/server-definition.ts";
import { serverId } from "../text/server-id.ts";
import { checkOptions } from "../errors/check-options.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type {
  CallToolResult,
  ClientCapabilities,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Root,
} from "../protocol/mcp.ts";
import type { Surroundings } from "../transport/surroundings.ts";
import { userFolders } from "../files/user-folders.ts";
import { ProcessBudget, type ProcessBudgetOptions } from "../process/process-budget.ts";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { DEFAULT_BACKOFF } from "../async/backoff.ts";
import { FileEraCache } from "./servers/era-cache.ts";
import { DEFAULT_SHARE } from "../async/fair-shares.ts";
import { defineHostServers } from "./define-host-servers.ts";
import { HostCalls, type AgentCall } from "./host-calls.ts";
import { checkHostOptions, type HostOptions, type HostServers } from "./host-options.ts";
import type { Lease, LeaseRequest } from "./servers/lease.ts";
import { HostRoots } from "./servers/host-roots.ts";
import type { OpenOptions } from "./servers/connection-pool.ts";
import { loadOptions } from "./servers/load-options.ts";
import { GatewayChain } from "./servers/gateway-chain.ts";
import type { DefinitionLedger } from "./definitions/definition-ledger.ts";
import { LastLists, listsFolder } from "./definitions/last-lists.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import { MemoryLedger } from "./definitions/memory-ledger.ts";
import { Pins } from "./definitions/pins.ts";
import type { Policy } from "./directory/policy.ts";
import { modelName } from "./directory/names.ts";
import { ServerDirectory } from "./directory/server-directory.ts";
import { ServerConnector } from "./servers/server-connector.ts";
import type { ServerState } from "./servers/server-state.ts";
import { ServerSupervisors, type HostEvent, type ServerSupervisor } from "./servers/server-supervisors.ts";
import { VisibleLists, type ForAgent, type HostTool, type OfferedThings } from "./visible-lists.ts";
import { StartCounts, type ServerStarts } from "./servers/start-counts.ts";
import { WatchedConfiguration } from "./watched-configuration.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";

export interface ServerStatus {
  id: string;
  state: ServerState;
  definition: ServerDefinition;
}

const CONNECTION_WAIT_MS = 10_000;

/** Many servers as one set; keeps them running. A failing server affects only its own callers. */
export class Host implements AsyncDisposable {
  /** The servers by name, and who may see and use what. */
  readonly directory: ServerDirectory;
  /** The gateways for which this host works. */
  readonly chain: GatewayChain;
  /** Limits its child processes, if they are limited; other hosts may share it. */
  readonly processes: ProcessBudget | undefined;
  /** Whose processes they are. */
  readonly tenant: string;
  /** Which definitions are held: those of pinned servers that were not accepted. */
  readonly pins: Pins;
  /** What servers listed the last time, also for an earlier host with the same state folder. */
  readonly lastLists: LastLists;
  readonly #ledger: DefinitionLedger;
  readonly #stopLedger: () => void;
  readonly #options: HostOptions;
  readonly #load: LoadOptions;
  readonly #connector: ServerConnector;
  readonly #supervisors: ServerSupervisors;
  readonly #lists: VisibleLists;
  readonly #calls: HostCalls;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #starts = new StartCounts();
  readonly #roots: HostRoots;
  readonly #logger: Logger;
  readonly #advice = new Set<string>();
  /** The configuration with its warnings; undefined if a program passed the servers. */
  configuration: Configuration | undefined;
  #files: WatchedConfiguration | undefined;
  readonly #setting = new Turns();
  #closing: Promise<void> | undefined;

  /** Resolves after the configuration is read; `ready()` waits for the servers. */
  static async start(options: HostOptions, surroundings: Surroundings): Promise<Host> {
    checkHostOptions(options);
    const host = new Host(options, surroundings);
    await host.#connector.sweep();
    await (options.servers ? host.setServers(options.servers) : host.#followFiles());
    return host;
  }

  private constructor(options: HostOptions, surroundings: Surroundings) {
    const { stateFolder = userFolders(surroundings).state, timeoutMs } = options;
    const logger = safeLogger(options.logger ?? SILENT);
    const patience = timeoutMs === undefined ? {} : { timeoutMs, connectTimeoutMs: timeoutMs };
    this.#options = options;
    this.#roots = new HostRoots(options.cwd, options.roots);
    this.#logger = logger;
    const { cwd, askInput, secrets, trustStore } = options;
    this.#load = loadOptions({ surroundings, stateFolder, cwd, askInput, secrets, trustStore });
    this.directory = new ServerDirectory(options.policy === "allow-all" ? { allow: ["*"] } : options.policy);
    this.chain = new GatewayChain(surroundings.variables);
    this.tenant = options.tenant ?? DEFAULT_TENANT;
    this.#ledger = options.definitions ?? new MemoryLedger();
    this.processes = budgetOf(options.processes, { logger, platform: surroundings.platform });
    this.#connector = new ServerConnector({
      chain: this.chain,
      surroundings,
      stateFolder,
      tenant: this.tenant,
      secrets: this.#load.secrets,
      credentials: options.credentials,
      eras: options.eraCache ?? new FileEraCache(join(stateFolder, "eras.json")),
      atOnce: options.startAtOnce ?? 8,
      logger,
      openApi: options.openApi,
      ca: options.ca,
      publicOnly: options.publicOnly,
      trust: options.trust ? trustOnce(this.#load.trust) : this.#load.trust,
      onApiProblem: (server, problem) => this.#supervisors.find(server)?.note(problem),
    });
    this.pins = new Pins({
      ledger: this.#ledger,
      pinOf: (server) => this.directory.find(server)?.pin,
      optionsAgain: this.tenant === DEFAULT_TENANT ? "" : ` --tenant ${this.tenant}`,
      logger,
      onChanges: (changes, { server, isCommon }) => {
        this.#tell({ kind: "definitions", server, changes });
        // The list for all was read before, and may have changed as well.
        if (!isCommon && this.pins.watches(server)) this.#supervisors.find(server)?.readListsAgain();
      },
      onCompared: (server) => this.#tell({ kind: "accepted", server }),
    });
    const { capabilities, tenant } = this;
    this.lastLists = new LastLists({ folder: listsFolder(stateFolder), tenant, capabilities, logger });
    this.#stopLedger = this.#ledger.onAccepted((server) => {
      this.#tell({ kind: "accepted", server });
      this.#supervisors.find(server)?.readListsAgain();
    });
    this.#supervisors = new ServerSupervisors({
      pins: this.pins,
      lastLists: this.lastLists,
      connect: (definition, settings) => {
        this.#starts.count(definition.id);
        return this.#connect(definition, { ...patience, ...settings });
      },
      hasNewLogin: (server) => this.#connector.hasNewLogin(server),
      input: options.input,
      backoff: { ...DEFAULT_BACKOFF, ...options.backoff },
      idleMs: options.idleMs ?? 300_000,
      maxConnections: options.maxConnections ?? 32,
      maxOwnerConnections: options.maxOwnerConnections ?? 8,
      connectionShare: options.connectionShare ?? DEFAULT_SHARE,
      waitMs: options.connectionWaitMs ?? Math.max(CONNECTION_WAIT_MS, this.processes?.waitMs ?? 0),
      processes: this.processes && { budget: this.processes, tenant: this.tenant },
      healthCheckMs: options.healthCheckMs ?? 30_000,
      logger,
      tell: (event) => this.#tell(event),
    });
    this.#lists = new VisibleLists(this.directory, this.#supervisors, this.pins);
    this.#calls = new HostCalls(this.directory, this.#supervisors, { lists: this.#lists, pins: this.pins });
  }

  /** Once: something that whoever wrote the program should know. Without a logger it is a warning of the process. */
  advise(message: string): void {
    if (this.#advice.has(message)) return;
    this.#advice.add(message);
    if (this.#options.logger) this.#logger.warn(message);
    else process.emitWarning(message, "NexusWarning");
  }

  /** Decides who may see and use what: combines the host's settings and the servers' entries. */
  get policy(): Policy {
    return this.directory.policy;
  }

  /** What it declares to servers, which may list less to a client that cannot answer their questions. */
  get capabilities(): ClientCapabilities {
    return this.#options.input?.capabilities ?? {};
  }

  /** Resolves when every server with `auto_start` is connected or has failed. */
  ready(): Promise<void> {
    return this.#supervisors.started();
  }

  /** Without older versions of servers, which have addresses of their own. */
  servers(): ServerStatus[] {
    return this.#supervisors
      .all()
      .filter(({ definition }) => definition.versionOf === undefined)
      .map(statusOf);
  }

  /** How often connections to a server were opened, and how often that was again after one was lost or failed. */
  startsOf(server: string): ServerStarts {
    return this.#starts.of(server);
  }

  /** Undefined if there is no such server. */
  find(server: string): ServerStatus | undefined {
    const supervisor = this.#supervisors.find(server);
    return supervisor && statusOf(supervisor);
  }

  /** What is known now and this agent may use, in the order of the configuration. */
  tools(scope: ForAgent = {}): HostTool[] {
    return this.#lists.tools(agentOf(scope, "tools"));
  }

  resources(scope: ForAgent = {}): { server: string; resource: Resource }[] {
    return this.#lists.resources(agentOf(scope, "resources"));
  }

  templates(scope: ForAgent = {}): { server: string; template: ResourceTemplate }[] {
    return this.#lists.templates(agentOf(scope, "templates"));
  }

  prompts(scope: ForAgent = {}): { server: string; name: string; prompt: Prompt }[] {
    return this.#lists.prompts(agentOf(scope, "prompts"));
  }

  /** Everything that a server lists, unless it is disabled; for callers that check the policy themselves. */
  offered(server: string): OfferedThings {
    return this.#lists.offered(server);
  }

  /** The hash of a definition as its server listed it last; undefined if it was not listed or not hashed. */
  definitionHash(server: string, kind: ListKind, name: string): string | undefined {
    return this.#supervisors.find(server)?.lists.hashOf(kind, name);
  }

  /** Resolves when no list of the server is being read, for example after it reported a change; undefined if none is. */
  listsSettled(server: string): Promise<void> | undefined {
    return this.#supervisors.find(server)?.lists.settled;
  }

  /** Finds a tool by any of its names; connects the named server if it has not been used yet. */
  getTool(name: string, options: AgentCall = {}): Promise<HostTool> {
    return this.#calls.getTool(name, options);
  }

  /** Calls a tool by name (`server.tool`, `mcp__server__tool`, `mcp:server.tool`) or as listed. */
  callTool<T = Record<string, unknown>>(
    target: string | HostTool,
    args?: object,
    options: CallToolOptions & ForAgent = {},
  ): Promise<CallToolResult<T>> {
    return this.#calls.callTool<T>(target, args, options);
  }

  /**
   * What a call of a tool is: the tool with its arguments or, for one that calls others of its API, the tool that it names.
   * Throws if there is no such tool.
   */
  calledTool(found: HostTool, args: unknown, scope: ForAgent = {}): { found: HostTool; arguments: unknown } {
    const { tool, arguments: given } = this.#calls.calledTool(found, args, scope);
    if (tool === found.tool) return { found, arguments: given };
    const { id, prefix = id } = this.#calls.getSupervisor(found.server).definition;
    return { found: { name: modelName(prefix, tool.name), server: found.server, tool }, arguments: given };
  }

  readResource(server: string, uri: string, options: CallOptions & ForAgent = {}): Promise<ReadResourceResult> {
    return this.#calls.readResource(server, uri, options);
  }

  getPrompt(
    name: string,
    args?: Record<string, string>,
    options: CallOptions & ForAgent = {},
  ): Promise<GetPromptResult> {
    return this.#calls.getPrompt(name, args, options);
  }

  /**
   * A connection to one server, to be released after use. The policy is not checked for calls on it; check it first.
   */
  lease(server: string, request: LeaseRequest = {}): Promise<Lease> {
    return this.#calls.getSupervisor(server).lease(request);
  }

  /** The same if the connection is up; undefined if it has to be waited for. */
  findLease(server: string, request: LeaseRequest = {}): Lease | undefined {
    return (this.#supervisors.find(server) ?? this.#calls.getSupervisor(server)).findLease(request);
  }

  /** Ends the connections of an owner; those in use end when they are released. */
  release(owner: string): void {
    for (const supervisor of this.#supervisors.all()) supervisor.release(owner);
  }

  /** Replaces the servers: unchanged ones keep their connection, removed ones are closed, new ones are started. */
  setServers(servers: HostServers | readonly ServerDefinition[]): Promise<void> {
    // One after the other, so that the last call wins.
    return this.#setting.run(() => this.#apply(servers));
  }

  /** Applies the servers of the files again, with those that are beside them now. */
  applyBeside(): Promise<void> {
    return this.#setting.run(async () => {
      // The files are read first; then this is called.
      if (!this.configuration) return;
      const ids = this.#options.only?.map(serverId);
      const configured = this.configuration.servers;
      const all = [...configured, ...withoutConflicts(this.#options.beside?.() ?? [], configured, this.#logger)];
      await this.#apply(all.filter(({ id, versionOf = id }) => ids?.includes(versionOf) ?? true));
    });
  }

  /** Disabling removes the tools of a server and keeps its connection; enabling adds them again. */
  async toggle(server: string, enabled: boolean): Promise<void> {
    const supervisor = this.#calls.getSupervisor(server);
    supervisor.toggle(enabled);
    if (enabled) await supervisor.start();
  }

  /** Tries a failed server again now, reads the lists of a running one, and restarts one that does not answer. */
  async retry(server: string): Promise<void> {
    await this.#calls.getSupervisor(server).retry();
  }

  /**
   * Replaces the roots of one server, or of all: paths, `file:` URIs or roots. Legacy servers are notified; one that was
   * connected without roots is connected again when it is not in use.
   */
  async setRoots(roots: readonly (string | Root)[], server?: string): Promise<void> {
    const supervisors = server === undefined ? this.#supervisors.all() : [this.#calls.getSupervisor(server)];
    this.#roots.set(roots, server === undefined ? undefined : supervisors[0]?.definition.id);
    await Promise.all(
      supervisors.map((supervisor) => supervisor.setRoots(this.#roots.of(supervisor.definition) ?? [])),
    );
  }

  /** The roots of a server: those that were set last, or those of its entry. */
  rootsOf(server: string): readonly Root[] {
    return this.#roots.of(this.#calls.getSupervisor(server).definition) ?? [];
  }

  /** Calls the listener for every change; the returned function removes it. */
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

  /** Other roots may be set while the connection is being opened. */
  async #connect(definition: ServerDefinition, settings: OpenOptions & ConnectOptions): Promise<Client> {
    const roots = this.#roots.of(definition);
    const client = await this.#connector.connect(definition, roots ? { ...settings, roots } : settings);
    const now = this.#roots.of(definition);
    if (now && now !== roots) await client.setRoots(now);
    return client;
  }

  async #close(): Promise<void> {
    this.#files?.close();
    this.#stopLedger();
    this.pins.close();
    await Promise.all([this.#supervisors.close(), this.lastLists.flush()]);
  }

  async #apply(servers: HostServers | readonly ServerDefinition[]): Promise<void> {
    const definitions = Array.isArray(servers)
      ? (servers as readonly ServerDefinition[])
      : await defineHostServers(servers as HostServers, this.#load);
    if (this.#closing) throw new NexusError("CLOSED", "The host was closed", { mayHaveReached: false });
    this.directory.replace(definitions);
    await this.#supervisors.apply(definitions);
  }

  /** Reads the configuration, and again when it changes if `watch` is set. */
  async #followFiles(): Promise<void> {
    const { config, watch = false, trust = false, onConfiguration } = this.#options;
    this.#files = new WatchedConfiguration({
      load: { ...this.#load, explicit: config },
      trustsFirst: trust,
      watches: watch,
      logger: this.#logger,
      onChange: async (configuration) => {
        onConfiguration?.(configuration);
        this.configuration = configuration;
        await this.applyBeside();
      },
    });
    await this.#files.start();
  }

  #tell(event: HostEvent): void {
    if (event.kind === "state") this.#starts.look(event.server, this.#supervisors.find(event.server)?.state.kind);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.error("a host listener threw", { error });
      }
    }
  }
}

function budgetOf(given: HostOptions["processes"], options: ProcessBudgetOptions): ProcessBudget | undefined {
  return given === undefined || given instanceof ProcessBudget ? given : new ProcessBudget(given, options);
}

/** An entry of a file has been written for this machine, so it hides a server with the same name. */
function withoutConflicts(
  beside: readonly ServerDefinition[],
  configured: readonly ServerDefinition[],
  logger: Logger,
): ServerDefinition[] {
  const taken = new Set(configured.flatMap(({ id, prefix }) => (prefix === undefined ? [id] : [id, prefix])));
  return beside.filter(({ id, versionOf }) => {
    const isTaken = taken.has(versionOf ?? id);
    if (isTaken && versionOf === undefined)
      logger.warn(`the published server "${id}" is not served: a configured server has this name`);
    return !isTaken;
  });
}

function statusOf({ definition, state }: ServerSupervisor): ServerStatus {
  return { id: definition.id, state, definition };
}

/** The first version of a file is trusted for this run; a later version only if the store trusts it. */
function trustOnce(store: TrustStore): TrustStore {
  const seen = new Map<string, string>();
  return {
    async isTrusted(file, fingerprint) {
      const first = seen.get(file) ?? fingerprint;
      seen.set(file, first);
      return first === fingerprint || store.isTrusted(file, fingerprint);
    },
    trust: (file, fingerprint) => store.trust(file, fingerprint),
    revoke: (file) => store.revoke(file),
  };
}

/** With a misspelt name, it would be everybody who asks. */
function agentOf(scope: ForAgent, method: string): string | undefined {
  checkOptions(method, scope, { agent: true });
  return scope.agent;
}
