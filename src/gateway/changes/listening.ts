import { isDeepStrictEqual } from "node:util";
import { Turns } from "../../async/turns.ts";
import type { Interests } from "../../protocol/interests.ts";
import type { Change } from "../../client/changes/feed.ts";
import { callListener } from "../../async/call-listener.ts";
import { isConnected, type ServerState } from "../../host/servers/server-state.ts";
import type { Logger } from "../../text/logger.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import type { Notification } from "../../protocol/json-rpc.ts";
import type { Listening } from "../../server/core/core.ts";
import { type GatewayExchange, type GatewayListenRequest, viewKey } from "../names/view.ts";
import type { CallRunner } from "../calls/upstream-call.ts";
import type { Catalogs, ListsChanged } from "../lists/catalogs.ts";
import { changeMethod, CHANGING_LISTS, type ChangingList } from "../../protocol/list-kinds.ts";
import { fullUri, resolveFullUri } from "../names/names.ts";
import type { OwnerChanges } from "./owner-changes.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import { renamed } from "../names/renamed.ts";
import { ServerWatch } from "./server-watch.ts";
import { taskNotice } from "../calls/notice-of-task.ts";
import { type Principal, principalKey } from "../../server/core/principal.ts";
import { belongsTo, type TaskPlace } from "../names/task-ids.ts";

interface ListeningParts {
  host: Host;
  calls: CallRunner;
  catalogs: Catalogs;
  /** What the endpoint shows now; undefined if it was a set that is gone. */
  findSelection: () => ListenedSelection | undefined;
  /** Calls the listener when sets may have changed; the returned function removes it. */
  onSetsChanged: (listener: () => void) => () => void;
  owners: OwnerChanges;
  /** The key of the caller's connections among those of all owners. */
  ownerKey: string;
  logger: Logger;
  onClosed: (listening: ServersListening) => void;
}

/** Who may hear what at an endpoint. */
interface ListenedSelection {
  access: PrincipalAccess;
  permits: { mayFollow: (task: TaskPlace, principal: Principal) => Promise<boolean> };
}

const AWAY: ReadonlySet<ServerState["kind"]> = new Set(["disabled", "stopped", "failed"]);

/** The subscription of one caller to one or more servers. */
export class ServersListening implements Listening {
  readonly #request: GatewayListenRequest;
  readonly #parts: ListeningParts;
  readonly #listChanges: ListChanges;
  readonly #watches = new Map<string, { watch: ServerWatch; wanted: Wanted }>();
  readonly #stops: (() => void)[];
  #selection: ListenedSelection | undefined;
  #accepted: Interests = {};
  /** Those that a search view named last. */
  #servers: string;
  /** One update at a time. */
  readonly #turns = new Turns();
  #isClosed = false;

  static async open(request: GatewayListenRequest, parts: ListeningParts): Promise<ServersListening> {
    const listening = new ServersListening(request, parts);
    try {
      await listening.update(request.interests);
      return listening;
    } catch (error) {
      await listening.close();
      throw error;
    }
  }

