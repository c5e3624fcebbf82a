import { isDeepStrictEqual } from "node:util";
import { callListener } from "../../async/call-listener.ts";
import type { Logger } from "../../text/logger.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { DefinitionChange } from "../../host/definitions/definition-ledger.ts";
import type { Host } from "../../host/host.ts";
import { isConnected, type ServerState } from "../../host/servers/server-state.ts";
import type { Era } from "../../protocol/revisions.ts";
import { changeOf, CHANGING_LISTS, type ChangingList, LIST_KINDS } from "../../protocol/list-kinds.ts";
import { ServerCatalog } from "./list-cache.ts";

/** Lists of a server that changed. */
export interface ListsChanged {
  server: string;
  lists: readonly ChangingList[];
}

type Snapshot = Record<ChangingList, unknown>;

/** The catalogs of all servers. Follows the host, and reports changes after the new lists can be read. */
export class Catalogs {
  readonly #host: Host;
  readonly #logger: Logger;
  readonly #catalogs = new Map<string, ServerCatalog>();
  readonly #listeners = new Set<(changed: ListsChanged) => void>();
  /** The host's own lists as last seen: the host reports that they changed, but not which of them. */
  readonly #seen = new Map<string, Snapshot>();
  /** Servers that failed and are not back, with the reason. Their lists may be different when they are back. */
  readonly #away = new Map<string, NexusError>();
  readonly #eras = new Map<string, Era>();
  readonly #stop: () => void;

  constructor(host: Host, logger: Logger) {
    this.#host = host;
    this.#logger = logger;
    for (const { id, state } of host.servers()) {
      this.#seen.set(id, this.#look(id));
      this.#note(id, state);
    }
    this.#stop = host.on((event) => {
      if (event.kind === "lists") this.#compare(event.server, event.told);
      else if (event.kind === "state") this.#follow(event.server, event.state);
      // What was held is listed now, and what was accepted before may be held.
      else if (event.kind === "accepted") this.#changed(event.server, CHANGING_LISTS);
      else if (event.kind === "definitions") this.#hold(event.server, event.changes);
    });
  }

  of(server: string): ServerCatalog {
    const known = this.#catalogs.get(server);
    if (known) return known;
    const onChanged = (list: ChangingList) => this.tell({ server, lists: [list] });
    const catalog = new ServerCatalog({ host: this.#host, server, logger: this.#logger, onChanged });
    this.#catalogs.set(server, catalog);
    return catalog;
  }

  /** Calls the listener for every change; the returned function removes it. */
  on(listener: (changed: ListsChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the host has read what a server reported as changed; undefined if there is nothing to wait for. */
  settled(server: string): Promise<unknown> | undefined {
    return this.#host.listsSettled(server);
  }

  /** Whether the server is made of an API in this process. */
  isApi(server: string): boolean {
    return this.#host.directory.find(server)?.entry?.reach.kind === "api";
  }

  /** The era of a server at its last connection. */
  eraOf(server: string): Era | undefined {
    return this.#eras.get(server);
  }

  /** Why a server is down: it failed and is not back, even if it is being tried again. */
  downBecause(server: string): NexusError | undefined {
    return this.#away.get(server);
  }

  /** Reports a change to all listeners and does nothing else. */
  tell(changed: ListsChanged): void {
    for (const listener of this.#listeners) callListener(() => listener(changed), this.#logger);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
    this.#catalogs.clear();
  }

  #follow(server: string, state: ServerState): void {
    const isThere = isConnected(state);
    // A paused server is the same server when it runs again: its lists stay valid.
    if (!isThere && state.kind !== "paused") this.#catalogs.get(server)?.reset();
    this.#note(server, state);
    if (state.kind === "stopped") this.#compare(server);
    // What was listed because it was starting is not listed any more.
    const recalled = state.kind === "failed" || isThere ? this.#catalogs.get(server)?.takeRecalled() : undefined;
    if (state.kind === "failed" && recalled?.length) this.tell({ server, lists: [...new Set(recalled.map(changeOf))] });
    if (isThere && this.#away.delete(server)) this.#changed(server, CHANGING_LISTS);
  }

  #note(server: string, state: ServerState): void {
    if (state.kind === "failed") this.#away.set(server, state.error);
    else if (isConnected(state)) this.#eras.set(server, state.era);
  }

  /** A reported change may concern only a list that clients with certain capabilities see. */
  #compare(server: string, told: readonly ChangingList[] = []): void {
    const before = this.#seen.get(server);
    const now = this.#look(server);
    if (this.#host.find(server)) this.#seen.set(server, now);
    else this.#forget(server);
    const hasSets = this.#catalogs.get(server)?.hasSets ?? false;
    const lists = CHANGING_LISTS.filter(
      (list) => (hasSets && told.includes(list)) || !isDeepStrictEqual(before?.[list] ?? [], now[list]),
    );
    if (lists.length > 0) this.#changed(server, lists);
  }

  /** What one list shows as changed is held in all, and they may have changed as well. */
  #hold(server: string, changes: readonly DefinitionChange[]): void {
    const changed = new Set(changes.flatMap(({ kind, what }) => (what === "changed" ? [changeOf(kind)] : [])));
    if (changed.size > 0 && this.#host.pins.watches(server)) this.#changed(server, [...changed]);
  }

  #forget(server: string): void {
    this.#seen.delete(server);
    this.#away.delete(server);
    this.#eras.delete(server);
    this.#catalogs.delete(server);
  }

  #look(server: string): Snapshot {
    const { tools, searched, prompts, resources, templates } = this.#host.offered(server);
    // Rules for tools in the entry change the list that callers see.
    const { tools: rules, prefix, pin } = this.#host.find(server)?.definition ?? {};
    return {
      tools: tools.length === 0 ? [] : [tools, searched, rules, prefix, pin],
      prompts: prompts.length === 0 ? [] : [prompts, prefix, pin === true],
      resources: resources.length + templates.length === 0 ? [] : [resources, templates, pin === true],
    };
  }

  #changed(server: string, lists: readonly ChangingList[]): void {
    // Invalidate first: listeners read the list at once and must not get the old one.
    this.#catalogs.get(server)?.invalidate(LIST_KINDS.filter((kind) => lists.includes(changeOf(kind))));
    this.tell({ server, lists });
  }
}
