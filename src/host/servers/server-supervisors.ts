import { isDeepStrictEqual } from "node:util";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { DefinitionChange } from "../definitions/definition-ledger.ts";
import type { ServerState } from "./server-state.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { childLogger, type Logger } from "../../text/logger.ts";
import type { ProcessBudget, ProcessRequest, ProcessSlot } from "../../process/process-budget.ts";
import { asNexusError, messageOf, type NexusError } from "../../errors/nexus-error.ts";
import type { BackoffSettings } from "../../async/backoff.ts";
import { ConnectionPool, HOST, type OpenOptions } from "./connection-pool.ts";
import { HostConnection, type ReadyConnection } from "./host-connection.ts";
import { LeaseKeys, NOBODY } from "./lease-keys.ts";
import type { Held, Lease, LeaseRequest } from "./lease.ts";
import { ServerLists } from "./server-lists.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import type { LastLists } from "../definitions/last-lists.ts";
import type { Pins } from "../definitions/pins.ts";
import type { Root } from "../../protocol/mcp.ts";
import { ping } from "./ping.ts";
import { isUnanswered } from "../../errors/error-traits.ts";

export type HostEvent =
  | { kind: "state"; server: string; state: ServerState }
  /** The lists of a server changed. `told`: the lists for which the server sent a notification. */
  | { kind: "lists"; server: string; told?: readonly ChangingList[] }
  /** A server lists other definitions than those that were accepted. Reported once. */
  | { kind: "definitions"; server: string; changes: readonly DefinitionChange[] }
  /** Definitions of a server were accepted, or could be compared after all: what was held may be listed and used now. */
  | { kind: "accepted"; server: string };

interface SupervisorsOptions extends Omit<SupervisorOptions, "onState" | "onLists"> {
  tell: (event: HostEvent) => void;
}

