import { unableToRun } from "./unable-to-run.ts";
import { Backoff, type BackoffSettings } from "../../async/backoff.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Logger } from "../../text/logger.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { Held } from "./lease.ts";
import { ping } from "./ping.ts";
import type { ServerLists } from "./server-lists.ts";
import type { ServerState } from "./server-state.ts";
import {
  type SupervisorEffect,
  type SupervisorEvent,
  TRANSITIONS,
  type SupervisorState,
} from "./supervisor-machine.ts";

interface HostConnectionOptions {
  definition: () => ServerDefinition;
  pool: ConnectionPool;
  lists: ServerLists;
  /** Answers questions on this connection. */
  input: InputProvider | undefined;
  backoff: BackoffSettings;
  /** How often a legacy server over HTTP is pinged. */
  healthCheckMs: number;
  /** Whether somebody has logged in since the server refused the connection; undefined where that would not help. */
  hasNewLogin: () => Promise<boolean | undefined>;
  logger: Logger;
  onState: (state: ServerState) => void;
  onSwitched: () => void;
}

/** A connection that is up and whose lists have been read. */
export interface ReadyConnection {
  held: Held;
  client: Client;
  since: number;
}

/** One attempt to start the server. A newer one replaces it. */
interface Start {
  /** Aborted when a caller waits for this start: such servers are started first. */
  readonly wanted: AbortController;
  /** Called if it has to wait for a process. */
  readonly onWait: Set<(reason: string) => void>;
  result?: Promise<ReadyConnection>;
  /** Its connection; until there is one, the connection of the start before it. */
  held: Held | undefined;
  ready?: ReadyConnection;
}

/** How often the stored login is looked at while the server requires one. */
const LOGIN_POLL_MS = 1_000;

const DISABLED: ServerState = { kind: "disabled" };

/** The host's own connection to one server: runs the effects of the state machine. */
export class HostConnection {
  /** What the server was at the last connection. `stateless`: a modern server that is no child process. */
  nature: "legacy" | "modern" | "stateless" = "legacy";
  readonly #options: HostConnectionOptions;
  readonly #backoff: Backoff;
  readonly #effects: Readonly<Record<SupervisorEffect, () => void>>;
  #now: ServerSituation;
  #enabled: boolean;
  #start: Start | undefined;
  /** The end of the old connections; the next start, or `close`, waits for it. */
  #ending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The server is not tried again before somebody has logged in. */
  #awaitsLogin = false;

