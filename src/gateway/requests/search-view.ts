import { UNAVAILABLE } from "../lists/merged-lists.ts";
import { effectOf, innerCall } from "../../catalog/searching-tools.ts";
import { type CatalogTool, ToolCatalog } from "../../catalog/tool-catalog.ts";
import { RecentMap } from "../../async/recent-map.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { CallToolResult, ToolAnnotations } from "../../protocol/mcp.ts";
import { CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS, SEARCHING_TOOLS } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import { listedTarget } from "../access/narrowed.ts";
import type { Catalogs } from "../lists/catalogs.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import type { Cursors } from "../lists/merged-lists.ts";
import { principalKey } from "../../server/core/principal.ts";
import { type GatewayExchange, type View, viewKey } from "../names/view.ts";
import { type AskedRequest, type EndpointExchange, type ResolvedTarget, targetOf } from "./request.ts";
import type { Selection } from "./selection.ts";

/** Catalogs of one selection. */
const MAX_KEPT = 8;

export interface SearchViewOptions {
  host: Host;
  catalogs: Catalogs;
  listed: ListedThings;
  cursors: Cursors;
  /** A page of the tools of an endpoint that is not searched. */
  page: (exchange: EndpointExchange, selection: Selection) => Promise<Result>;
  /** Does a request as if it had come to an endpoint. */
  handle: (exchange: EndpointExchange) => Promise<Result>;
  listsTool: (server: string, tool: string) => boolean;
}

/** Endpoints that list three tools, with which their callers find, describe and call all others. */
export class SearchView {
  readonly #options: SearchViewOptions;
  /** The last ones of each selection, by endpoint and principal. */
  readonly #catalogs = new WeakMap<Selection, RecentMap<string, ToolCatalog<ListedTool>>>();

  constructor(options: SearchViewOptions) {
    this.#options = options;
  }

  /** What a request is for. One that names another tool is the call of that tool, which is noted in it. */
  targetOf(asked: AskedRequest, selection: Selection): ResolvedTarget {
    const { method, params, endpoint } = asked;
    const { name } = params;
    if (method !== "tools/call") return targetOf(asked, selection);
    if (name === SEARCH_TOOLS || name === DESCRIBE_TOOL) return { kind: "catalog", tool: name };
    if (name !== CALL_TOOL) return targetOf(asked, selection);
    const { arguments: given, ...rest } = params;
    try {
      const inner = innerCall(given);
      const listed = this.#listedName(inner.name, endpoint, selection);
      const called = listed ?? inner.name;
      // Who may not know of the tool must not learn from an error whether the other form was understood.
      asked.called = { name: called, given: inner.name, arguments: inner.arguments, through: CALL_TOOL };
      if (listed === undefined || SEARCHING_TOOLS.includes(called)) {
        const unknown = { server: undefined, kind: "tool", given: called } as const;
        return { kind: "nothing", problem: () => selection.unknown(unknown, asked) };
      }
      const args = inner.arguments === undefined ? {} : { arguments: inner.arguments };
      return targetOf({ ...asked, params: { ...rest, name: called, ...args } }, selection);
    } catch (problem) {
      return { kind: "nothing", problem: () => asNexusError(problem) };
    }
  }

  /** The definitions of the three tools. They name the servers of the tools that the caller may use. */
  async list(exchange: EndpointExchange, selection: Selection): Promise<Result> {
    // There is one page, so that no cursor is valid.
    this.#options.cursors.open(exchange);
    const { catalog, page } = await this.#read(exchange, selection);
    const isWhole = page["_meta"]?.[UNAVAILABLE] === undefined;
    const { search, describe, call } = catalog.searchingTools({ isWhole });
    return { ...page, tools: [search, describe, call] };
  }

  async answer(tool: string, exchange: EndpointExchange, selection: Selection): Promise<Result> {
    const { arguments: args = {} } = exchange.params;
    const { catalog } = await this.#read(exchange, selection);
    const result =
      tool === SEARCH_TOOLS ? catalog.search(args) : await this.#describe(args, { catalog, exchange, selection });
    return { resultType: "complete", ...result };
  }

