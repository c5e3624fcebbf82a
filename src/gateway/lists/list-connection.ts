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
  /** Called when the server reports a change on this connection. */
  onChanged: (list: ChangingList) => void;
}

/** How long the connection is kept: clients ask for all lists in a row. */
const LINGER_MS = 2_000;
/** A server may report a change each time a list is read. This limit ends such a loop. */
const MAX_CHANGES = 20;
/** Connections for lists count as those of this principal. */
const PRINCIPAL = "lists";

/**
 * Reads lists for callers with the same capabilities. A legacy server gets a short-lived connection of its own for it.
 */
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

  /** A modern server gets the capabilities with each request and needs no other connection. */
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

  /** Closes the connection as soon as it is no longer used. */
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

  /** Some servers extend their lists only after they have seen the client. */
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
