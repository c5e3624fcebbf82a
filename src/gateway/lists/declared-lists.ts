import { inOrder } from "../../json/canonical-json.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../../server/core/declared-text.ts";
import {
  capabilitiesFor,
  capabilitiesForModern,
  legacyCapabilities,
  refusing,
  type CallerOutline,
} from "../calls/upstream-leases.ts";
import type { Client } from "../../client/client.ts";
import { changeIn } from "../../client/changes/feed.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { Host } from "../../host/host.ts";
import { sha256 } from "../../text/digest.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";

/** The capabilities that are declared to a server when its lists are read. */
export interface CapabilitySet {
  capabilities: ClientCapabilities;
  /** The same for equal capabilities in any order. */
  key: string;
}

/** The capabilities of one caller's calls, for servers of either era. Computed on first use. */
export class CallerCapabilities {
  readonly isEmpty: boolean;
  readonly #caller: CallerOutline;
  readonly #sets = new Map<Era, CapabilitySet | undefined>();

  constructor(caller: CallerOutline) {
    this.#caller = caller;
    this.isEmpty = Object.keys(caller.capabilities).length === 0;
  }

  /** Undefined if nothing is declared to servers of this era. */
  of(era: Era): CapabilitySet | undefined {
    if (!this.#sets.has(era)) this.#sets.set(era, capabilitySet(this.#declared(era)));
    return this.#sets.get(era);
  }

  #declared(era: Era): ClientCapabilities {
    const common = capabilitiesFor(this.#caller);
    return era === "legacy" ? legacyCapabilities(common) : capabilitiesForModern(this.#caller, common);
  }
}

function capabilitySet(declared: ClientCapabilities): CapabilitySet | undefined {
  if (Object.keys(declared).length === 0) return undefined;
  declaredText(declared);
  const capabilities = inOrder(declared) as ClientCapabilities;
  return { capabilities, key: JSON.stringify(capabilities) };
}

interface ListConnectionOptions {
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
