import { isDeepStrictEqual } from "node:util";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { Backoff, type BackoffSettings } from "../../async/backoff.ts";
import { ConnectionPool, HOST, type Held, type OpenOptions } from "./connection-pool.ts";
import { LeaseKeys, NOBODY } from "./lease-keys.ts";
import type { Lease, LeaseRequest } from "./lease.ts";
import { ServerLists } from "./server-lists.ts";
import type { ServerState } from "./server-state.ts";
import { unableToRun } from "./unable-to-run.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";
import { isSilence } from "../../errors/error-traits.ts";

export interface SupervisorOptions {
  connect: (definition: ServerDefinition, options: OpenOptions) => Promise<Client>;
  /** Answers questions on the host's own connection. */
  input: InputProvider | undefined;
  backoff: BackoffSettings;
  /** How long a connection that nobody uses is kept, unless it is the host's own. */
  idleMs: number;
  maxConnections: number;
  maxOwnerConnections: number;
  connectionShare: number;
  /** How long a connection that is one too many waits for another to end. */
  waitMs: number;
  /** How often a legacy server over HTTP is asked whether it is still there. */
  healthCheckMs: number;
  logger: Logger;
  onState: (state: ServerState) => void;
  onLists: (told?: readonly ChangingList[]) => void;
}

/** The host's own connection, once it is up and its lists are read. */
interface Ready {
  held: Held;
  client: Client;
  since: number;
}

/** How long a server that is asked whether it is still there may take. */
const PING_MS = 3_000;

/** Keeps one configured server running: starts it when needed, again when it died, and not too often. */
export class ServerSupervisor {
  definition: ServerDefinition;
  readonly lists: ServerLists;
  /** The start that was asked for last is over, however it went. */
  started: Promise<void> = Promise.resolve();
  readonly #options: SupervisorOptions;
  readonly #pool: ConnectionPool;
  readonly #keys: LeaseKeys;
  readonly #backoff: Backoff;
  /** The host's own connection, from the moment it is wanted. */
  #host: Promise<Ready> | undefined;
  /** The same once it is up, for callers that need not wait. */
  #ready: Ready | undefined;
  #state: ServerState;
  #enabled: boolean;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Ask in their answers, so that it is always known whose question it is. */
  #isModern = false;
  /** Modern HTTP servers keep nothing of their callers: everybody shares one connection. */
  #isStateless = false;
  #retrying: Promise<void> | undefined;
  /** Fires when somebody waits for the last start. */
  #wanted = new AbortController();
  /** Of the starts of the host's own connection the last one counts. */
  #starts = 0;
  /** What the last start is opening. */
  #opening: Held | undefined;
  /** Connections that are being asked whether they are still there. */
  readonly #suspects = new Map<Held, Promise<void>>();