/** The servers of a host: those of the current configuration, in its order, and those that are being closed. */
export class ServerSupervisors {
  readonly #options: SupervisorsOptions;
  readonly #byId = new Map<string, ServerSupervisor>();
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: SupervisorsOptions) {
    this.#options = options;
  }

  all(): ServerSupervisor[] {
    return [...this.#byId.values()];
  }

  find(id: string): ServerSupervisor | undefined {
    return this.#byId.get(id);
  }

  /** Resolves when every server that starts automatically is connected or has failed. */
  async started(): Promise<void> {
    await Promise.all(this.all().map((supervisor) => supervisor.started));
  }

  /** Replaces the servers; unchanged ones keep their connection. Resolves when removed ones have ended. */
  async apply(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(definitions.map((definition) => [definition.id, definition]));
    const before = new Map(this.#byId);
    const leaving = new Map<string, Promise<void>>();
    for (const [id, supervisor] of before) {
      const definition = wanted.get(id);
      if (definition && supervisor.adopt(definition)) continue;
      leaving.set(id, this.#leave(supervisor));
      before.delete(id);
    }
    // Lists follow the order of the configuration, not the order of starting.
    this.#byId.clear();
    for (const [id, definition] of wanted) {
      this.#byId.set(id, before.get(id) ?? this.#supervise(definition, leaving.get(id)));
    }
    for (const server of leaving.keys()) this.#options.tell({ kind: "lists", server });
    // Also starts servers that were just enabled; a failed one keeps its pause.
    for (const supervisor of this.all()) if (supervisor.state.kind === "idle") void supervisor.start();
    // A server that starts has reported its state itself; the others are reported here.
    for (const [server, { state }] of this.#byId) {
      if (!before.has(server) && state.kind !== "starting") this.#options.tell({ kind: "state", server, state });
    }
    await Promise.all(leaving.values());
  }

  async close(): Promise<void> {
    await Promise.all([...this.all().map((supervisor) => supervisor.close()), ...this.#leaving]);
  }

  #leave(supervisor: ServerSupervisor): Promise<void> {
    const leaving = supervisor.close().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return leaving;
  }

  /** The replaced server ends before the new one starts: two processes may need the same file, port or lock. */
  #supervise(definition: ServerDefinition, predecessor: Promise<void> | undefined): ServerSupervisor {
    const { tell, connect, ...options } = this.#options;
    const { id } = definition;
    const supervisor: ServerSupervisor = new ServerSupervisor(definition, {
      ...options,
      connect: async (wanted, settings) => {
        await predecessor;
        return connect(wanted, settings);
      },
      onState: (state) => {
        const current = this.#byId.get(id);
        // The end of a replaced supervisor says nothing about the running server.
        if (!current || current === supervisor) tell({ kind: "state", server: id, state });
      },
      onLists: (told = []) => tell({ kind: "lists", server: id, ...(told.length > 0 ? { told } : {}) }),
    });
    return supervisor;
  }
}

interface SupervisorOptions {
  connect: (definition: ServerDefinition, options: OpenOptions) => Promise<Client>;
  /** Whether somebody has logged in to a server that refused the last connection; undefined where that would not help. */
  hasNewLogin: (server: string) => Promise<boolean | undefined>;
  /** Answers questions on the host's own connection. */
  input: InputProvider | undefined;
  backoff: BackoffSettings;
  /** How long an unused connection is kept, unless it is the host's own. */
  idleMs: number;
  maxConnections: number;
  maxOwnerConnections: number;
  connectionShare: number;
  /** How long a connection above the limit waits for another one to end. */
  waitMs: number;
  /** How often a legacy server over HTTP is pinged. */
  healthCheckMs: number;
  /** Limits the processes; absent where there is no limit. */
  processes?: { budget: ProcessBudget; tenant: string } | undefined;
  /** Compares what servers list with what was accepted. */
  pins: Pins;
  /** Remembers what servers list. */
  lastLists: LastLists;
  logger: Logger;
  onState: (state: ServerState) => void;
  onLists: (told?: readonly ChangingList[]) => void;
}

/** Keeps one configured server running, and leases its connections: the host's own, and those of owners. */
export class ServerSupervisor {
  definition: ServerDefinition;
  readonly lists: ServerLists;
  /** Resolves when the last requested start has succeeded or failed. */
  started: Promise<void> = Promise.resolve();
  readonly #options: SupervisorOptions;
  readonly #pool: ConnectionPool;
  readonly #keys: LeaseKeys;
  readonly #host: HostConnection;
  #retrying: Promise<void> | undefined;
  /** Connections that are being pinged. */
  readonly #suspects = new Map<Held, Promise<void>>();

  constructor(definition: ServerDefinition, options: SupervisorOptions) {
    const { connect, idleMs, maxConnections, maxOwnerConnections, connectionShare, waitMs } = options;
    const { input, backoff, healthCheckMs, hasNewLogin, onState, onLists, pins, lastLists } = options;
    const logger = childLogger(options.logger, { server: definition.id });
    this.definition = definition;
    this.#options = options;
    this.#keys = new LeaseKeys(input, backoff);
    const pool = (this.#pool = new ConnectionPool({
      server: definition.id,
      connect: (settings) => connect(this.definition, settings),
      openSlot: (request) => this.#openSlot(request),
      pauseHost: (held) => this.#host.pause(held),
      idleMs,
      maxConnections,
      maxOwnerConnections,
      connectionShare,
      waitMs,
      logger,
      onReport: (held, error) => this.#reported(held, asNexusError(error)),
    }));
    const lists = (this.lists = new ServerLists(definition, {
      logger,
      onLists: (told) => {
        onLists(told);
        this.#host.listsRead();
      },
      onInterrupted: () => this.#host.ready && void this.#host.check(this.#host.ready),
      compare: (kind, items) => {
        lastLists.note(this.definition, kind, items);
        return pins.compare({ server: definition.id, kind, isCommon: true, items });
      },
      keepConnection: () => (this.#host.ready ? pool.keep(this.#host.ready.held) : () => {}),
    }));
    this.#host = new HostConnection({
      definition: () => this.definition,
      pool,
      lists,
      input,
      backoff,
      healthCheckMs,
      hasNewLogin: () => hasNewLogin(definition.id),
      logger,
      onState,
      onSwitched: onLists,
    });
  }

  get state(): ServerState {
    return this.#host.state;
  }

  get enabled(): boolean {
    return this.#host.enabled;
  }

  /** Enables or disables the tools; a connection stays open. */
  toggle(enabled: boolean): void {
    if (enabled) this.#pool.endUnused(false);
    this.#host.switch(enabled);
  }

  /** The configuration enables or disables the server: a disabled one has no process that nobody uses. */
  #configure(enabled: boolean): void {
    this.toggle(enabled);
    if (enabled) void this.start();
    else this.#pool.endUnused(true);
  }

  /** Takes over a changed definition of the same server; false if the server has to be restarted for it. */
  adopt(definition: ServerDefinition): boolean {
    const { entry, transport, trusted, problem, enabled, tools, agents, pin, failIfNoTools, prefix } = this.definition;
    const isSame =
      definition.transport === transport &&
      isDeepStrictEqual(definition.entry, entry) &&
      definition.trusted === trusted &&
      definition.prefix === prefix &&
      definition.problem?.message === problem?.message;
    if (!isSame) return false;
    this.definition = definition;
    this.lists.definition = definition;
    this.#host.updateError(definition);
    if (definition.failIfNoTools && !failIfNoTools) this.#failIfNoTools();
    // What was not pinned may not have been compared.
    if (!isDeepStrictEqual(definition.pin, pin)) this.readListsAgain();
    // A manual switch is kept, unless the configuration itself has changed.
    if (definition.enabled !== enabled) this.#configure(definition.enabled);
    else if (!isDeepStrictEqual([definition.tools, definition.agents], [tools, agents])) this.#options.onLists();
    return true;
  }

  #failIfNoTools(): void {
    const { ready } = this.#host;
    const lack = ready && this.lists.lackOfTools;
    if (lack) this.#host.lose(ready, lack);
  }

  /** What is wrong with a server that runs nevertheless; undefined: nothing. */
  note(problem: NexusError | undefined): void {
    this.lists.problem = problem;
    this.#host.listsRead();
  }

  /** Connects if the server starts automatically. Never rejects: the result is in the state. */
  start(): Promise<void> {
    if (!this.enabled || !this.definition.autoStart) return Promise.resolve();
    const whatever = () => {};
    this.started = this.#host.open().then(whatever, whatever);
    return this.started;
  }

  /** Connects and reads the lists. */
  async wake(signal: CancelSignal | undefined): Promise<void> {
    this.#host.refuseIfUnable();
    await unlessAborted(this.#host.openWanted(), signal);
  }

  /** A connection for this owner; waits for this server only. */
  async lease(request: LeaseRequest = {}): Promise<Lease> {
    const { owner = HOST, principal, input, signal, onWait } = request;
    this.#host.refuseIfUnable();
    const key = this.#keyFor(owner, input);
    if (key !== HOST) {
      const backoff = this.#keys.backoffOf(owner);
      return this.#pool.lease(key, { owner, principal, input, backoff, onWait }, signal);
    }
    const { held, client } = this.#host.ready ?? (await this.#openHost(request));
    return this.#pool.leaseNow(held, this.#asUsedBy(owner, input, client));
  }

  /** The same if the connection is up; undefined if it has to be waited for. */
  findLease({ owner = HOST, input }: LeaseRequest = {}): Lease | undefined {
    this.#host.refuseIfUnable();
    const key = this.#keyFor(owner, input);
    if (key !== HOST) return this.#pool.findLease(key);
    const { ready } = this.#host;
    return ready && this.#pool.leaseNow(ready.held, this.#asUsedBy(owner, input, ready.client));
  }

  /** Ends what is kept for an owner that is gone. */
  release(owner: string): void {
    this.#pool.release(owner);
    this.#keys.forgive(owner);
  }

  /** Tries again now, ignoring earlier failures: a connection that does not answer is restarted. */
  retry(): Promise<void> {
    return (this.#retrying ??= this.#retry().finally(() => (this.#retrying = undefined)));
  }

  /** Passes other roots to the connections that are up; those that were opened without roots are replaced. */
  async setRoots(roots: readonly Root[]): Promise<void> {
    const { logger } = this.#options;
    // One that has just started is given back a moment later.
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(
      this.#pool.opened().map(async ({ held, client }) => {
        if (client.takesRoots) {
          const { id } = this.definition;
          const warn = (error: unknown) => logger.warn(`"${id}" was not told about its roots: ${messageOf(error)}`);
          return client.setRoots(roots).catch(warn);
        }
        if (held.key === HOST) await this.#replaceHost(held);
        else this.#pool.retire(held);
      }),
    );
  }

  /** Connects again, at once or when the calls that are running have ended. Its failure is in the state. */
  async #replaceHost(held: Held): Promise<void> {
    const replace = async () => {
      if (this.#host.ready?.held === held) await this.#host.restart().catch(() => {});
    };
    if (held.users > 0) held.onUnused = () => void replace();
    else await replace();
  }

  close(): Promise<void> {
    return this.#host.close();
  }

  async #openHost(request: LeaseRequest): Promise<ReadyConnection> {
    const { signal, canWait, onWait } = request;
    const opening = canWait ? this.#host.open() : this.#host.openWanted();
    if (onWait) this.#host.onWait(onWait);
    const ready = await unlessAborted(opening, signal);
    // It may have made room for another one in the meantime.
    return ready.held.ending ? this.#openHost(request) : ready;
  }

  /** Undefined where it is no process, or processes are not limited. */
  #openSlot(request: Pick<ProcessRequest, "principal" | "signal" | "stop">): ProcessSlot | undefined {
    const { processes } = this.#options;
    const { id: server, entry, limits } = this.definition;
    if (!processes || entry?.reach.kind !== "stdio") return undefined;
    return processes.budget.open({ ...request, tenant: processes.tenant, server, limits });
  }

  /** Reads the lists of a running server, which may have changed without a report. */
  readListsAgain(): void {
    if (this.#host.ready) void this.lists.reload();
  }

  async #retry(): Promise<void> {
    const host = this.#host;
    host.refuseIfUnable();
    host.forgive();
    this.#keys.forgiveAll();
    const { ready } = host;
    const others = this.#pool.opened().filter((other) => other.held.key !== HOST);
    const [answers] = await Promise.all([
      ready && isAnswering(ready.client),
      ...others.map((other) => this.#retireIfSilent(other.held, other.client)),
    ]);
    if (answers) return this.lists.reload();
    await (host.ready === ready ? host.restart() : host.openWanted());
  }

  #keyFor(owner: string, input: InputProvider | undefined): string {
    const { isolation } = this.definition;
    const { nature } = this.#host;
    // A modern server asks in its answers, so every question belongs to a known call.
    const isModern = nature !== "legacy";
    const isShared =
      nature === "stateless" || (isModern && owner === HOST) || (isolation === "shared" && (!input || isModern));
    return this.#keys.keyFor({ owner, input, isolation, isShared });
  }

  /** A user of the host's connection answers its own questions, or they are refused; nobody else answers them. */
  #asUsedBy(owner: string, input: InputProvider | undefined, client: Client): Client {
    const own = this.#options.input;
    const answering = input ?? (owner === HOST ? own : own && NOBODY);
    return answering && answering !== own ? client.answeredBy(answering) : client;
  }

  /** An HTTP connection cannot be lost as such: failed calls show that the server is gone. */
  #reported(held: Held, error: NexusError): void {
    const { ready } = this.#host;
    if (held.key !== HOST && error.code === "TIMEOUT" && held.opened) void this.#retireIfSilent(held, held.opened);
    if (ready?.held !== held) return;
    if (error.code === "CONNECTION_FAILED") this.#host.loseUnreachable(ready, error);
    else if (error.code === "CONNECTION_LOST") void this.#host.check(ready);
  }

  /**
   * Replaces an owner's connection that no longer answers, at its next use. It is pinged once, even if several callers
   * report it.
   */
  #retireIfSilent(held: Held, client: Client): Promise<void> {
    const asked = this.#suspects.get(held);
    if (asked) return asked;
    const asking = isAnswering(client).then((answers) => {
      this.#suspects.delete(held);
      if (answers || this.#host.isOver) return;
      this.#options.logger.warn(`a connection to "${this.definition.id}" no longer answers and is replaced`);
      this.#pool.retire(held);
    });
    this.#suspects.set(held, asking);
    return asking;
  }
}

/** Whether a server answers at all; an error is also an answer. */
async function isAnswering(client: Client): Promise<boolean> {
  const error = await ping(client);
  return !error || !isUnanswered(error.code);
}
