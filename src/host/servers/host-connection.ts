import { Backoff, type BackoffSettings } from "../../async/backoff.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Logger } from "../../text/logger.ts";
import type { ConnectionPool, Held } from "./connection-pool.ts";
import { ping } from "./ping.ts";
import type { ServerLists } from "./server-lists.ts";
import type { ServerState } from "./server-state.ts";
import {
  TRANSITIONS,
  type SupervisorEffect,
  type SupervisorEvent,
  type SupervisorState,
} from "./supervisor-machine.ts";
import { unableToRun } from "./unable-to-run.ts";

export interface HostConnectionOptions {
  definition: () => ServerDefinition;
  pool: ConnectionPool;
  lists: ServerLists;
  /** Answers questions on this connection. */
  input: InputProvider | undefined;
  backoff: BackoffSettings;
  /** How often a legacy server over HTTP is asked whether it is still there. */
  healthCheckMs: number;
  logger: Logger;
  onState: (state: ServerState) => void;
  onSwitched: () => void;
}

/** The connection, once it is up and its lists are read. */
export interface ReadyConnection {
  held: Held;
  client: Client;
  since: number;
}

/** One start, and what came of it. The last one counts. */
interface Start {
  /** Fires when somebody waits for it. */
  readonly wanted: AbortController;
  result?: Promise<ReadyConnection>;
  /** What it opens; until then, what the start before it opened. */
  held: Held | undefined;
  ready?: ReadyConnection;
}

const STARTING: ServerState = { kind: "starting" };
const IDLE: ServerState = { kind: "idle" };
const DISABLED: ServerState = { kind: "disabled" };

/** The host's own connection to one server: runs the effects of the state machine. */
export class HostConnection {
  /** What the server was when it was reached last. A modern one over HTTP keeps nothing of its callers. */
  nature: "legacy" | "modern" | "stateless" = "legacy";
  readonly #options: HostConnectionOptions;
  readonly #backoff: Backoff;
  readonly #effects: Readonly<Record<SupervisorEffect, () => void>>;
  #machine: SupervisorState;
  #shown: ServerState;
  #enabled: boolean;
  #start: Start | undefined;
  /** What the next start, or the end of closing, waits for. */
  #ending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HostConnectionOptions) {
    const { problem, trusted, enabled } = options.definition();
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#enabled = enabled;
    this.#machine = problem || !trusted ? "blocked" : "idle";
    this.#shown = problem ? { kind: "failed", error: problem } : trusted ? IDLE : { kind: "waiting-for-trust" };
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
    return this.#enabled || this.isOver ? this.#shown : DISABLED;
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  /** The connection where it is up, for callers that need not wait. */
  get ready(): ReadyConnection | undefined {
    return this.#machine === "ready" || this.#machine === "degraded" ? this.#start?.ready : undefined;
  }

