import { changeMethod } from "../../protocol/list-kinds.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { findsOthers, isSearched, WITH_SEARCHED } from "../../protocol/shown-tools.ts";
import type { Logger } from "../../text/logger.ts";
import type { CallScope } from "./call-scope.ts";
import type { Conversation } from "./conversation.ts";
import type { Inbox } from "./inbox.ts";
import { readList, usableItems, type KnownLists, type ListReading } from "./lists.ts";
import type { ResponseCache } from "./response-cache.ts";
import { factsOf, UNKNOWN_TOOL, type ToolFacts } from "./tool-facts.ts";

interface ListReaderOptions {
  server: string;
  conversation: Conversation;
  inbox: Inbox;
  cache: ResponseCache;
  logger: Logger;
}

/** Reads the lists of one server, and keeps the facts about its tools that calls need. */
export class ListReader {
  readonly #options: ListReaderOptions;
  /** The items of each list as the server sent them. */
  readonly #received = new WeakMap<readonly unknown[], readonly unknown[]>();
  readonly #searched = new WeakMap<readonly unknown[], readonly Tool[]>();

  constructor(options: ListReaderOptions) {
    this.#options = options;
  }

  async read<K extends keyof KnownLists>(kind: K, scope: CallScope): Promise<Required<KnownLists>[K]> {
    const { inbox } = this.#options;
    const { changes } = inbox;
    const { list, received } = await readList(kind, this.#readingIn(scope));
    this.#received.set(list, received);
    if (changes === inbox.changes) inbox.known[kind] = list;
    return list;
  }

  /** What the server sent for a list that was read here. */
  receivedFor(list: readonly unknown[]): readonly unknown[] {
    return this.#received.get(list) ?? list;
  }

  /** The tools of a list that was read here which only searching finds: those of an API in this process. */
  searchedFor(list: readonly unknown[]): readonly Tool[] {
    return this.#searched.get(list) ?? [];
  }

  /** Skips tools that HTTP clients must not offer, with a warning. */
  async readTools(scope: CallScope): Promise<Tool[]> {
    const { conversation, inbox } = this.#options;
    const { changes } = inbox;
    const { list, received } = await this.#readAllTools(scope);
    const listed = list.filter((tool) => !isSearched(tool));
    const facts = new Map<string, ToolFacts>();
    conversation.tools = facts;
    const tools = listed.filter((tool) => this.#keepFacts(tool, facts));
    this.#received.set(tools, received);
    if (list.length > listed.length) this.#searched.set(tools, list.filter(isSearched));
    if (changes === inbox.changes) inbox.known.tools = tools;
    return tools;
  }

  /** An API in this process also lists the tools that are found by searching. */
  async #readAllTools(scope: CallScope): ReturnType<typeof readList<"tools">> {
    const reading = this.#readingIn(scope);
    const { conversation } = reading;
    const first = await readList("tools", reading);
    if (conversation.peer.kind !== "memory" || !findsOthers(first.list)) return first;
    const { tools: found } = await conversation.exchange(LIST_METHODS.tools, WITH_SEARCHED, scope);
    if (!Array.isArray(found)) return first;
    const list = usableItems("tools", found, reading) as unknown as Tool[];
    return { list, received: found };
  }

  /** Call this when the server reports that the known tools are wrong. */
  async reloadTools(scope: CallScope): Promise<void> {
    this.#options.cache.invalidate(changeMethod("tools"));
    await this.readTools(scope);
  }

  /** False for a tool that must not be offered. */
  #keepFacts(tool: Tool, facts: Map<string, ToolFacts>): boolean {
    const { conversation, server, logger } = this.#options;
    // The rules for headers apply to HTTP clients of modern servers; a pipe has no headers.
    const isStrict = conversation.peer.kind === "http" && conversation.agreement.era === "modern";
    const { facts: found, reason } = factsOf(tool, isStrict);
    if (reason !== undefined) {
      logger.warn(`tool "${tool.name}" of "${server}" is skipped: ${reason}`);
      return false;
    }
    if (found !== UNKNOWN_TOOL) facts.set(tool.name, found);
    return true;
  }

  #readingIn(scope: CallScope): ListReading {
    const { conversation, cache, server, logger } = this.#options;
    return { conversation, cache, scope, server, logger };
  }
}
