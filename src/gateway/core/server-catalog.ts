import { LISTS, readPages } from "../../client/lists.ts";
import type { Logger } from "../../client/logger.ts";
import type { Host } from "../../host/host.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import type { Era } from "../../protocol/revisions.ts";
import { Freshness } from "./freshness.ts";
import { changeOf, LIST_KINDS, type ListKind } from "./list-kind.ts";
import { outwardItem } from "./outward.ts";
import { offeredTools, withoutExecution } from "./offered-tools.ts";
import { natureOf, type ServerNature } from "./server-nature.ts";

/** One list of one server, all pages of it. */
export interface KnownList {
  /** As the server sent them. */
  readonly items: readonly Params[];
  /** The same in full names. */
  readonly outward: readonly Params[];
  readonly freshness: Freshness;
}

interface Reading {
  list: Promise<KnownList>;
  startedAt: number;
}

const NO_HEADERS: readonly ParamHeader[] = [];

/** What one server offers, read over the host's own connection when it is asked for, and kept while it is good. */
export class ServerCatalog {
  readonly #host: Host;
  readonly #server: string;
  readonly #logger: Logger;
  readonly #known = new Map<ListKind, KnownList>();
  readonly #readings = new Map<ListKind, Reading>();
  #nature: ServerNature | undefined;
  #headers = new Map<string, readonly ParamHeader[]>();

  constructor(host: Host, server: string, logger: Logger) {
    this.#host = host;
    this.#server = server;
    this.#logger = logger;
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
    reading.list.then((list) => {
      // What changed while it was being read is to be read again.
      if (this.#readings.get(kind) === reading) this.#keep(kind, list);
      forget();
    }, forget);
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
  async nature(signal?: AbortSignal): Promise<ServerNature> {
    if (this.#nature) return this.#nature;
    using lease = await this.#host.lease(this.#server, signal ? { signal } : {});
    return (this.#nature = natureOf(lease.client));
  }

  /** Which arguments of a tool travel as headers too. Read once, and again when the server says that it changed. */
  paramHeaders(tool: string): readonly ParamHeader[] | Promise<readonly ParamHeader[]> {
    const known = this.#known.get("tools");
    const wanted = () => this.#headers.get(tool) ?? NO_HEADERS;
    return known && !known.freshness.isOutdated ? wanted() : this.read("tools").list.then(wanted);
  }

  async #read(kind: ListKind): Promise<KnownList> {
    using lease = await this.#host.lease(this.#server);
    const { client } = lease;
    const { capabilities, era } = (this.#nature ??= natureOf(client));
    const { method, member, capability } = LISTS[kind];
    const declared = capabilities[capability];
    if (!declared) return { items: [], outward: [], freshness: Freshness.ofNothing() };
    const isTold = capabilities[changeOf(kind)]?.listChanged === true;
    const freshness = new Freshness({ isTold, isLegacy: era === "legacy" });
    const all = await readPages(method, member, async (params) => {
      const page = await client.request(method, params);
      freshness.add(page);
      return page;
    });
    const items = kind === "tools" ? this.#offered(all, era) : all;
    return { items, outward: items.map((item) => outwardItem(this.#server, kind, item)), freshness };
  }

  #offered(tools: readonly Params[], era: Era): Params[] {
    const offered = offeredTools(tools, (name, reason) =>
      this.#logger.warn(`tool "${name}" of "${this.#server}" is left out: ${reason}`),
    );
    this.#headers = offered.headers;
    return era === "legacy" ? offered.tools.map(withoutExecution) : offered.tools;
  }

  #keep(kind: ListKind, list: KnownList): void {
    this.#known.set(kind, list);
  }
}