  constructor(definition: ServerDefinition, options: SupervisorOptions) {
    const { connect, idleMs, maxConnections, maxOwnerConnections, connectionShare, waitMs, logger } = options;
    this.definition = definition;
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#keys = new LeaseKeys(options.input, options.backoff);
    this.#enabled = definition.enabled;
    this.#state = this.#resting();
    this.#pool = new ConnectionPool({
      server: definition.id,
      connect: (settings) => connect(this.definition, settings),
      idleMs,
      maxConnections,
      maxOwnerConnections,
      connectionShare,
      waitMs,
      logger,
      onReport: (held, error) => this.#reported(held, asNexusError(error)),
    });
    this.lists = new ServerLists(definition, {
      logger,
      onLists: (told) => this.#listsRead(told),
      onInterrupted: () => this.#ready && void this.#checkIsThere(this.#ready),
    });
  }

  get state(): ServerState {
    return this.#enabled || this.#closed ? this.#state : { kind: "disabled" };
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  /** Switches the tools on or off; a connection stays as it is. */
  toggle(enabled: boolean): void {
    if (this.#enabled === enabled) return;
    this.#enabled = enabled;
    clearTimeout(this.#timer);
    // What failed before it was switched off gets another chance.
    if (enabled && (this.#state.kind === "disabled" || this.#state.kind === "failed")) {
      this.#backoff.reset();
      this.#state = this.#resting();
    }
    this.#options.onState(this.state);
    this.#options.onLists();
  }

  /** The same server with other settings around it; false if it has to be started anew for them. */
  adopt(definition: ServerDefinition): boolean {
    const { entry, transport, trusted, problem, enabled, tools, failIfNoTools, prefix } = this.definition;
    const isSame =
      definition.transport === transport &&
      isDeepStrictEqual(definition.entry, entry) &&
      definition.trusted === trusted &&
      definition.prefix === prefix &&
      definition.problem?.message === problem?.message;
    if (!isSame) return false;
    this.definition = definition;
    this.lists.definition = definition;
    this.#refreshError(definition);
    if (definition.failIfNoTools && !failIfNoTools) this.#failIfNoTools();
    // What a person switched by hand stays so, unless the configuration itself changed its mind.
    if (definition.enabled !== enabled) this.toggle(definition.enabled);
    else if (!isDeepStrictEqual(definition.tools, tools)) this.#options.onLists();
    return true;
  }

  /** What is wrong is the same; where it stands in the file may not be. */
  #refreshError({ problem, origin }: ServerDefinition): void {
    const state = this.#state;
    if (state.kind !== "failed") return;
    this.#state = { ...state, error: problem ?? placed(state.error, origin) };
  }

  #failIfNoTools(): void {
    const lack = this.#ready && this.lists.lackOfTools;
    if (this.#ready && lack) this.#lost(this.#ready, lack);
  }

  /** Connects, if that is wanted at the start. Never rejects: how it went is in the state. */
  start(): Promise<void> {
    if (!this.#enabled || !this.definition.autoStart) return Promise.resolve();
    const whatever = () => {};
    this.started = this.#ensureHost().then(whatever, whatever);
    return this.started;
  }

  /** Connects, so that it is known what the server offers. */
  async wake(signal: CancelSignal | undefined): Promise<void> {
    this.#refuseIfUnable();
    await unlessAborted(this.#ensureWanted(), signal);
  }

  /** A connection for this owner; waits for this server only. */
  async lease({ owner = HOST, principal, input, signal, canWait }: LeaseRequest = {}): Promise<Lease> {
    this.#refuseIfUnable();
    const key = this.#keyFor(owner, input);
    if (key !== HOST) {
      return this.#pool.lease(key, { owner, principal, input, backoff: this.#keys.backoffOf(owner) }, signal);
    }
    const { held, client } =
      this.#ready ?? (await unlessAborted(canWait ? this.#ensureHost() : this.#ensureWanted(), signal));
    return this.#pool.leaseNow(held, this.#asUsedBy(owner, input, client));
  }

  /** The same where the connection is up already; undefined where it has to be waited for. */
  findLease({ owner = HOST, input }: LeaseRequest = {}): Lease | undefined {
    this.#refuseIfUnable();
    const key = this.#keyFor(owner, input);
    if (key !== HOST) return this.#pool.findLease(key);
    const ready = this.#ready;
    return ready && this.#pool.leaseNow(ready.held, this.#asUsedBy(owner, input, ready.client));
  }

  /** An owner is gone, and what was kept for it alone. */
  release(owner: string): void {
    this.#pool.release(owner);
    this.#keys.forgive(owner);
  }

  /** Tries again now, whatever happened before: what does not answer any more, or hangs, is started anew. */
  retry(): Promise<void> {
    return (this.#retrying ??= this.#retry().finally(() => (this.#retrying = undefined)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#ready = undefined;
    await this.#pool.close();
    this.#set({ kind: "stopped" });
  }

  async #retry(): Promise<void> {
    this.#refuseIfUnable();
    this.#backoff.reset();
    this.#keys.forgiveAll();
    clearTimeout(this.#timer);
    const { held, client } = this.#ready ?? {};
    const others = this.#pool.opened().filter((other) => other.held.key !== HOST);
    const [isAnswering] = await Promise.all([
      client && this.#isAnswering(client),
      ...others.map((other) => this.#retireIfSilent(other.held, other.client)),
    ]);
    if (isAnswering) return this.lists.reload();
    const isSame = this.#ready?.held === held;
    const starting = isSame ? this.#startAnew(held ?? this.#opening) : this.#ensureHost();
    this.#wanted.abort();
    await starting;
  }

  /** Two of the same may want the same file, port or lock: the old one is gone before the new one begins. */
  #startAnew(old: Held | undefined): Promise<Ready> {
    this.#ready = undefined;
    return this.#begin(old && this.#pool.end(old));
  }

  #keyFor(owner: string, input: InputProvider | undefined): string {
    const { isolation } = this.definition;
    const isShared =
      this.#isStateless || (this.#isModern && owner === HOST) || (isolation === "shared" && (!input || this.#isModern));
    return this.#keys.keyFor({ owner, input, isolation, isShared });
  }

  #resting(): ServerState {
    const { problem, trusted } = this.definition;
    if (problem) return { kind: "failed", error: problem };
    if (!trusted) return { kind: "waiting-for-trust" };
    return this.#enabled ? { kind: "idle" } : { kind: "disabled" };
  }

  #refuseIfUnable(): void {
    const { id } = this.definition;
    if (this.#closed)
      throw new NexusError("CLOSED", `The host of "${id}" was closed`, { server: id, mayHaveReached: false });
    const refusal = unableToRun(this.definition, this.#enabled);
    if (refusal) throw refusal;
  }

  /** Whoever shares the host's connection answers for themselves, or nobody does: never somebody else. */
  #asUsedBy(owner: string, input: InputProvider | undefined, client: Client): Client {
    const own = this.#options.input;
    const answering = input ?? (owner === HOST ? own : own && NOBODY);
    return answering && answering !== own ? client.answeredBy(answering) : client;
  }

  /** Racing callers share one start, and all wait until it is known what the server offers. */
  #ensureHost(): Promise<Ready> {
    return this.#host ?? this.#begin();
  }

  /** The same for somebody who waits for it. */
  #ensureWanted(): Promise<Ready> {
    const starting = this.#ensureHost();
    this.#wanted.abort();
    return starting;
  }

  #begin(predecessor?: Promise<void>): Promise<Ready> {
    const starting = this.#startHost(predecessor);
    this.#host = starting;
    starting.catch(() => {
      if (this.#host === starting) this.#host = undefined;
    });
    return starting;
  }

  /** While the circuit is open, nobody tries before its time. */
  async #startHost(predecessor: Promise<void> | undefined): Promise<Ready> {
    // Nothing starts past this: not by itself, not by a retry, not by a call.
    this.#refuseIfUnable();
    this.#backoff.refuseIfHopeless();
    clearTimeout(this.#timer);
    this.#set({ kind: "starting" });
    const start = ++this.#starts;
    const { signal: wanted } = (this.#wanted = new AbortController());
    let held: Held | undefined;
    try {
      if (predecessor) await predecessor;
      if (this.#closed) this.#refuseIfUnable();
      held = this.#opening = this.#pool.holdHost({ input: this.#options.input, wanted });
      return await this.#settle(held, await held.client);
    } catch (thrown) {
      if (held) await this.#pool.end(held);
      // It was given up for another one, which whoever waits for this one wants just as well.
      if (start !== this.#starts && this.#host) return this.#host;
      if (start !== this.#starts) throw thrown;
      const error = asNexusError(thrown);
      this.#failed(error, this.#backoff.failed(error));
      throw error;
    }
  }

  /** Connected: what it offers is read before it counts as ready. */
  async #settle(held: Held, client: Client): Promise<Ready> {
    const since = performance.now();
    this.#isModern = client.era === "modern";
    this.#isStateless = this.#isModern && client.pid === undefined;
    await this.lists.follow(client);
    const lack = this.definition.failIfNoTools ? this.lists.lackOfTools : undefined;
    const reason = client.lost ?? (held.ending ? new NexusError("CLOSED", "The start was given up") : lack);
    if (reason) throw reason;
    const ready = { held, client, since };
    this.#backoff.succeeded();
    this.#ready = ready;
    this.#showHealth(ready);
    this.#checkRegularly(ready);
    void client.closed.then(() => this.#lost(ready, client.lost));
    return ready;
  }

  /** A process that ends is noticed, and so is a modern server's stream; a legacy server over HTTP has to be asked. */
  #checkRegularly(ready: Ready): void {
    if (ready.client.era === "modern" || ready.client.pid !== undefined) return;
    const timer = setInterval(() => {
      if (this.#ready === ready) void this.#checkIsThere(ready);
      else clearInterval(timer);
    }, this.#options.healthCheckMs).unref();
  }

  #listsRead(told: readonly ChangingList[]): void {
    this.#options.onLists(told);
    if (this.#ready) this.#showHealth(this.#ready);
  }

  /** Ready, or degraded while a list cannot be read. */
  #showHealth({ client: { era, protocolVersion } }: Ready): void {
    const { error } = this.lists;
    const state: ServerState = error
      ? { kind: "degraded", era, protocolVersion, error }
      : { kind: "ready", era, protocolVersion };
    const isNew = state.kind !== this.#state.kind || (this.#state.kind === "degraded" && this.#state.error !== error);
    if (isNew && !this.#closed) this.#set(state);
  }

  /** Its process, or the stream it lived on, is gone; or there is nobody any more where it was reached. */
  #lost(ready: Ready, reason = new NexusError("CONNECTION_LOST", "The connection was lost")): void {
    if (this.#ready !== ready) return;
    this.#host = this.#ready = undefined;
    this.#pool.retire(ready.held);
    this.#failed(reason, this.#backoff.ended(reason, performance.now() - ready.since));
  }

  /** HTTP has no connection that could be lost: that the server is gone is learnt from calls. */
  #reported(held: Held, error: NexusError): void {
    const ready = this.#ready;
    if (held.key !== HOST && error.code === "TIMEOUT" && held.opened) void this.#retireIfSilent(held, held.opened);
    if (ready?.held !== held) return;
    if (error.code === "CONNECTION_FAILED") this.#unreachable(ready, error);
    else if (error.code === "CONNECTION_LOST") void this.#checkIsThere(ready);
  }

  async #checkIsThere(ready: Ready): Promise<void> {
    const error = await this.#ping(ready.client);
    if (error?.code === "CONNECTION_FAILED") this.#unreachable(ready, error);
  }

  #unreachable(ready: Ready, error: NexusError): void {
    this.#options.logger.warn(`"${this.definition.id}" cannot be reached any more: ${error.message}`);
    this.#lost(ready, error);
  }

  /** An owner's connection that is stuck is replaced at its next use. Several who suspect it ask once. */
  #retireIfSilent(held: Held, client: Client): Promise<void> {
    const asked = this.#suspects.get(held);
    if (asked) return asked;
    const asking = this.#isAnswering(client).then((isAnswering) => {
      this.#suspects.delete(held);
      if (isAnswering || this.#closed) return;
      this.#options.logger.warn(`a connection to "${this.definition.id}" does not answer any more, and is replaced`);
      this.#pool.retire(held);
    });
    this.#suspects.set(held, asking);
    return asking;
  }

  async #isAnswering(client: Client): Promise<boolean> {
    const error = await this.#ping(client);
    return !error || !isSilence(error.code);
  }

  async #ping(client: Client): Promise<NexusError | undefined> {
    return client.ping({ timeoutMs: PING_MS }).then(() => undefined, asNexusError);
  }

  /** What starts by itself is tried again by itself; the others on their next use. */
  #failed(error: NexusError, delayMs: number): void {
    if (this.#closed) return;
    if (!this.definition.autoStart || !this.#enabled) return this.#set({ kind: "failed", error });
    this.#set({ kind: "failed", error, retryAt: Date.now() + delayMs });
    // A little later than its time: a timer may be a moment early.
    this.#tryAgainIn(delayMs + 5);
  }

  #tryAgainIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tryAgain(), delayMs).unref();
  }

  #tryAgain(): void {
    const { hopelessMs } = this.#backoff;
    if (hopelessMs > 0) this.#tryAgainIn(hopelessMs + 5);
    else this.#ensureHost().catch(() => {});
  }

  #set(state: ServerState): void {
    this.#state = state;
    this.#options.onState(this.state);
  }
}

function placed(error: NexusError, origin: ServerDefinition["origin"]): NexusError {
  return origin && error.details.source ? error.amended({ source: origin }) : error;
}