  private constructor(request: GatewayListenRequest, parts: ListeningParts) {
    this.#request = request;
    this.#parts = parts;
    this.#selection = parts.findSelection();
    this.#servers = this.#shownServers();
    this.#listChanges = new ListChanges((notification) => this.#tell(notification));
    this.#stops = [
      parts.catalogs.on((changed) => {
        if (!this.#hearsItself(changed.server)) this.#listsChanged(changed);
      }),
      ...(request.view.kind === "set" ? [parts.onSetsChanged(() => this.#setsChanged())] : []),
      parts.owners.on(parts.ownerKey, (changed) => this.#listsChanged(changed)),
      parts.host.on((event) => {
        if (event.kind !== "state") return;
        const watch = this.#watches.get(event.server)?.watch;
        if (isConnected(event.state)) watch?.wake();
        else if (event.state.kind === "disabled") watch?.rest();
      }),
    ];
  }

  get accepted(): Interests {
    return this.#accepted;
  }

  /**
   * Whether this is the caller of an exchange, and it is told of changes of the list. Requests of the newest revision belong to no
   * session: the caller is recognised by its principal and the name of its client.
   */
  tells({ endpoint, principal, caller: { client } }: GatewayExchange, list: ChangingList): boolean {
    const { view, asked, principal: own } = this.#request;
    const isSame = viewKey(view) === viewKey(endpoint) && principalKey(own) === principalKey(principal);
    const isSameClient = client !== undefined && isDeepStrictEqual(asked?.caller.client, client);
    return isSame && isSameClient && this.#accepted.lists?.includes(list) === true;
  }

  update(interests: Interests): Promise<void> {
    return this.#turns.run(() => this.#replace(interests));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#listChanges.close();
    this.#parts.onClosed(this);
    await this.#turns.ended();
    await Promise.all([...this.#watches.values()].map(({ watch }) => watch.close()));
    this.#watches.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #replace(interests: Interests): Promise<void> {
    if (this.#isClosed) return;
    // Changes are passed on from here, so that none is lost while the servers are asked.
    const lists = await this.#offeredLists(interests.lists ?? []);
    this.#accepted = { ...this.#accepted, lists };
    const wanted = await this.#wanted(interests);
    const gone = [...this.#watches.keys()].filter((server) => !wanted.has(server));
    const agreed = await Promise.all([...wanted].map(([server, its]) => this.#watch(server, its)));
    await Promise.all(gone.map((server) => this.#unwatch(server)));
    this.#accepted = {
      lists,
      resources: agreed.flatMap(({ resources = [] }) => resources),
      tasks: agreed.flatMap(({ tasks = [] }) => tasks),
    };
  }

  async #wanted(interests: Interests): Promise<Map<string, Wanted>> {
    const { host, calls } = this.#parts;
    const access = this.#selection?.access;
    const mayFollow = (task: TaskPlace) => this.#mayFollow(task);
    return access ? wantedByServer(interests, this.#request, { host, calls, access, mayFollow }) : new Map();
  }

  async #mayFollow(task: TaskPlace): Promise<boolean> {
    return this.#selection?.permits.mayFollow(task, this.#request.principal) ?? false;
  }

  /** A set that changed may show something else; one that is gone has nothing more to tell. */
  #setsChanged(): void {
    const selection = this.#parts.findSelection();
    if (selection === this.#selection) return;
    this.#selection = selection;
    if (selection) this.#listChanges.add(CHANGING_LISTS.filter((list) => this.#accepted.lists?.includes(list)));
    else this.#request.onEnd?.();
  }

  /** The endpoint of all servers reports all lists; that of one server reports those that the server declares. */
  async #offeredLists(asked: readonly ChangingList[]): Promise<readonly ChangingList[]> {
    const { view } = this.#request;
    if (view.kind !== "one") return asked;
    const { capabilities } = await this.#parts.catalogs.of(view.server).nature();
    return asked.filter((list) => capabilities[list]?.listChanged === true);
  }

  /** The interests that the server agreed to, in the caller's names. A server that is away agrees to nothing. */
  async #watch(server: string, wanted: Wanted): Promise<Interests> {
    const watch = this.#watches.get(server)?.watch ?? this.#newWatch(server);
    this.#watches.set(server, { watch, wanted });
    try {
      const agreed = await watch.set({ resources: wanted.resources, tasks: [...wanted.tasks.keys()] });
      return {
        resources: (agreed.resources ?? []).map((uri) => this.#outward(server, uri)),
        tasks: (agreed.tasks ?? []).flatMap((id) => wanted.tasks.get(id) ?? []),
      };
    } catch (error) {
      this.#parts.logger.debug(`cannot subscribe to changes of "${server}": ${messageOf(error)}`);
      await this.#unwatch(server);
      return {};
    }
  }

  #newWatch(server: string): ServerWatch {
    const { calls, logger } = this.#parts;
    const { principal, owner, capabilities } = this.#request;
    const by = { principal, caller: { era: "modern" as const, owner, capabilities, ask: undefined } };
    return new ServerWatch({
      server,
      lease: (signal) => calls.lease(server, by, signal),
      onChange: (change) => this.#changed(server, change),
      onRestored: () => this.#restored(server),
      logger,
    });
  }

  async #unwatch(server: string): Promise<void> {
    const watched = this.#watches.get(server);
    this.#watches.delete(server);
    await watched?.watch.close();
  }

  /** Whether changes come from the caller's own connection, which has the lists that the caller sees. */
  #hearsItself(server: string): boolean {
    const { owners, ownerKey } = this.#parts;
    return this.#request.view.kind === "one" && owners.isHeard(ownerKey, server);
  }

  #listsChanged({ server, lists }: ListsChanged): void {
    const { view, principal } = this.#request;
    if (view.kind === "one" && view.server !== server) return;
    if (!this.#selection?.access.sees(principal, server)) return;
    const wanted = lists.filter((list) => this.#accepted.lists?.includes(list));
    this.#listChanges.add(view.search && !this.#servesOthers() ? wanted.filter((list) => list !== "tools") : wanted);
  }

  /** A search view lists the same tools for as long as it has the same servers. */
  #servesOthers(): boolean {
    const before = this.#servers;
    this.#servers = this.#shownServers();
    return this.#servers !== before;
  }

  #shownServers(): string {
    const { view, principal } = this.#request;
    const shown = this.#parts.host
      .servers()
      .filter(({ id, state }) => !AWAY.has(state.kind) && this.#selection?.access.sees(principal, id));
    return view.search ? shown.map(({ id }) => id).join(" ") : "";
  }

  #changed(server: string, change: Change): void {
    switch (change.kind) {
      case "resource-updated":
        if (!this.#hears(server, change.uri)) return;
        return this.#tell(renamed(change.notification, { uri: this.#outward(server, change.uri) }));
      case "task-changed":
        return this.#taskChanged(server, change);
      case "restored":
        return this.#restored(server);
      case "list-changed":
      case "interrupted":
      case "ended":
        return;
    }
  }

  #taskChanged(server: string, { taskId, notification }: TaskChanged): void {
    const { calls, logger } = this.#parts;
    const known = this.#watches.get(server)?.wanted.tasks.get(taskId);
    const task = calls.findTask(known, this.#request.principal);
    if (known === undefined || !task) return;
    callListener(async () => {
      if (!(await this.#mayFollow(task))) return;
      this.#tell(await taskNotice(notification, { server, taskId: known, request: this.#request, calls }));
    }, logger);
  }

  /** Changes may have been missed: reports everything that was subscribed to as changed. */
  #restored(server: string): void {
    this.#listsChanged({ server, lists: CHANGING_LISTS });
    for (const uri of this.#watches.get(server)?.wanted.resources ?? []) {
      if (!this.#hears(server, uri)) continue;
      const params = { uri: this.#outward(server, uri) };
      this.#tell({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
    }
  }

  /** Access rules can change while a subscription is open. */
  #hears(server: string, uri: string): boolean {
    return this.#selection?.access.hears(this.#request.principal, server, uri) ?? false;
  }

  #outward(server: string, uri: string): string {
    return this.#request.view.kind === "one" ? uri : fullUri(server, uri);
  }

  #tell(notification: Notification): void {
    if (!this.#isClosed) callListener(() => this.#request.onChange(notification), this.#parts.logger);
  }
}

type TaskChanged = Extract<Change, { kind: "task-changed" }>;

/** Reports of the same change over several connections arrive within this time. */
const GATHER_MS = 25;

/** Notifies a caller that lists changed: once, even if several servers or connections report it at the same time. */
export class ListChanges {
  readonly #tell: (notification: Notification) => void;
  readonly #gathered = new Set<ChangingList>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (notification: Notification) => void) {
    this.#tell = tell;
  }

  add(lists: readonly ChangingList[]): void {
    for (const list of lists) this.#gathered.add(list);
    if (this.#gathered.size > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#gathered.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    const lists = [...this.#gathered];
    this.#gathered.clear();
    for (const list of lists) this.#tell({ jsonrpc: "2.0", method: changeMethod(list) });
  }
}

/** The interests of a caller in one server, in that server's names. */
interface Wanted {
  resources: string[];
  /** The caller's id of a task, by the server's id. */
  tasks: Map<string, string>;
}

/** Maximum number of resources for one caller: legacy servers get a request for each. */
const MAX_WATCHED = 1_000;

interface WantingParts {
  host: Host;
  calls: CallRunner;
  access: PrincipalAccess;
  /** Whether the principal may follow a task. */
  mayFollow: (task: TaskPlace) => Promise<boolean>;
}

/** The interests by server. Leaves out unknown names and what the principal may not use. */
export async function wantedByServer(
  { resources = [], tasks = [] }: Interests,
  { view, principal }: Pick<GatewayListenRequest, "view" | "principal">,
  { host, calls, access, mayFollow }: WantingParts,
): Promise<Map<string, Wanted>> {
  const wanted = new Map<string, Wanted>();
  const of = (server: string) => {
    const its: Wanted = wanted.get(server) ?? { resources: [], tasks: new Map() };
    wanted.set(server, its);
    return its;
  };
  for (const uri of resources.slice(0, MAX_WATCHED)) {
    const isServer = (id: string) => host.find(id) !== undefined;
    const target = view.kind === "one" ? { server: view.server, own: uri } : resolveFullUri(uri, isServer);
    if (!target || !isServer(target.server)) continue;
    const { server, own } = target;
    if (access.hears(principal, server, own)) of(server).resources.push(own);
  }
  for (const id of tasks.slice(0, MAX_WATCHED)) {
    const task = calls.findTask(id, principal);
    if (!task || !belongsTo(view, task)) continue;
    if (await mayFollow(task)) of(task.server).tasks.set(task.taskId, id);
  }
  return wanted;
}
