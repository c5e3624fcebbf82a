import type { CancelSignal } from "../../async/cancellation.ts";
import type { Client } from "../../client/client.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { ConnectionPool, Held } from "./connection-pool.ts";

/** The use of a connection, to be released when it is no longer needed. */
export interface Lease extends Disposable {
  readonly client: Client;
  release(): void;
  /** Reports what a call on it failed with: a server that cannot be reached any more is connected again. */
  report(error: unknown): void;
}

/** The owner of a lease. Owners never share a connection that keeps state. */
export interface LeaseRequest {
  /** Default: the host itself. */
  owner?: string;
  /**
   * The principal of the owner. All owners of one principal have one share of a server's connections. Default: each
   * owner is its own principal.
   */
  principal?: string;
  /**
   * Answers the server's questions, in place of the host's own provider. The same object is the same person: a
   * connection that keeps state stays with it, another one gets a connection of its own.
   */
  input?: InputProvider;
  signal?: CancelSignal;
  /** Not urgent: servers that others wait for are started first. */
  canWait?: boolean;
}

/** A lease of a pool's connection; releasing it twice is releasing it once. */
export class PoolLease implements Lease {
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
