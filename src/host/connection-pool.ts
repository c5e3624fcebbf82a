import type { Client } from "../client/client.ts";
import type { ConnectOptions } from "../client/connect-entry.ts";
import type { InputProvider } from "../client/input.ts";
import type { Logger } from "../client/logger.ts";
import { asNexusError, messageOf, NexusError } from "../errors/nexus-error.ts";
import type { Backoff } from "./backoff.ts";
import type { Lease } from "./lease.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** The key of the host's own connection: it is kept without users, and there is always room for it. */
export const HOST = "";
/** Keys of connections for one lease alone begin so. */
export const ONCE = "once ";

export interface PoolOptions {
  server: string;
  connect: (options: Pick<ConnectOptions, "input" | "signal">) => Promise<Client>;
  /** How long a connection that nobody uses is kept. */
  idleMs: number;
  maxConnections: number;
  logger: Logger;
  /** A call on a connection failed, and its user told so. */
  onReport: (held: Held, error: unknown) => void;
}

export interface HoldOptions {
  input: InputProvider | undefined;
  /** Counts how often it could not be opened, or was lost at once; absent where the caller does. */
  backoff?: Backoff;
}

/** One connection and who uses it. */
export interface Held {
  readonly key: string;
  readonly client: Promise<Client>;
  readonly giveUp: AbortController;
  users: number;
  idle?: NodeJS.Timeout;
  isRetired: boolean;
  ending?: Promise<void>;
}

/** The connections of one server: one for each key, so many at most, ended when nobody has used them for a while. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #byKey = new Map<string, Held>();
  /** Those that are on their way out, too. */
  readonly #running = new Set<Held>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** The connection with this key; opened now, if there is none. */
  hold(key: string, { input, backoff }: HoldOptions): Held {
    const known = this.#byKey.get(key);
    if (known) return known;
    backoff?.refuseIfHopeless();
    this.#makeRoom(key);
    const giveUp = new AbortController();
    const client = this.#options.connect({ input, signal: giveUp.signal });
    const held: Held = { key, client, giveUp, users: 0, isRetired: false };
    this.#byKey.set(key, held);
    this.#running.add(held);
    client.then(
      (opened) => this.#opened(held, opened, backoff),
      (error: unknown) => {
        this.#running.delete(held);
        if (this.#forget(held)) backoff?.failed(asNexusError(error));
      },
    );
    return held;
  }

  /** A lease as soon as the connection is up. */
  async lease(held: Held, signal: AbortSignal | undefined): Promise<Lease> {
    held.users++;
    clearTimeout(held.idle);
    try {
      return new GivenLease(await unlessAborted(held.client, signal), held, this);
    } catch (error) {
      this.giveBack(held);
      throw error;
    }
  }

  /** A lease of a connection that is up; `client` is how its user has it. */
  leaseNow(held: Held, client: Client): Lease {
    held.users++;
    return new GivenLease(client, held, this);
  }

  giveBack(held: Held): void {
    if (--held.users > 0) return;
    if (held.isRetired) void this.end(held);
    else if (held.key !== HOST) this.#endLater(held);
  }

  report(held: Held, error: unknown): void {
    this.#options.onReport(held, error);
  }

  /** Nobody gets it any more; it ends when those who have it gave it back. */
  retire(held: Held): void {
    this.#forget(held);
    held.isRetired = true;
    if (held.users === 0) void this.end(held);
  }

  /** Ends it now, whoever uses it; one that is still being opened is given up. */
  end(held: Held): Promise<void> {
    this.#forget(held);
    clearTimeout(held.idle);
    return (held.ending ??= this.#end(held));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((held) => this.end(held)));
  }

  async #end(held: Held): Promise<void> {
    held.giveUp.abort(new NexusError("CLOSED", "The connection is no longer wanted"));
    try {
      await (await held.client).close();
    } catch (error) {
      this.#options.logger.debug(`ending "${this.#options.server}": ${messageOf(error)}`);
    }
    this.#running.delete(held);
  }

  #endLater(held: Held): void {
    const idleMs = held.key.startsWith(ONCE) ? 0 : this.#options.idleMs;
    held.idle = setTimeout(() => void this.end(held), idleMs);
    if (idleMs > 0) held.idle.unref();
  }

  #opened(held: Held, client: Client, backoff: Backoff | undefined): void {
    const openedAt = performance.now();
    backoff?.succeeded();
    void client.closed.then(() => {
      clearTimeout(held.idle);
      this.#running.delete(held);
      if (!this.#forget(held)) return;
      const reason = client.lost ?? new NexusError("CONNECTION_LOST", "The connection was lost");
      this.#options.logger.warn(`"${this.#options.server}" was lost: ${reason.message}`);
      backoff?.ended(reason, performance.now() - openedAt);
    });
  }

  /** False where it was let go of before: what becomes of it then is no failure. */
  #forget(held: Held): boolean {
    return this.#byKey.get(held.key) === held && this.#byKey.delete(held.key);
  }

  /** A connection that was given back makes way for one that is wanted; the host's own has its place kept. */
  #makeRoom(key: string): void {
    const { maxConnections, server } = this.#options;
    const others = [...this.#byKey.values()].filter((held) => held.key !== HOST);
    if (key === HOST || others.length < Math.max(1, maxConnections - 1)) return;
    const spare = others.find(({ users }) => users === 0);
    if (spare) return void this.end(spare);
    throw new NexusError("CONNECTION_FAILED", `Server "${server}" has ${this.#byKey.size} connections already`, {
      server,
      hint: "Give back what is not used, or raise the limit.",
      mayHaveReached: false,
    });
  }
}

class GivenLease implements Lease {
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
