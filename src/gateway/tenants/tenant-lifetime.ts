import type { CancelSignal } from "../../async/cancellation.ts";
import type { Deadlines, Timed } from "../../async/deadlines.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { within } from "../../async/within.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { shuttingDown, busyError } from "../../server/core/busy-error.ts";
import type { Logger } from "../../text/logger.ts";
import type { Views } from "../requests/views.ts";
import type { TenantHost } from "./tenant-host.ts";

export interface LifetimeOptions {
  open: () => Promise<TenantHost>;
  /** Logs why it could not be opened; returns what callers are told. */
  report: (thrown: unknown) => NexusError;
  /** How long it stays open after its last use. */
  idleMs: number;
  /** How long a caller waits for it to open. */
  openMs: number;
  /** How long closing waits for an opening that is under way. */
  drainMs: number;
  deadlines: Deadlines;
  /** Fires when the gateway closes. */
  ending: CancelSignal;
  logger: Logger;
}

/** Something that goes on when the tenant is opened again. */
export interface Suspendable {
  suspend(): void;
  resume(): void;
}

type State =
  | { kind: "closed" }
  | { kind: "opening"; opened: Promise<TenantHost> }
  | { kind: "open"; host: TenantHost }
  | { kind: "closing"; closed: Promise<void> }
  | { kind: "failed"; error: NexusError; retryAt: number };

/** Callers that come sooner after a failed opening get the same error. */
const RETRY_MS = 1000;

/**
 * When the host of a tenant is open: from its first use until it was not used for a while, and again with the next use.
 * There is one host at a time: callers that race share one opening, which waits until the host before has closed.
 */
export class TenantLifetime implements Timed {
  slot = -1;
  readonly #options: LifetimeOptions;
  readonly #suspendable = new Set<Suspendable>();
  #state: State = { kind: "closed" };
  #wasOpened = false;
  #users = 0;
  #usedAt = 0;

  constructor(options: LifetimeOptions) {
    this.#options = options;
  }

  get opened(): TenantHost | undefined {
    return this.#state.kind === "open" ? this.#state.host : undefined;
  }

  /** Whether nothing depends on it: it could never be opened, and nobody waits for it. */
  get isUnknown(): boolean {
    return this.#state.kind === "failed" && !this.#wasOpened && this.#users === 0;
  }

  /** Opens it if need be; it stays open until `leave` is called. */
  async enter(signal?: CancelSignal): Promise<TenantHost> {
    this.#users++;
    try {
      return this.opened ?? (await this.#wait(signal));
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  leave(): void {
    this.#users--;
    this.#touch();
  }

  /** It is open while the work is done. */
  async use<T>(work: (views: Views) => Promise<T>, signal?: CancelSignal): Promise<T> {
    const { views } = await this.enter(signal);
    try {
      return await work(views);
    } finally {
      this.leave();
    }
  }

  /** Told when the host is closed and when there is another, until the returned function is called. */
  follow(one: Suspendable): () => void {
    this.#suspendable.add(one);
    return () => this.#suspendable.delete(one);
  }

  get remainingMs(): number {
    return this.#users > 0 ? Infinity : this.#usedAt + this.#options.idleMs - performance.now();
  }

  expire(): void {
    const host = this.opened;
    if (!host) return;
    if (host.isAwaited) return this.#touch();
    this.#options.logger.info("the tenant was closed because it was not used");
    void this.#close(host);
  }

  stop(): void {
    const host = this.opened;
    if (host) void this.#close(host);
  }

  /** Closes it now, even if it is used. A host that opens too slowly after `ending` has fired is closed when it is there. */
  async close(): Promise<void> {
    if (this.#state.kind === "opening") await within(settled(this.#state.opened), this.#options.drainMs);
    const state = this.#state;
    if (state.kind === "open") await this.#close(state.host);
    if (state.kind === "closing") await state.closed;
  }

  #touch(): void {
    this.#usedAt = performance.now();
    this.#options.deadlines.wakeWithin(this.#options.idleMs);
  }

  async #wait(signal: CancelSignal | undefined): Promise<TenantHost> {
    const { openMs, ending } = this.#options;
    try {
      const host = await unlessAborted(unlessAborted(within(this.#open(), openMs), signal), ending);
      if (host) return host;
    } catch (error) {
      throw ending.aborted ? busyError(shuttingDown("gateway")) : error;
    }
    throw busyError("The servers of this tenant are still starting. Retry later");
  }

  #open(): Promise<TenantHost> {
    const state = this.#state;
    if (state.kind === "open") return Promise.resolve(state.host);
    if (state.kind === "opening") return state.opened;
    if (state.kind === "closing") return state.closed.then(() => this.#open());
    if (state.kind === "failed" && performance.now() < state.retryAt) return Promise.reject(state.error);
    const opened = this.#start();
    // Those who wait may all have left.
    opened.catch(() => {});
    this.#state = { kind: "opening", opened };
    return opened;
  }

  async #start(): Promise<TenantHost> {
    const { open, report, ending } = this.#options;
    try {
      const host = await open();
      if (!ending.aborted) return this.#becomeOpen(host);
      await host.close();
      throw busyError(shuttingDown("gateway"));
    } catch (thrown) {
      const error = ending.aborted ? busyError(shuttingDown("gateway")) : report(thrown);
      this.#state = { kind: "failed", error, retryAt: performance.now() + RETRY_MS };
      throw error;
    }
  }

  #becomeOpen(host: TenantHost): TenantHost {
    this.#state = { kind: "open", host };
    this.#wasOpened = true;
    this.#usedAt = performance.now();
    this.#options.deadlines.add(this);
    for (const each of this.#suspendable) each.resume();
    return host;
  }

  #close(host: TenantHost): Promise<void> {
    const { deadlines, logger } = this.#options;
    deadlines.remove(this);
    for (const each of this.#suspendable) each.suspend();
    const closed = host
      .close()
      .catch((error: unknown) => logger.error("the servers of a tenant could not be closed", { error }))
      .then(() => {
        this.#state = { kind: "closed" };
      });
    this.#state = { kind: "closing", closed };
    return closed;
  }
}

function settled(promise: Promise<unknown>): Promise<void> {
  return promise.then(
    () => {},
    () => {},
  );
}