  async #describe(args: unknown, { catalog, exchange, selection }: Described): Promise<CallToolResult> {
    const named = catalog.described(args, (name) => this.#listedName(name, exchange.endpoint, selection) ?? "");
    if ("problem" in named) return named.problem;
    const { tool } = named;
    const definition = tool.definition ?? (await this.#describedByServer(tool, exchange, selection));
    const described = { ...definition, effect: effectOf(tool.annotations) };
    return { content: [{ type: "text", text: JSON.stringify(described) }], structuredContent: described };
  }

  /** An API has more to say of the tools that only searching finds. */
  async #describedByServer(tool: ListedTool, exchange: EndpointExchange, selection: Selection): Promise<Params> {
    const endpoint = plainOf(exchange.endpoint);
    const describer = selection.nameOf(endpoint, tool.server, DESCRIBE_TOOL);
    const params = { name: describer, arguments: { name: tool.name } };
    const { name, title, description, annotations } = tool;
    const inShort = { name, title, description, inputSchema: tool.inputSchema(), annotations };
    const result = await this.#options.handle({ ...asking("tools/call", exchange), params }).catch(() => undefined);
    const text = Array.isArray(result?.["content"]) ? (result["content"] as unknown[]).at(-1) : undefined;
    if (!result || result["isError"] === true || !isRecord(text) || typeof text["text"] !== "string") return inShort;
    const described: unknown = parsed(text["text"]);
    if (!isRecord(described)) return inShort;
    const { call: _, ...definition } = described;
    return definition;
  }

  /** All tools that the caller may use, by the names of the endpoint without the view. */
  async #read(exchange: EndpointExchange, selection: Selection): Promise<ReadTools> {
    const { page } = this.#options;
    const asked = asking("tools/list", exchange);
    const items: Params[] = [];
    let first: Result | undefined;
    let cursor: unknown;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor, ...rest } = await page({ ...asked, params }, selection).catch(noTools);
      // As long as the shortest, and only for those who may see all of it.
      first ??= rest;
      if (Number(rest["ttlMs"]) < Number(first["ttlMs"])) first = { ...first, ttlMs: rest["ttlMs"] };
      if (rest["cacheScope"] !== "public") first = { ...first, cacheScope: rest["cacheScope"] };
      for (const item of Array.isArray(tools) ? (tools as unknown[]) : []) if (isRecord(item)) items.push(item);
      cursor = nextCursor;
    } while (cursor !== undefined);
    const listed = items.flatMap((item) => this.#listedTool(item, asked.endpoint, selection) ?? []);
    const all = [...listed, ...(await this.#searched(exchange, selection))];
    const key = `${viewKey(exchange.endpoint)} ${principalKey(exchange.principal)}`;
    return { catalog: this.#catalogOf(all, selection, key), page: first };
  }

  /** Words of many tools take a while to collect, and are the same as long as the tools are. */
  #catalogOf(tools: readonly ListedTool[], selection: Selection, key: string): ToolCatalog<ListedTool> {
    const kept = this.#catalogs.get(selection) ?? new RecentMap<string, ToolCatalog<ListedTool>>({ most: MAX_KEPT });
    const last = kept.get(key);
    const isSame = last?.tools.length === tools.length && tools.every((tool, at) => tool.isSame(last.tools[at]));
    const catalog = last && isSame ? last : new ToolCatalog(tools);
    kept.set(key, catalog);
    this.#catalogs.set(selection, kept);
    return catalog;
  }

  /** Undefined for tools of an API that search others, which are found here as well, and for names of the view itself. */
  #listedTool(item: Params, endpoint: View, selection: Selection): ListedTool | undefined {
    const name = String(item["name"]);
    if (SEARCHING_TOOLS.includes(name)) return undefined;
    const own = endpoint.kind === "one" ? { server: endpoint.server, own: name } : selection.resolve("tool", name);
    if (!own) return undefined;
    if (this.#options.catalogs.isApi(own.server) && isSearching({ ...item, name: own.own })) return undefined;
    const ownName = selection.set?.findItem(own.server, own.own)?.name ?? own.own;
    return new ListedTool(name, ownName, { server: own.server, item, serverTitle: this.#titleOf(own.server) });
  }

  /** Tools of APIs that are not in their lists. */
  async #searched({ endpoint, principal }: GatewayExchange, selection: Selection): Promise<ListedTool[]> {
    const { host, catalogs, listed } = this.#options;
    const servers =
      endpoint.kind === "one" ? [endpoint.server] : selection.lists.shownTo(principal).map(({ id }) => id);
    const found: ListedTool[] = [];
    for (const server of servers.filter((id) => catalogs.isApi(id))) {
      const targets = await listed.commonTools(server).catch(() => undefined);
      const { access, set } = selection;
      for (const tool of host.offered(server).searched) {
        const target = targets?.get(tool.name);
        if (!target || access.isHeld("tools", target) || !access.allows(principal, target)) continue;
        const name = selection.nameOf(plainOf(endpoint), server, tool.name);
        const { description = tool.description, name: ownName = tool.name } = set?.findItem(server, tool.name) ?? {};
        const shown = { ...tool, description };
        found.push(
          new ListedTool(name, ownName, {
            server,
            item: shown,
            serverTitle: this.#titleOf(server),
            isSearched: true,
          }),
        );
      }
    }
    return found;
  }

  #titleOf(server: string): string | undefined {
    return this.#options.host.find(server)?.definition.name;
  }

  /**
   * A tool may also be named `server.tool`, `server__tool` and `mcp__server__tool`, with the server exactly as names begin in
   * lists: a gateway in front decides by names as they are listed. Undefined for a name with another form of it.
   */
  #listedName(given: string, endpoint: View, selection: Selection): string | undefined {
    const { host, listsTool } = this.#options;
    const isOne = endpoint.kind === "one";
    if (isOne && listsTool(endpoint.server, given)) return given;
    const own = isOne ? undefined : selection.resolve("tool", given);
    if (own && selection.nameOf(endpoint, own.server, own.own) === given) return given;
    const [, prefix = "", name = ""] = /^(?:mcp__)?(.+?)(?:__|\.)(.+)$/s.exec(given) ?? [];
    const server = host.directory.findIdByPrefix(prefix);
    if (server === undefined) return given;
    if (isOne) return server === endpoint.server && listsTool(server, name) ? name : given;
    const isListed = prefix === (host.find(server)?.definition.prefix ?? server);
    return isListed ? selection.fullNameOf({ server, name }) : undefined;
  }
}

