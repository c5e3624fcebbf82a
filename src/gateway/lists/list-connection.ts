import type { Client } from "../../client/client.ts";
import { changeIn } from "../../client/changes/feed.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { Host } from "../../host/host.ts";
import { sha256 } from "../../text/digest.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { CapabilitySet } from "./capability-set.ts";
import { refusing } from "../upstream/upstream-leases.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";

export interface ListConnectionOptions {
  host: Host;
  server: string;
  set: CapabilitySet;
  /** The server says on this connection that a list changed. */
  onChanged: (list: ChangingList) => void;
}

/** Clients ask for all lists in a row; after that the connection is of no use. */
const LINGER_MS = 2_000;
/** A server may tell of a change whenever it is asked for a list: it must not be asked for ever. */
const MAX_CHANGES = 20;
/** The share of a server's connections in which those for lists count. */
const PRINCIPAL = "lists";

/** Reads lists for all callers that declare the same: with a legacy server, over a short-lived connection of its own. */
export class ListConnection {
  readonly #options: ListConnectionOptions;
  readonly #input: InputProvider;
  readonly #owner: string;
  readonly #heard = new WeakSet<Client>();
  #users = 0;
  #isOpen = false;
  #lingerMs = LINGER_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListConnectionOptions) {
    this.#options = options;
    this.#input = refusing(options.set.capabilities);
    this.#owner = `lists ${options.server} ${sha256(options.set.key)}`;
  }

  /** A modern server is told with each request what is declared, and needs no other connection. */
  async use<T>(era: Era, run: (client: Client) => Promise<T>): Promise<T> {
    const { host, server } = this.#options;
    if (era === "modern") {
      using lease = await host.lease(server, { input: this.#input, canWait: true });
      return await run(lease.client);
    }
    clearTimeout(this.#timer);
    this.#users++;
    try {
      using lease = await host.lease(server, {
        owner: this.#owner,
        principal: PRINCIPAL,
        input: this.#input,
        canWait: true,
      });
      this.#isOpen = true;
      this.#hear(lease.client);
      return await run(lease.client);
    } finally {
      this.#users--;
      this.#endSoon();
    }
  }

  /** It ends as soon as nobody uses it. */
  close(): void {
    this.#lingerMs = 0;
    this.#endSoon();
  }

  #endSoon(): void {
    clearTimeout(this.#timer);
    if (this.#users > 0 || !this.#isOpen) return;
    this.#timer = setTimeout(() => {
      this.#isOpen = false;
      this.#options.host.release(this.#owner);
    }, this.#lingerMs).unref();
  }

  /** Some servers add to their lists only after they have seen who connected. */
  #hear(client: Client): void {
    if (this.#heard.has(client)) return;
    this.#heard.add(client);
    let count = 0;
    client.onNotification((notification) => {
      const change = changeIn(notification);
      if (change?.kind === "list-changed" && count++ < MAX_CHANGES) this.#options.onChanged(change.list);
    });
  }
}
