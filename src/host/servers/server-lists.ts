import { within } from "../../async/within.ts";
import type { Client } from "../../client/client.ts";
import type { Change } from "../../client/changes/feed.ts";
import type { Logger } from "../../text/logger.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../protocol/mcp.ts";
import type { ChangingList, ListKind } from "../../protocol/list-kinds.ts";
import type { ListHashes } from "../definitions/pins.ts";
import { CoalescedRuns } from "../../async/coalesced-runs.ts";

interface ListsOptions {
  logger: Logger;
  /**
   * Called when the lists were read again: their content, or whether they can be read, may have changed. `told`: the
   * lists that the server reported as changed.
   */
  onLists: (told: readonly ChangingList[]) => void;
  /** Called when the stream of change notifications was interrupted. */
  onInterrupted: () => void;
  /** Compares a list with what was accepted, before it is used. */
  compare: (kind: ListKind, items: readonly unknown[]) => Promise<ListHashes>;
  /** The connection is in use while lists are read; call what it returns when they are. */
  keepConnection: () => () => void;
}

type ListName = "tools" | "resources" | "templates" | "prompts";

const KINDS: Record<ListName, ListKind> = {
  tools: "tools",
  resources: "resources",
  templates: "resourceTemplates",
  prompts: "prompts",
};
const LISTS: readonly ListName[] = ["tools", "resources", "templates", "prompts"];
/** How long to wait for the subscription to changes before the lists are read. */
const SUBSCRIBE_MS = 1_000;
/** Ask the server, not the cache. */
const FRESH = { fresh: true };

/** What one server offers, as last read. Kept current by its change notifications, in either era. */
export class ServerLists {
  definition: ServerDefinition;
  tools: readonly Tool[] = [];
  /** Of an API: its tools that are found by searching. */
  searched: readonly Tool[] = [];
  resources: readonly Resource[] = [];
  templates: readonly ResourceTemplate[] = [];
  prompts: readonly Prompt[] = [];
  /** What the server says about itself for models. */
  instructions: string | undefined;
  /** Why these lists are not the newest, though they could be read. */
  problem: NexusError | undefined;
  readonly #options: ListsOptions;
  #byName = new Map<string, Tool>();
  /** The client of these lists; changes from an earlier one are ignored. */
  #client: Client | undefined;
  #readers = new Map<ListName, CoalescedRuns>();
  readonly #failures = new Map<ListName, NexusError>();
  readonly #hashes = new Map<ListKind, ListHashes>();
  #updating: Promise<void> | undefined;

  constructor(definition: ServerDefinition, options: ListsOptions) {
    this.definition = definition;
    this.#options = options;
  }