  constructor(options: HostConnectionOptions) {
    const definition = options.definition();
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#enabled = definition.enabled;
    this.#now = firstSituation(definition);
    this.#effects = {
      end: () => void (this.#ending = this.#start?.held && options.pool.end(this.#start.held)),
      open: () => this.#open(),
      watch: () => this.ready && this.#watch(this.ready),
      retire: () => this.#start?.held && options.pool.retire(this.#start.held),
      forgive: () => this.#backoff.reset(),
      "plan-retry": () => this.#planRetry(),
      "cancel-retry": () => clearTimeout(this.#timer),
      report: () => options.onState(this.state),
      "report-switch": () => {
        options.onState(this.state);
        options.onSwitched();
      },
      "close-connections": () => void (this.#ending = options.pool.close()),
    };
  }

  get state(): ServerState {
    return this.#enabled || this.isOver ? this.#now.shown : DISABLED;
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  /** The connection if it is up. */
  get ready(): ReadyConnection | undefined {
    const { machine } = this.#now;
    return machine === "ready" || machine === "degraded" ? this.#start?.ready : undefined;
  }

  /** Switches the server on or off; a connection stays as it is. */
  switch(enabled: boolean): void {
    if (this.#enabled === enabled) return;
    this.#enabled = enabled;
    this.#handle(enabled ? "switch-on" : "switch-off");
  }

  refuseIfUnable(): void {
    const definition = this.#options.definition();
    const { id, problem, trusted } = definition;
    if (this.isOver) {
      throw new NexusError("CLOSED", `The host of "${id}" was closed`, { server: id, mayHaveReached: false });
    }
    if (this.#enabled && !problem && trusted) return;
    const refusal = unableToRun(definition, this.#enabled);
    if (refusal) throw refusal;
  }

  /** Callers share one start, and wait until the lists are read. */
  open(): Promise<ReadyConnection> {
    return (this.#isLive ? this.#start?.result : undefined) ?? this.#begin("start");
  }

  /** The same for a caller that waits: such servers are started first. */
  openWanted(): Promise<ReadyConnection> {
    const opening = this.open();
    this.#start?.wanted.abort();
    return opening;
  }

  /** The old connection ends before the new one starts: two processes may need the same file, port or lock. */
  restart(): Promise<ReadyConnection> {
    const opening = this.#begin("restart");
    this.#start?.wanted.abort();
    return opening;
  }

  /** Forgets earlier failures, because a person asks for another attempt. */
  forgive(): void {
    this.#handle("retry");
  }

  /** Call this when the lists were read again or reading them failed. */
  listsRead(): void {
    const { ready } = this;
    if (!ready) return;
    const state = this.#healthOf(ready);
    const { shown } = this.#now;
    const isSame = state.kind === "degraded" && shown.kind === "degraded" && state.error === shown.error;
    if (!isSame) this.#handle(state.kind === "ready" ? "lists-read" : "lists-failed", state);
  }

  /** Call this when the process or the stream of the connection has ended, or its address no longer answers. */
  lose(ready: ReadyConnection, reason = new NexusError("CONNECTION_LOST", "The connection was lost")): void {
    if (this.ready === ready) this.#fail("lost", reason, this.#backoff.ended(reason, performance.now() - ready.since));
  }

  /** Ends the connection, which nobody uses: it makes room for another process, or the server is disabled. */
  pause(held: Held): void {
    if (this.ready?.held === held) this.#handle("pause");
  }

  /** Calls the listener with the reason, in words, if the start under way has to wait for a process. */
  onWait(listener: (reason: string) => void): void {
    const start = this.#now.machine === "starting" ? this.#start : undefined;
    const reason = start?.held?.slot?.waitingFor;
    if (reason === undefined) start?.onWait.add(listener);
    else listener(reason);
  }

  loseUnreachable(ready: ReadyConnection, error: NexusError): void {
    this.#options.logger.warn(`"${this.#options.definition().id}" cannot be reached any more: ${error.message}`);
    this.lose(ready, error);
  }

  /** Pings the server. */
  async check(ready: ReadyConnection): Promise<void> {
    const error = await ping(ready.client);
    if (error?.code === "CONNECTION_FAILED") this.loseUnreachable(ready, error);
  }

  /** Takes over the new position in the configuration file; the problem itself is the same. */
  updateError({ problem, origin }: ServerDefinition): void {
    const { shown } = this.#now;
    if (shown.kind !== "failed") return;
    const moved = origin && shown.error.details.source ? shown.error.amended({ source: origin }) : shown.error;
    this.#now = { ...this.#now, shown: { ...shown, error: problem ?? moved } };
  }

  async close(): Promise<void> {
    this.#handle("close");
    await this.#ending;
    this.#handle("closed");
  }

  /** Whether it is closed or being closed. */
  get isOver(): boolean {
    return this.#now.machine === "closing" || this.#now.machine === "stopped";
  }

  get #isLive(): boolean {
    return this.#now.machine === "starting" || this.ready !== undefined;
  }

  #handle(event: SupervisorEvent, reported?: ReportedState): void {
    const { machine } = this.#now;
    const transition = TRANSITIONS[machine][event];
    if (transition.kind === "never") {
      const { id } = this.#options.definition();
      return this.#options.logger.error(`"${id}" is ${machine}, and ${event} was not expected`);
    }
    if (transition.kind === "ignore") return;
    this.#now = nextSituation(this.#now, transition.to, reported);
    for (const effect of transition.effects) this.#effects[effect]();
  }

  /** Rejects if the server may not run, or if it failed too often and its pause is not over. */
  async #begin(event: "start" | "restart"): Promise<ReadyConnection> {
    // Every start passes here: at the start of the host, after a pause, and for a call.
    this.refuseIfUnable();
    this.#backoff.refuseIfHopeless();
    this.#handle(event);
    if (this.#start?.result) return this.#start.result;
    throw new NexusError("INTERNAL", `Server "${this.#options.definition().id}" was not started`);
  }

  #open(): void {
    const start: Start = { wanted: new AbortController(), onWait: new Set(), held: this.#start?.held };
    this.#start = start;
    start.result = this.#connect(start, this.#ending);
    this.#ending = undefined;
    // Callers that wait for the start get the failure; for all others it is in the state.
    start.result.catch(() => {});
  }

  async #connect(start: Start, predecessor: Promise<void> | undefined): Promise<ReadyConnection> {
    const { pool, input } = this.#options;
    let held: Held | undefined;
    try {
      if (predecessor) await predecessor;
      if (this.isOver) this.refuseIfUnable();
      held = start.held = pool.holdHost({ input, wanted: start.wanted.signal });
      const reason = held.slot?.waitingFor;
      if (reason !== undefined) for (const listener of start.onWait) listener(reason);
      const ready = await this.#settle(start, held, await held.client);
      // Those who wait for it take their leases first.
      setImmediate(() => pool.giveBack(ready.held));
      return ready;
    } catch (thrown) {
      if (held) await pool.end(held);
      // A newer start has replaced this one: callers that wait for this one get its connection.
      if (this.#start !== start) return this.#newestOr(thrown);
      const error = asNexusError(thrown);
      const needsLogin = error.code === "AUTH_REQUIRED" && (await this.#hasNewLogin()) !== undefined;
      if (this.#start !== start) return this.#newestOr(thrown);
      this.#fail("start-failed", error, needsLogin ? "login" : this.#pauseAfter(error));
      throw error;
    }
  }

  /** That no process was free says nothing about the server. */
  #pauseAfter(error: NexusError): number {
    return error.code === "BUSY" ? (error.details.retryAfterMs ?? 0) : this.#backoff.failed(error);
  }

  #newestOr(thrown: unknown): Promise<ReadyConnection> {
    if (this.#isLive && this.#start?.result) return this.#start.result;
    throw thrown;
  }

  /** Reads the lists of a new connection. After that the server is ready. */
  async #settle(start: Start, held: Held, client: Client): Promise<ReadyConnection> {
    const { lists, definition } = this.#options;
    const since = performance.now();
    this.nature = client.era === "legacy" ? "legacy" : client.pid === undefined ? "stateless" : "modern";
    await lists.follow(client);
    const lack = definition().failIfNoTools ? lists.lackOfTools : undefined;
    const reason = client.lost ?? (held.ending ? new NexusError("CLOSED", "The start was cancelled") : lack);
    if (reason) throw reason;
    const ready = (start.ready = { held, client, since });
    this.#backoff.succeeded();
    const state = this.#healthOf(ready);
    this.#handle(state.kind === "ready" ? "opened" : "opened-without-lists", state);
    return ready;
  }

  /** The end of a process or of a modern server's stream is an event. A legacy server over HTTP has to be pinged. */
  #watch(ready: ReadyConnection): void {
    const { client } = ready;
    void client.closed.then(() => this.lose(ready, client.lost));
    if (client.era === "modern" || client.pid !== undefined) return;
    const timer = setInterval(() => {
      if (this.ready === ready) void this.check(ready);
      else clearInterval(timer);
    }, this.#options.healthCheckMs).unref();
  }

  #healthOf({ client: { era, protocolVersion } }: ReadyConnection): ReportedState & { kind: "ready" | "degraded" } {
    const { error } = this.#options.lists;
    return error ? { kind: "degraded", era, protocolVersion, error } : { kind: "ready", era, protocolVersion };
  }

  /** A server with `autoStart` is started again after a pause, the others at their next use. */
  #fail(event: "start-failed" | "lost", error: NexusError, next: number | "login"): void {
    const isRetried = this.#options.definition().autoStart && this.#enabled;
    this.#awaitsLogin = next === "login" && isRetried;
    const retryAt = next === "login" || !isRetried ? {} : { retryAt: Date.now() + next };
    this.#handle(event, { kind: "failed", error, ...retryAt });
  }

  #planRetry(): void {
    const { shown } = this.#now;
    if (shown.kind !== "failed") return;
    if (shown.retryAt !== undefined) this.#tryAgainIn(shown.retryAt - Date.now());
    else if (this.#awaitsLogin) this.#awaitLogin();
  }

  /** False where the stored login cannot be read: a new one replaces it. */
  #hasNewLogin(): Promise<boolean | undefined> {
    return this.#options.hasNewLogin().catch(() => false);
  }

  /** Another attempt would fail as well until somebody logs in, perhaps in another process. */
  #awaitLogin(): void {
    clearTimeout(this.#timer);
    const look = async () => {
      const isNew = await this.#hasNewLogin();
      const isStillFailed = this.#now.machine === "failed" && this.#timer === timer && this.#enabled;
      if (!isStillFailed) return;
      if (isNew) this.#handle("retry");
      if (isNew) this.#tryAgain();
      else this.#awaitLogin();
    };
    const timer = setTimeout(() => void look(), LOGIN_POLL_MS).unref();
    this.#timer = timer;
  }

  #tryAgainIn(delayMs: number): void {
    clearTimeout(this.#timer);
    // 5 ms later, because a timer can fire slightly early.
    this.#timer = setTimeout(() => this.#tryAgain(), delayMs + 5).unref();
  }

  #tryAgain(): void {
    const { hopelessMs } = this.#backoff;
    if (hopelessMs > 0) this.#tryAgainIn(hopelessMs);
    else this.open().catch(() => {});
  }
}

/** A state of the machine together with the state that is shown for it while the server is switched on. */
interface ServerSituation {
  readonly machine: SupervisorState;
  readonly shown: ServerState;
}

/** What an event reports about a connection: it is up, or why it is not. */
export type ReportedState = Extract<ServerState, { kind: "ready" | "degraded" | "failed" }>;

function firstSituation({ problem, trusted }: ServerDefinition): ServerSituation {
  if (problem) return { machine: "blocked", shown: { kind: "failed", error: problem } };
  return trusted ? situationOf("idle") : { machine: "blocked", shown: { kind: "waiting-for-trust" } };
}

/** The situation in which the machine is in `to`. The only place where the shown state follows the machine. */
export function nextSituation(before: ServerSituation, to: SupervisorState, reported?: ReportedState): ServerSituation {
  if (reported?.kind === to) return { machine: to, shown: reported };
  if (to === before.machine) return before;
  if (to === "idle" || to === "paused" || to === "starting" || to === "stopped") return situationOf(to);
  if (to === "closing") return { machine: to, shown: before.shown };
  throw new NexusError("INTERNAL", `A server became ${to} from ${before.machine} without a report`);
}

function situationOf(kind: "idle" | "paused" | "starting" | "stopped"): ServerSituation {
  return { machine: kind, shown: { kind } };
}
