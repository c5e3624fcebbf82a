import { isDeepStrictEqual } from "node:util";
import type { Client } from "../client/client.ts";
import type { ConnectOptions } from "../client/connect-entry.ts";
import type { InputProvider } from "../client/input.ts";
import type { Logger } from "../client/logger.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { asNexusError, messageOf, NexusError } from "../errors/nexus-error.ts";
import { Backoff, type BackoffSettings } from "./backoff.ts";
import { ServerLists } from "./server-lists.ts";
import type { ServerState } from "./server-state.ts";
import { unableToRun } from "./unable-to-run.ts";

/** A connection that somebody uses. It is given back when it is no longer needed. */
export interface Lease extends Disposable {
  readonly client: Client;
  release(): void;
}

/** Who wants a connection. Owners never share one that keeps state. */
export interface LeaseRequest {
  /** The host's own where absent. */
  owner?: string;
  /** Answers the server's questions on this owner's connection. */
  input?: InputProvider;
  signal?: AbortSignal;
}

export interface SupervisorOptions {
  connect: (definition: ServerDefinition, options: Pick<ConnectOptions, "input" | "signal">) => Promise<Client>;
  /** Answers questions on the host's own connection. */
  input: InputProvider | undefined;
  backoff: BackoffSettings;
  /** How long a connection that nobody uses is kept, unless it is the host's own. */
  idleMs: number;
  maxConnections: number;
  logger: Logger;
  onState: (state: ServerState) => void;
  onLists: () => void;
}

/** One connection and who uses it. */
interface Held {
  key: string;
  client: Promise<Client>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

const HOST = "";

/** Keeps one configured server running: starts it when needed, again when it died, and not too often. */
export class ServerSupervisor {
  definition: ServerDefinition;
  readonly lists: ServerLists;
  readonly #options: SupervisorOptions;
  readonly #backoff: Backoff;
  readonly #held = new Map<string, Held>();
  /** The host's own connection, from the moment it is wanted. */
  #host: Promise<Held> | undefined;
  /** The same once it is up, for callers that need not wait. */
  #ready: { held: Held; client: Client } | undefined;
  #state: ServerState;
  #enabled: boolean;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds since 1970, before which trying again would be hammering. */
  #notBefore = 0;
  #lastError: NexusError | undefined;
  #closed = false;
  /** Fires when this server is no longer wanted: a start that is under way is given up. */
  readonly #ending = new AbortController();
  /** Modern HTTP servers keep nothing of their callers: everybody shares one connection. */
  #isStateless = false;