  findTool(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  /** The hash of a definition as it was last listed; undefined if it was not listed or not hashed. */
  hashOf(kind: ListKind, name: string): string | undefined {
    return this.#hashes.get(kind)?.get(name);
  }

  /** Resolves when no list is being read; undefined if none is. */
  get settled(): Promise<void> | undefined {
    return this.#updating;
  }

  /** Why a list could not be read the last time, or is not the newest; the old list is kept then. */
  get error(): NexusError | undefined {
    return LISTS.map((list) => this.#failures.get(list)).find((failure) => failure !== undefined) ?? this.problem;
  }

  /** Why there are no tools, if there are none. */
  get lackOfTools(): NexusError | undefined {
    const failure = this.#failures.get("tools");
    if (failure || this.tools.length > 0) return failure;
    const { id } = this.definition;
    return new NexusError("CAPABILITY_MISSING", `Server "${id}" offers no tools`, {
      server: id,
      hint: `"fail_if_no_tools" in its entry makes this an error.`,
    });
  }

  /** Reads the lists of this client's server, and again when it reports changes. */
  async follow(client: Client): Promise<void> {
    this.#client = client;
    this.instructions = client.instructions;
    this.#failures.clear();
    this.#readers = new Map(LISTS.map((list) => [list, new CoalescedRuns(() => this.#read(client, list))]));
    // Subscribe first, so that changes during the reading are not missed.
    const listening = this.#listen(client);
    if (await within(listening, SUBSCRIBE_MS)) return this.reload();
    await this.reload();
    void listening.then((isAgreed) => (isAgreed ? this.reload() : undefined));
  }

  /** Reads all lists that the server declares. */
  reload(): Promise<void> {
    return this.#update(LISTS, []);
  }

  /** False if the server does not report changes: its lists are read once. */
  async #listen(client: Client): Promise<boolean> {
    try {
      await client.subscribe({ lists: ["tools", "resources", "prompts"] }, (change) => {
        if (this.#client === client) this.#heard(change);
      });
      return true;
    } catch (error) {
      this.#options.logger.debug(`"${this.definition.id}" does not report changes: ${messageOf(error)}`);
      return false;
    }
  }

  #heard(change: Change): void {
    if (change.kind === "restored") void this.#update(LISTS, ["tools", "resources", "prompts"]);
    else if (change.kind === "interrupted") this.#options.onInterrupted();
    else if (change.kind === "list-changed") {
      void this.#update(change.list === "resources" ? ["resources", "templates"] : [change.list], [change.list]);
    }
  }

  #update(lists: readonly ListName[], told: readonly ChangingList[]): Promise<void> {
    const own = this.#readAll(lists, told);
    const all: Promise<void> = Promise.allSettled([this.#updating, own]).then(() => {
      if (this.#updating === all) this.#updating = undefined;
    });
    this.#updating = all;
    return own;
  }

  async #readAll(lists: readonly ListName[], told: readonly ChangingList[]): Promise<void> {
    const client = this.#client;
    const done = this.#options.keepConnection();
    await Promise.all(lists.map((list) => this.#readers.get(list)?.run() ?? Promise.resolve())).finally(done);
    if (this.#client === client) this.#options.onLists(told);
  }

  async #read(client: Client, list: ListName): Promise<void> {
    try {
      const take = await this.#ask(client, list);
      if (this.#client !== client) return;
      take();
      this.#failures.delete(list);
    } catch (error) {
      if (this.#client !== client) return;
      this.#failures.set(list, asNexusError(error));
      this.#options.logger.warn(`the ${list} of "${this.definition.id}" could not be read: ${messageOf(error)}`);
    }
  }

  async #ask(client: Client, list: ListName): Promise<() => void> {
    switch (list) {
      case "tools":
        return this.#asked(client, list, await client.listTools(FRESH), (tools) =>
          this.#takeTools(tools, client.searchedIn(tools)),
        );
      case "resources":
        return this.#asked(client, list, await client.listResources(FRESH), (all) => (this.resources = all));
      case "templates":
        return this.#asked(client, list, await client.listResourceTemplates(FRESH), (all) => (this.templates = all));
      case "prompts":
        return this.#asked(client, list, await client.listPrompts(FRESH), (all) => (this.prompts = all));
    }
  }

  async #asked<T extends object>(
    client: Client,
    list: ListName,
    items: readonly T[],
    take: (items: readonly T[]) => void,
  ): Promise<() => void> {
    const kind = KINDS[list];
    const hashes = await this.#options.compare(kind, client.asReceived(items));
    return () => {
      this.#hashes.set(kind, hashes);
      take(items);
    };
  }

  /** A name stands for one tool: a second tool with the same name could not be called. */
  #takeTools(tools: readonly Tool[], searched: readonly Tool[]): void {
    this.#byName = new Map();
    this.searched = searched;
    this.tools = tools.filter((tool) => {
      if (!this.#byName.has(tool.name)) return this.#byName.set(tool.name, tool);
      this.#options.logger.warn(`"${this.definition.id}" has two tools "${tool.name}"; the first one is used`);
      return false;
    });
    for (const tool of searched) if (!this.#byName.has(tool.name)) this.#byName.set(tool.name, tool);
  }
}
