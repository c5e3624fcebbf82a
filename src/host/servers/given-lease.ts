import type { Client } from "../../client/client.ts";
import type { ConnectionPool, Held } from "./connection-pool.ts";
import type { Lease } from "./lease.ts";

/** A lease of a pool's connection; giving it back twice is giving it back once. */
export class GivenLease implements Lease {
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