  constructor(definition: ServerDefinition, options: SupervisorOptions) {
    this.definition = definition;
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#enabled = definition.enabled;
    this.#state = this.#resting();
    this.lists = new ServerLists(definition, options);
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
    if (enabled && this.#state.kind === "disabled") this.#state = this.#resting();
    this.#options.onState(this.state);
    this.#options.onLists();
  }

  /** The same server with other settings around it; false if it has to be started anew for them. */
  adopt(definition: ServerDefinition): boolean {
    const { entry, trusted, problem, enabled } = this.definition;
    const isSame =
      isDeepStrictEqual(definition.entry, entry) &&
      definition.trusted === trusted &&
      definition.problem?.message === problem?.message;
    if (!isSame) return false;
    this.definition = definition;
    this.lists.definition = definition;
    // What a person switched by hand stays so, unless the configuration itself changed its mind.
    if (definition.enabled !== enabled) this.toggle(definition.enabled);
    return true;
  }

  /** Connects, if that is wanted at the start. Never rejects: how it went is in the state. */
  async start(): Promise<void> {
    if (!this.#enabled || !this.definition.autoStart) return;
    await this.#ensureHost().catch(() => {});
  }

  /** A connection for this owner; waits for this server only. */
  async lease({ owner = HOST, input, signal }: LeaseRequest = {}): Promise<Lease> {
    this.#refuseIfUnable();
    const key = this.#keyFor(owner, input);
    if (key === HOST && this.#ready) {
      this.#ready.held.users++;
      return this.#leased(this.#ready.held, this.#ready.client);
    }
    const held = key === HOST ? await unlessAborted(this.#ensureHost(), signal) : this.#hold(key, input);
    held.users++;
    clearTimeout(held.idle);
    try {
      return this.#leased(held, await unlessAborted(held.client, signal));
    } catch (error) {
      this.#release(held);
      throw error;
    }
  }

  /** Tries again now, whatever happened before. */
  async retry(): Promise<void> {
    this.#backoff.reset();
    clearTimeout(this.#timer);
    const held = await this.#ensureHost();
    if (this.#state.kind === "degraded") await this.#load(await held.client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ending.abort(new NexusError("CLOSED", "The host was closed"));
    clearTimeout(this.#timer);
    const all = [...this.#held.values()];
    this.#held.clear();
    this.#ready = undefined;
    await Promise.all(all.map((held) => this.#end(held)));
    this.#set({ kind: "stopped" });
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

  #keyFor(owner: string, input: InputProvider | undefined): string {
    const { isolation } = this.definition;
    if (isolation === "call") return `call ${crypto.randomUUID()}`;
    if (this.#isStateless || (isolation === "shared" && !input)) return HOST;
    return owner === HOST ? HOST : JSON.stringify([owner, input?.capabilities ?? {}]);
  }

  /** Racing callers share one start, and all wait until it is known what the server offers. */
  #ensureHost(): Promise<Held> {
    if (this.#host) return this.#host;
    const starting = this.#startHost();
    this.#host = starting;
    starting.catch(() => {
      if (this.#host === starting) this.#host = undefined;
    });
    return starting;
  }

  /** While the circuit is open, nobody tries before its time. */
  async #startHost(): Promise<Held> {
    // Nothing starts past this: not by itself, not by a retry, not by a call.
    this.#refuseIfUnable();
    this.#refuseIfHopeless();
    clearTimeout(this.#timer);
    this.#set({ kind: "starting" });
    let held: Held | undefined;
    try {
      held = this.#hold(HOST, this.#options.input);
      const client = await held.client;
      await this.#settle(client);
      if (this.#held.get(HOST) === held) this.#ready = { held, client };
      return held;
    } catch (error) {
      if (this.#held.get(HOST) === held) this.#held.delete(HOST);
      this.#failed(asNexusError(error), this.#backoff.failed());
      throw error;
    }
  }

  #refuseIfHopeless(): void {
    if (this.#backoff.isOpen && this.#lastError && Date.now() < this.#notBefore) throw this.#lastError;
  }

  #hold(key: string, input: InputProvider | undefined): Held {
    const running = this.#held.get(key);
    if (running) return running;
    const { id } = this.definition;
    this.#refuseIfHopeless();
    this.#makeRoom();
    if (this.#held.size >= this.#options.maxConnections) {
      throw new NexusError("CONNECTION_FAILED", `Server "${id}" has ${this.#held.size} connections already`, {
        server: id,
        hint: "Give back what is not used, or raise the limit.",
        mayHaveReached: false,
      });
    }
    const held: Held = {
      key,
      client: this.#options.connect(this.definition, { input, signal: this.#ending.signal }),
      users: 0,
      idle: undefined,
    };
    this.#held.set(key, held);
    held.client.then(
      (client) => void client.closed.then(() => this.#lost(held, client)),
      (error: unknown) => {
        if (this.#held.get(key) === held) this.#held.delete(key);
        if (key !== HOST && !this.#closed) this.#noteFailure(asNexusError(error), this.#backoff.failed());
      },
    );
    return held;
  }

  /** A connection that was given back makes way for one that is wanted. */
  #makeRoom(): void {
    if (this.#held.size < this.#options.maxConnections) return;
    const spare = [...this.#held.values()].find(({ key, users }) => key !== HOST && users === 0);
    if (!spare) return;
    this.#held.delete(spare.key);
    void this.#end(spare);
  }

  /** Connected: what it offers is read before it counts as ready. */
  async #settle(client: Client): Promise<void> {
    const startedAt = performance.now();
    this.#isStateless = client.era === "modern" && client.pid === undefined;
    await this.#load(client);
    void client.closed.then(() => {
      const livedMs = performance.now() - startedAt;
      if (this.#closed || this.#held.get(HOST)) return;
      this.#failed(
        client.lost ?? new NexusError("CONNECTION_LOST", "The connection was lost"),
        this.#backoff.ended(livedMs),
      );
    });
  }

  async #load(client: Client): Promise<void> {
    const { era, protocolVersion } = client;
    const error = await this.lists.load(client);
    if (client.lost) throw client.lost;
    if (error && this.definition.failIfNoTools) {
      await client.close();
      throw error;
    }
    this.#set(error ? { kind: "degraded", era, protocolVersion, error } : { kind: "ready", era, protocolVersion });
  }

  #lost(held: Held, client: Client): void {
    if (this.#held.get(held.key) !== held) return;
    this.#held.delete(held.key);
    if (held.key === HOST) this.#host = this.#ready = undefined;
    clearTimeout(held.idle);
    this.#options.logger.warn(`"${this.definition.id}" was lost: ${client.lost?.message ?? "closed"}`);
  }

  /** What starts by itself is tried again by itself; the others on their next use. */
  #failed(error: NexusError, delayMs: number): void {
    if (this.#closed) return;
    this.#noteFailure(error, delayMs);
    if (!this.definition.autoStart) return this.#set({ kind: "failed", error });
    this.#set({ kind: "failed", error, retryAt: this.#notBefore });
    // A little later than its time: a timer may be a moment early.
    this.#timer = setTimeout(() => this.#tryAgain(), delayMs + 5).unref();
  }

  #noteFailure(error: NexusError, delayMs: number): void {
    this.#lastError = error;
    this.#notBefore = Date.now() + delayMs;
  }

  #tryAgain(): void {
    this.#ensureHost().catch(() => {});
  }

  #leased(held: Held, client: Client): Lease {
    let isOut = true;
    const release = () => {
      if (isOut) this.#release(held);
      isOut = false;
    };
    return { client, release, [Symbol.dispose]: release };
  }

  #release(held: Held): void {
    if (--held.users > 0 || held.key === HOST) return;
    const idleMs = held.key.startsWith("call ") ? 0 : this.#options.idleMs;
    held.idle = setTimeout(() => {
      if (this.#held.get(held.key) === held) this.#held.delete(held.key);
      void this.#end(held);
    }, idleMs);
    if (idleMs > 0) held.idle.unref();
  }

  async #end(held: Held): Promise<void> {
    clearTimeout(held.idle);
    try {
      await (await held.client).close();
    } catch (error) {
      this.#options.logger.debug(`ending "${this.definition.id}": ${messageOf(error)}`);
    }
  }

  #set(state: ServerState): void {
    this.#state = state;
    this.#options.onState(this.state);
  }
}

/** Callers share a start: one that leaves leaves the others waiting. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let leave: () => void = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () =>
      reject(new NexusError("CANCELLED", "The call was cancelled", { cause: signal.reason, mayHaveReached: false }));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
