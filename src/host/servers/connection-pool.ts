import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { ConnectOptions } from "../../client/connect/connect-entry.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { Logger } from "../../text/logger.ts";
import type { ProcessRequest, ProcessSlot } from "../../process/process-budget.ts";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Backoff } from "../../async/backoff.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import type { Held, Lease } from "./lease.ts";
import type { Urgency } from "./start-gate.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";

/** The key of the host's own connection: it is kept without users, and there is always room for it. */
export const HOST = "";
/** The prefix of keys for connections that serve one lease only. */
export const ONCE = "once ";

/** When a connection that was refused because of the limit may be asked for again. */
const BUSY_MS = 1_000;

/** How one connection is opened. */
export type OpenOptions = Pick<ConnectOptions, "input" | "signal" | "onSpawn"> & Pick<Urgency, "wanted">;

/** For a connection that a caller waits for from the start. */
const WANTED = AbortSignal.abort();

interface PoolOptions {
  server: string;
  connect: (options: OpenOptions) => Promise<Client>;
  /** A slot for the process of a connection; undefined where it needs none. */
  openSlot: (request: Pick<ProcessRequest, "principal" | "signal" | "stop">) => ProcessSlot | undefined;
  /** The host's own connection is to end; the server starts again on its next use. */
  pauseHost: (held: Held) => void;
  /** How long an unused connection is kept. */
  idleMs: number;
  maxConnections: number;
  /** The part of the connections that one principal may use while others compete, from 0 to 1. */
  connectionShare: number;
  /** Maximum number of connections of one owner, which has one for each set of capabilities. */
  maxOwnerConnections: number;
  /** How long a connection above the limit waits for another one to end. */
  waitMs: number;
  logger: Logger;
  /** Called when the user of a connection reports a failed call. */
  onReport: (held: Held, error: unknown) => void;
}

interface HoldOptions {
  /** The owner of the connection. */
  owner?: string;
  /** The principal whose share it uses; default: the owner. */
  principal?: string | undefined;
  input: InputProvider | undefined;
  /** Aborted when a caller waits for it; undefined if one does from the start. */
  wanted?: AbortSignal | undefined;
  /** Counts failed openings and connections that were lost at once; undefined if the caller counts them. */
  backoff?: Backoff;
  /** Called with the reason, in words, where it has to be waited for. */
  onWait?: ((reason: string) => void) | undefined;
}

/** A connection that waits for room, and the number of callers that wait for it. */
interface Coming {
  readonly owner: string;
  readonly held: Promise<Held>;
  readonly giveUp: AbortController;
  users: number;
  /** The connection when there is room for it. */
  entered?: Held;
}

