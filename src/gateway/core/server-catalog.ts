import type { Client } from "../../client/client.ts";
import type { Logger } from "../../client/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import type { LeaseRequest } from "../../host/lease.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import { readKnownList, type KnownList } from "./known-list.ts";
import { LIST_KINDS, type ListKind } from "./list-kind.ts";
import { ownInfo } from "./offer.ts";
import { natureOf, type ServerNature } from "./server-nature.ts";

interface Reading {
  list: Promise<KnownList>;
  startedAt: number;
}

const REREAD_MS = 5_000;

/** What one server offers, read over the host's own connection when it is asked for, and kept while it is good. */
export class ServerCatalog {
  readonly #host: Host;
  readonly #server: string;
  readonly #logger: Logger;
  readonly #known = new Map<ListKind, KnownList>();
  readonly #readings = new Map<ListKind, Reading>();
  #nature: ServerNature | undefined;
  #serverInfo: Implementation | undefined;

  constructor(host: Host, server: string, logger: Logger) {
    this.#host = host;
    this.#server = server;
    this.#logger = logger;
  }

  /** As it last introduced itself, however long ago. */
  get serverInfo(): Implementation | undefined {
    return this.#serverInfo;
  }

  /** As last read, however long ago. */
  find(kind: ListKind): KnownList | undefined {
    return this.#known.get(kind);
  }

  /** As it is now. Whoever asks at the same time shares the reading. */
  read(kind: ListKind): Reading {
    const running = this.#readings.get(kind);
    if (running) return running;
    const reading: Reading = { list: this.#read(kind), startedAt: performance.now() };
    this.#readings.set(kind, reading);
    const forget = () => {
      if (this.#readings.get(kind) === reading) this.#readings.delete(kind);
    };
    reading.list.then(
      (list) => {
        // What changed while it was being read is to be read again.
        if (this.#readings.get(kind) === reading) this.#known.set(kind, list);
        forget();
      },
      (error: unknown) => {
        // A list that cannot be used, or never ends, is not read again for each caller.
        const isBroken = error instanceof NexusError && error.code === "PROTOCOL_VIOLATION";
        if (isBroken) setTimeout(forget, REREAD_MS).unref();
        else forget();
      },
    );
    return reading;
  }

  /** It may have changed: what is known is old, and what is being read may be. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    for (const kind of kinds) {
      this.#known.get(kind)?.freshness.expire();
      this.#readings.delete(kind);
    }
  }

  /** The connection is gone, or another one: nothing that is known of the server has to be so any more. */
  reset(): void {
    this.#nature = undefined;
    this.invalidate();
  }

  /** What the server said of itself; connects it, if it is not. */
  async nature(request: Pick<LeaseRequest, "signal" | "canWait"> = {}): Promise<ServerNature> {
    if (this.#nature) return this.#nature;
    using lease = await this.#host.lease(this.#server, request);
    return this.#meet(lease.client);
  }

  /**
   * Good enough to judge a call by: read once, and again when the server says that it changed; while that cannot be read,
   * what was known before counts.
   */
  current(kind: ListKind): KnownList | Promise<KnownList> {
    const known = this.#known.get(kind);
    if (known && !known.freshness.isOutdated) return known;
    // A call waits for it, so its server must not stand in line.
    if (!this.#nature) this.nature().catch(() => {});
    return this.read(kind).list.catch((error: unknown) => {
      if (!known) throw error;
      return known;
    });
  }

  #meet(client: Client): ServerNature {
    const nature = natureOf(client);
    const definition = this.#host.find(this.#server)?.definition;
    if (definition) this.#serverInfo = ownInfo(definition, nature.serverInfo);
    return (this.#nature = nature);
  }

  async #read(kind: ListKind): Promise<KnownList> {
    // The lists of all servers are read at once: what somebody calls goes first.
    using lease = await this.#host.lease(this.#server, { canWait: true });
    if (!this.#nature) this.#meet(lease.client);
    const prefix = this.#host.find(this.#server)?.definition.prefix;
    return await readKnownList(lease.client, kind, { server: this.#server, prefix, logger: this.#logger });
  }
}