interface Described {
  catalog: ToolCatalog<ListedTool>;
  exchange: EndpointExchange;
  selection: Selection;
}

interface ReadTools {
  catalog: ToolCatalog<ListedTool>;
  /** What the list says beside its tools. */
  page: Result;
}

interface ListedItem {
  server: string;
  serverTitle: string | undefined;
  item: Params;
  isSearched?: boolean;
}

/** A tool as the endpoint without the view lists it. */
class ListedTool implements CatalogTool {
  readonly name: string;
  readonly ownName: string;
  readonly server: string;
  readonly serverTitle: string | undefined;
  readonly #listed: ListedItem;

  constructor(name: string, ownName: string, listed: ListedItem) {
    this.name = name;
    this.ownName = ownName;
    this.server = listed.server;
    this.serverTitle = listed.serverTitle;
    this.#listed = listed;
  }

  get title(): string | undefined {
    return textIn(this.#listed.item, "title");
  }

  get description(): string | undefined {
    return textIn(this.#listed.item, "description");
  }

  get annotations(): ToolAnnotations | undefined {
    const { server, item } = this.#listed;
    return listedTarget("tools", server, item).annotations;
  }

  readonly inputSchema = (): unknown => this.#listed.item["inputSchema"];

  /** Undefined for a tool that is listed in short. */
  get definition(): Params | undefined {
    return this.#listed.isSearched ? undefined : this.#listed.item;
  }

  isSame(other: ListedTool | undefined): boolean {
    if (other?.name !== this.name) return false;
    const [{ item, serverTitle }, { item: its, serverTitle: theirs }] = [this.#listed, other.#listed];
    return serverTitle === theirs && isEqual(item, its);
  }
}

/** One that is renamed or listed in short is another object each time, with the same schemas. */
function isEqual(item: Params, other: Params): boolean {
  if (item === other) return true;
  const members = Object.keys(item);
  const isSameMember = (name: string) =>
    item[name] === other[name] || JSON.stringify(item[name]) === JSON.stringify(other[name]);
  return members.length === Object.keys(other).length && members.every(isSameMember);
}

/** A server without tools has none to search for. */
function noTools(error: unknown): Result {
  if (!(error instanceof NexusError) || error.code !== "CAPABILITY_MISSING") throw error;
  return { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
}

function textIn(item: Params, member: string): string | undefined {
  const text = item[member];
  return typeof text === "string" ? text : undefined;
}

function plainOf({ search: _search, ...view }: View): View {
  return view;
}

/** A request of the view itself: nothing of it is passed to the caller, and it is no part of the record. */
function asking(method: string, exchange: EndpointExchange): EndpointExchange {
  const silent = { logLevel: undefined, progressToken: undefined, pause: undefined };
  return {
    ...exchange,
    endpoint: plainOf(exchange.endpoint),
    method,
    params: {},
    caller: { ...exchange.caller, ...silent },
    called: undefined,
    state: undefined,
    receipt: undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