/** The connections of one server: one for each key, limited in number, closed after they were unused for a while. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #byKey = new Map<string, Held>();
  readonly #coming = new Map<string, Coming>();
  /** Includes those that are being closed. */
  readonly #running = new Set<Held>();
  /** For all connections except the host's own. */
  readonly #shares: FairShares;
  /** Whether connections without users end at once, the host's own also. */
  #endsUnused = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#shares = new FairShares(Math.max(1, options.maxConnections - 1), { share: options.connectionShare });
  }

  /** The host's own connection; opened now if there is none. */
  holdHost(options: HoldOptions): Held {
    return this.#use(this.#byKey.get(HOST) ?? this.#open(HOST, options, undefined));
  }

  /** A lease of the connection with this key when it is connected. */
  async lease(key: string, options: HoldOptions, signal: CancelSignal | undefined): Promise<Lease> {
    const known = this.#byKey.get(key);
    const held = known ? this.#use(known) : await this.#enter(key, options, signal);
    const reason = held.slot?.waitingFor;
    if (reason !== undefined) options.onWait?.(reason);
    try {
      return new PoolLease(await unlessAborted(held.client, signal), held, this);
    } catch (error) {
      this.giveBack(held);
      throw error;
    }
  }

  /** The same if the connection is already up; undefined if it has to be waited for. */
  findLease(key: string): Lease | undefined {
    const held = this.#byKey.get(key);
    return held?.opened && new PoolLease(held.opened, this.#use(held), this);
  }

  /** A lease of a connection that is up; `client` is the client for its user. */
  leaseNow(held: Held, client: Client): Lease {
    return new PoolLease(client, this.#use(held), this);
  }

  /** One more user of a connection that is up; call what it returns to give it back. */
  keep(held: Held): () => void {
    this.#use(held);
    return () => this.giveBack(held);
  }

  giveBack(held: Held): void {
    if (--held.users > 0 || !this.#running.has(held)) return;
    const { onUnused } = held;
    held.onUnused = undefined;
    if (onUnused) return onUnused();
    // Those who left must not hold up the others in the queue.
    const isUnwanted = held.isRetired || (held.key !== HOST && held.slot?.waitingFor !== undefined);
    if (isUnwanted) return void this.end(held);
    if (this.#endsUnused) return this.#stop(held);
    if (held.key !== HOST) this.#endLater(held);
    held.slot?.rest();
  }

  report(held: Held, error: unknown): void {
    this.#options.onReport(held, error);
  }

  /** The connections that are up. */
  opened(): { held: Held; client: Client }[] {
    return [...this.#byKey.values()].flatMap((held) => (held.opened ? [{ held, client: held.opened }] : []));
  }

  /** Leases it to no one else; it ends when its users have released it. */
  retire(held: Held): void {
    this.#forget(held);
    held.isRetired = true;
    if (held.users === 0) void this.end(held);
  }

  /** The server is disabled: connections end as soon as nobody uses them, until it is enabled again. */
  endUnused(endsUnused: boolean): void {
    this.#endsUnused = endsUnused;
    if (!endsUnused) return;
    for (const held of this.#byKey.values()) if (held.users === 0) this.#stop(held);
  }

  /** Closes what belongs to an owner that is gone. */
  release(owner: string): void {
    for (const held of this.#byKey.values()) if (held.owner === owner && held.key !== HOST) this.retire(held);
  }

  /** Closes it now, even if it is used or still being opened. */
  end(held: Held): Promise<void> {
    this.#forget(held);
    clearTimeout(held.idle);
    return (held.ending ??= this.#end(held));
  }

  async close(): Promise<void> {
    const { server } = this.#options;
    const closed = new NexusError("CLOSED", `The host of "${server}" was closed`, { server, mayHaveReached: false });
    for (const { giveUp } of this.#coming.values()) giveUp.abort(closed);
    await Promise.all([...this.#running].map((held) => this.end(held)));
  }

  /** Concurrent callers wait together for room; when the last of them has left, the connection is given up. */
  async #enter(key: string, options: HoldOptions, signal: CancelSignal | undefined): Promise<Held> {
    options.backoff?.refuseIfHopeless();
    if (!this.#coming.has(key)) this.#boundOwner(key, options.owner);
    const share = this.#shares.of(options.principal ?? options.owner ?? HOST);
    if (!this.#coming.has(key) && this.#shares.tryTake(share)) return this.#use(this.#open(key, options, share));
    const coming = this.#coming.get(key) ?? this.#wait(key, options, share);
    coming.users++;
    options.onWait?.(`waiting for a free connection; the limit is ${this.#reachedLimit(share)}`);
    try {
      return await unlessAborted(coming.held, signal);
    } catch (error) {
      if (coming.entered) this.giveBack(coming.entered);
      else if (--coming.users === 0)
        coming.giveUp.abort(new NexusError("CANCELLED", "The connection is no longer needed"));
      throw error;
    }
  }

  #wait(key: string, options: HoldOptions, share: Share): Coming {
    const { waitMs } = this.#options;
    const giveUp = new AbortController();
    // Connections for single calls end soon, so waiting for one is limited only by the caller.
    const refuse = () => giveUp.abort(this.#tooMany(this.#reachedLimit(share)));
    const timer = key.startsWith(ONCE) ? undefined : setTimeout(refuse, waitMs);
    const entering = this.#turn(share, giveUp.signal).then(() => {
      const entered = this.#enterNow(key, options, { share, signal: giveUp.signal });
      entered.users = coming.users;
      return (coming.entered = entered);
    });
    const held = entering.finally(() => {
      clearTimeout(timer);
      if (this.#coming.get(key) === coming) this.#coming.delete(key);
    });
    const coming: Coming = { owner: options.owner ?? HOST, held, giveUp, users: 0 };
    this.#coming.set(key, coming);
    this.#makeRoom(share);
    return coming;
  }

  /** Rejects with the reason of the signal. */
  #turn(share: Share, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      // At once, because room given to a caller that has left would be lost.
      const leave = () => {
        stopWaiting();
        reject(signal.reason as Error);
      };
      const stopWaiting = this.#shares.wait(share, () => {
        signal.removeEventListener("abort", leave);
        resolve();
      });
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Limits the connections of an owner that declares different capabilities with every call. */
  #boundOwner(key: string, owner = HOST): void {
    if (owner === HOST || key.startsWith(ONCE)) return;
    const { maxOwnerConnections } = this.#options;
    const coming = [...this.#coming.values()].filter((one) => one.owner === owner).length;
    const its = [...this.#byKey.values()].filter((one) => one.owner === owner && !one.key.startsWith(ONCE));
    if (coming + its.length < maxOwnerConnections) return;
    const spare = longestIdle(its);
    if (!spare) throw this.#tooMany(`${maxOwnerConnections} for one client`);
    void this.end(spare);
  }

  /** There is room for it, but its last caller may have left at the same moment. */
  #enterNow(key: string, options: HoldOptions, { share, signal }: { share: Share; signal: AbortSignal }): Held {
    this.#coming.delete(key);
    if (!signal.aborted) return this.#open(key, options, share);
    this.#shares.give(share);
    throw signal.reason;
  }

  /** Ends one that nobody uses. */
  #stop(held: Held): void {
    if (held.key === HOST) this.#options.pauseHost(held);
    else void this.end(held);
  }

  #use(held: Held): Held {
    held.users++;
    this.#stir(held);
    return held;
  }

  #stir(held: Held): void {
    held.slot?.stir();
    if (held.idle === undefined) return;
    clearTimeout(held.idle);
    held.idle = undefined;
    if (held.share) this.#shares.stir(held.share);
  }

  /** Opens a connection for which there is room. */
  #open(key: string, { owner = HOST, input, wanted = WANTED, backoff }: HoldOptions, share: Share | undefined): Held {
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const slot = this.#options.openSlot({ principal: share?.key ?? HOST, signal, stop: () => this.#stop(held) });
    const client = this.#connect(slot, { input, signal, wanted });
    const held: Held = { key, owner, share, client, giveUp, slot, users: 0, idleSince: 0, isRetired: false };
    this.#byKey.set(key, held);
    this.#running.add(held);
    client.then(
      (opened) => this.#opened(held, opened, backoff),
      (error: unknown) => {
        this.#ended(held);
        const reason = asNexusError(error);
        // That no process was free says nothing about the server.
        if (this.#forget(held) && reason.code !== "BUSY") backoff?.failed(reason);
      },
    );
    return held;
  }

  async #connect(slot: ProcessSlot | undefined, options: OpenOptions): Promise<Client> {
    const { connect } = this.#options;
    if (!slot) return connect(options);
    await slot.ready;
    return connect({ ...options, onSpawn: (child) => slot.spawned(child) });
  }

  async #end(held: Held): Promise<void> {
    held.giveUp.abort(new NexusError("CLOSED", "The connection is no longer needed"));
    try {
      await (await held.client).close();
    } catch (error) {
      this.#options.logger.debug(`ending "${this.#options.server}": ${messageOf(error)}`);
    }
    this.#ended(held);
  }

  /** Called when the process has ended: its room is free. */
  #ended(held: Held): void {
    if (!this.#running.delete(held)) return;
    this.#stir(held);
    held.slot?.release();
    if (held.share) this.#shares.give(held.share);
  }

  #endLater(held: Held): void {
    const idleMs = held.key.startsWith(ONCE) || this.#isInTheWay(held) ? 0 : this.#options.idleMs;
    held.idleSince = performance.now();
    held.idle = setTimeout(() => void this.end(held), idleMs);
    if (idleMs > 0) held.idle.unref();
    if (held.share) this.#shares.rest(held.share);
  }

  #opened(held: Held, client: Client, backoff: Backoff | undefined): void {
    const openedAt = performance.now();
    held.opened = client;
    backoff?.succeeded();
    void client.closed.then(() => {
      const isUnexpected = this.#forget(held);
      // The connection has ended; close the rest of it.
      void this.end(held);
      if (!isUnexpected) return;
      const reason = client.lost ?? new NexusError("CONNECTION_LOST", "The connection was lost");
      this.#options.logger.warn(`"${this.#options.server}" was lost: ${reason.message}`);
      backoff?.ended(reason, performance.now() - openedAt);
    });
  }

  /** False if it was dropped before: its end is not a failure. */
  #forget(held: Held): boolean {
    return this.#byKey.get(held.key) === held && this.#byKey.delete(held.key);
  }

  /** Whether more callers wait than connections are being closed for them. */
  #isInTheWay({ share }: Held): boolean {
    const waiting = share ? this.#shares.waitingFor(share) : 0;
    if (waiting === 0) return false;
    const leaving = [...this.#running].filter(({ key, ending }) => key !== HOST && ending !== undefined);
    return waiting > leaving.length;
  }

  /** Closes unused connections for one that is wanted: the longest unused ones of the principal with too many. */
  #makeRoom(wanting: Share): void {
    const leaving = [...this.#running].filter(({ share, ending }) => share === wanting && ending !== undefined).length;
    const tooMany = wanting.held - leaving + wanting.waiting.size - this.#shares.limitOf(wanting);
    for (let count = 0; count < tooMany; count++) this.#endIdle(wanting);
    if (tooMany <= 0) this.#shares.losersFor(wanting).some((loser) => this.#endIdle(loser));
  }

  /** False if the principal has no unused connection. */
  #endIdle(of: Share): boolean {
    const spare = longestIdle([...this.#byKey.values()].filter(({ share }) => share === of));
    if (spare) void this.end(spare);
    return spare !== undefined;
  }

  #reachedLimit(share: Share): string {
    const limit = this.#shares.limitOf(share);
    return share.held < limit ? String(this.#options.maxConnections) : `${limit} for one caller while others use it`;
  }

  #tooMany(limit: string): NexusError {
    const { server } = this.#options;
    return new NexusError("CONNECTION_FAILED", `Connection limit of server "${server}" reached (${limit})`, {
      server,
      hint: "Close unused connections, or raise maxConnections, maxOwnerConnections or connectionShare.",
      retryAfterMs: BUSY_MS,
      mayHaveReached: false,
    });
  }
}

/** The connection that has been unused for longest. */
function longestIdle(all: readonly Held[]): Held | undefined {
  const [spare] = all.filter(({ idle }) => idle !== undefined).sort((a, b) => a.idleSince - b.idleSince);
  return spare;
}

/** A lease of a connection in a pool; releasing it again has no effect. */
class PoolLease implements Lease {
  readonly client: Client;
  readonly #held: Held;
  readonly #pool: ConnectionPool;
  #isOut = true;

  constructor(client: Client, held: Held, pool: ConnectionPool) {
    this.client = client;
    this.#held = held;
    this.#pool = pool;
  }

  release(): void {
    if (this.#isOut) this.#pool.giveBack(this.#held);
    this.#isOut = false;
  }

  report(error: unknown): void {
    this.#pool.report(this.#held, error);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