  /** Switches the server on or off; a connection stays as it is. */
  switch(enabled: boolean): void {
    if (this.#enabled === enabled) return;
    this.#enabled = enabled;
    this.#handle(enabled ? "switch-on" : "switch-off", enabled && this.#machine === "failed" ? IDLE : undefined);
  }

  refuseIfUnable(): void {
    const { id } = this.#options.definition();
    if (this.isOver) {
      throw new NexusError("CLOSED", `The host of "${id}" was closed`, { server: id, mayHaveReached: false });
    }
    const refusal = unableToRun(this.#options.definition(), this.#enabled);
    if (refusal) throw refusal;
  }

  /** Callers share one start, and all wait until it is known what the server offers. */
  open(): Promise<ReadyConnection> {
    const isShared = this.#machine === "starting" || this.ready !== undefined;
    return (isShared ? this.#start?.result : undefined) ?? this.#begin("start");
  }

  /** The same for a caller that waits for it: such servers are started first. */
  openWanted(): Promise<ReadyConnection> {
    const opening = this.open();
    this.#start?.wanted.abort();
    return opening;
  }

  /** Two of the same may want the same file, port or lock: the old one has ended before the new one starts. */
  restart(): Promise<ReadyConnection> {
    const opening = this.#begin("restart");
    this.#start?.wanted.abort();
    return opening;
  }

  /** A person asks for another try. */
  forgive(): void {
    this.#handle("retry");
  }

  /** The lists of the connection were read again, or could not be. */
  listsRead(): void {
    const { ready } = this;
    if (!ready) return;
    const state = this.#healthOf(ready);
    const isSame = state.kind === "degraded" && this.#shown.kind === "degraded" && state.error === this.#shown.error;
    if (!isSame) this.#handle(state.kind === "ready" ? "lists-read" : "lists-failed", state);
  }

  /** Its process, or the stream it lived on, is gone; or nothing answers at its address. */
  lose(ready: ReadyConnection, reason = new NexusError("CONNECTION_LOST", "The connection was lost")): void {
    if (this.ready === ready) this.#fail("lost", reason, this.#backoff.ended(reason, performance.now() - ready.since));
  }

  loseUnreachable(ready: ReadyConnection, error: NexusError): void {
    this.#options.logger.warn(`"${this.#options.definition().id}" cannot be reached any more: ${error.message}`);
    this.lose(ready, error);
  }

  /** Asks the server whether it is still there. */
  async check(ready: ReadyConnection): Promise<void> {
    const error = await ping(ready.client);
    if (error?.code === "CONNECTION_FAILED") this.loseUnreachable(ready, error);
  }

  /** The problem is the same; its line in the file may be another. */
  updateError({ problem, origin }: ServerDefinition): void {
    const shown = this.#shown;
    if (shown.kind !== "failed") return;
    const moved = origin && shown.error.details.source ? shown.error.amended({ source: origin }) : shown.error;
    this.#shown = { ...shown, error: problem ?? moved };
  }

  async close(): Promise<void> {
    this.#handle("close");
    await this.#ending;
    this.#handle("closed", { kind: "stopped" });
  }

  /** Closed, or about to be. */
  get isOver(): boolean {
    return this.#machine === "closing" || this.#machine === "stopped";
  }

  #handle(event: SupervisorEvent, shown?: ServerState): void {
    const transition = TRANSITIONS[this.#machine][event];
    if (transition.kind === "never") {
      const { id } = this.#options.definition();
      return this.#options.logger.error(`"${id}" is ${this.#machine}, and ${event} was not expected`);
    }
    if (transition.kind === "ignore") return;
    this.#machine = transition.to;
    if (shown) this.#shown = shown;
    for (const effect of transition.effects) this.#effects[effect]();
  }

  /** While the circuit is open, nothing starts before its time. */
  async #begin(event: "start" | "restart"): Promise<ReadyConnection> {
    // Nothing starts past this: not by itself, not by a retry, not by a call.
    this.refuseIfUnable();
    this.#backoff.refuseIfHopeless();
    this.#handle(event, STARTING);
    if (this.#start?.result) return this.#start.result;
    throw new NexusError("INTERNAL", `Server "${this.#options.definition().id}" was not started`);
  }

  #open(): void {
    const start: Start = { wanted: new AbortController(), held: this.#start?.held };
    this.#start = start;
    start.result = this.#connect(start, this.#ending);
    this.#ending = undefined;
    // Those who wait for it hear of a failure; the state reports it to all others.
    start.result.catch(() => {});
  }

  async #connect(start: Start, predecessor: Promise<void> | undefined): Promise<ReadyConnection> {
    const { pool, input } = this.#options;
    let held: Held | undefined;
    try {
      if (predecessor) await predecessor;
      if (this.isOver) this.refuseIfUnable();
      held = start.held = pool.holdHost({ input, wanted: start.wanted.signal });
      return await this.#settle(start, held, await held.client);
    } catch (thrown) {
      if (held) await pool.end(held);
      // It was given up for another start, which serves those who wait for this one just as well.
      if (this.#start !== start) return this.#newestOr(thrown);
      const error = asNexusError(thrown);
      this.#fail("start-failed", error, this.#backoff.failed(error));
      throw error;
    }
  }

  #newestOr(thrown: unknown): Promise<ReadyConnection> {
    const isLive = this.#machine === "starting" || this.ready !== undefined;
    if (isLive && this.#start?.result) return this.#start.result;
    throw thrown;
  }

  /** Connected: the lists are read before it counts as ready. */
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

  /** A process that ends is noticed, and so is a modern server's stream; a legacy server over HTTP has to be asked. */
  #watch(ready: ReadyConnection): void {
    const { client } = ready;
    void client.closed.then(() => this.lose(ready, client.lost));
    if (client.era === "modern" || client.pid !== undefined) return;
    const timer = setInterval(() => {
      if (this.ready === ready) void this.check(ready);
      else clearInterval(timer);
    }, this.#options.healthCheckMs).unref();
  }

  #healthOf({ client: { era, protocolVersion } }: ReadyConnection): ServerState & { kind: "ready" | "degraded" } {
    const { error } = this.#options.lists;
    return error ? { kind: "degraded", era, protocolVersion, error } : { kind: "ready", era, protocolVersion };
  }

  /** A server that starts by itself is tried again by itself; the others on their next use. */
  #fail(event: "start-failed" | "lost", error: NexusError, delayMs: number): void {
    const isRetried = this.#options.definition().autoStart && this.#enabled;
    this.#handle(event, { kind: "failed", error, ...(isRetried ? { retryAt: Date.now() + delayMs } : {}) });
  }

  #planRetry(): void {
    if (this.#shown.kind !== "failed" || this.#shown.retryAt === undefined) return;
    this.#tryAgainIn(this.#shown.retryAt - Date.now());
  }

  #tryAgainIn(delayMs: number): void {
    clearTimeout(this.#timer);
    // A little later than its time: a timer may be a moment early.
    this.#timer = setTimeout(() => this.#tryAgain(), delayMs + 5).unref();
  }

  #tryAgain(): void {
    const { hopelessMs } = this.#backoff;
    if (hopelessMs > 0) this.#tryAgainIn(hopelessMs);
    else this.open().catch(() => {});
  }
}
