import { isDeepStrictEqual } from "node:util";
import type { ChangingList } from "../../client/feed.ts";
import { guarded } from "../../client/guarded.ts";
import type { Logger } from "../../client/logger.ts";
import type { Host } from "../../host/host.ts";
import { CHANGING_LISTS, changeOf, LIST_KINDS } from "./list-kind.ts";
import { ServerCatalog } from "./server-catalog.ts";

/** These lists of a server are no longer what they were. */
export interface ListsChanged {
  server: string;
  lists: readonly ChangingList[];
}

type Snapshot = Record<ChangingList, unknown>;

/** The catalogs of all servers. Follows the host, and tells what changed, after it can be read anew. */
export class Catalogs {
  readonly #host: Host;
  readonly #logger: Logger;
  readonly #catalogs = new Map<string, ServerCatalog>();
  readonly #listeners = new Set<(changed: ListsChanged) => void>();
  /** The host's own lists as last seen: it says that they changed, but not which. */
  readonly #seen = new Map<string, Snapshot>();
  /** Those that were away: what they have now that they are back may be anything. */
  readonly #away = new Set<string>();
  readonly #stop: () => void;

  constructor(host: Host, logger: Logger) {
    this.#host = host;
    this.#logger = logger;
    for (const { id, state } of host.servers()) {
      this.#seen.set(id, this.#look(id));
      if (state.kind === "failed") this.#away.add(id);
    }
    this.#stop = host.on((event) => {
      if (event.kind === "lists") this.#compare(event.server);
      else this.#follow(event.server, event.state.kind);
    });
  }

  of(server: string): ServerCatalog {
    const known = this.#catalogs.get(server);
    if (known) return known;
    const catalog = new ServerCatalog(this.#host, server, this.#logger);
    this.#catalogs.set(server, catalog);
    return catalog;
  }

  /** Hears of every change; call what it returns to stop. */
  on(listener: (changed: ListsChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
    this.#catalogs.clear();
  }

  #follow(server: string, kind: string): void {
    const isThere = kind === "ready" || kind === "degraded";
    if (!isThere) this.#catalogs.get(server)?.reset();
    if (kind === "failed") this.#away.add(server);
    if (kind === "stopped") this.#compare(server);
    if (isThere && this.#away.delete(server)) this.#changed(server, CHANGING_LISTS);
  }

  #compare(server: string): void {
    const before = this.#seen.get(server);
    const now = this.#look(server);
    if (this.#host.servers().some(({ id }) => id === server)) this.#seen.set(server, now);
    else this.#forget(server);
    const lists = CHANGING_LISTS.filter((list) => !isDeepStrictEqual(before?.[list] ?? [], now[list]));
    if (lists.length > 0) this.#changed(server, lists);
  }

  #forget(server: string): void {
    this.#seen.delete(server);
    this.#away.delete(server);
    this.#catalogs.delete(server);
  }

  #look(server: string): Snapshot {
    const { tools, prompts, resources, templates } = this.#host.offered(server);
    // What the entry says about tools changes the list that callers see.
    const { tools: rules, prefix } = this.#host.find(server)?.definition ?? {};
    return {
      tools: tools.length === 0 ? [] : [tools, rules, prefix],
      prompts: prompts.length === 0 ? [] : [prompts, prefix],
      resources: [...resources, ...templates],
    };
  }

  #changed(server: string, lists: readonly ChangingList[]): void {
    // Whoever hears of it asks at once, and must not get what was known before.
    this.#catalogs.get(server)?.invalidate(LIST_KINDS.filter((kind) => lists.includes(changeOf(kind))));
    for (const listener of this.#listeners) guarded(() => listener({ server, lists }), this.#logger);
  }
}
