import { within } from "../../async/within.ts";
import { matchesName } from "../../host/directory/policy.ts";
import type { Host } from "../../host/host.ts";
import { READ_RESOURCE, resourceTools, type AgentTool } from "../../host/registry.ts";
import type { ForAgent, HostTool } from "../../host/visible-lists.ts";
import { innerCall, noSuchTool } from "../../catalog/searching-tools.ts";
import { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { CallToolResult, Tool } from "../../protocol/mcp.ts";
import { CALL_TOOL } from "../../protocol/meta.ts";
import { shorten } from "../../text/shorten.ts";
import { visibleLines } from "../../text/visible.ts";
import type { ModelTool } from "../model/model-provider.ts";
import type { KeptResults } from "./kept-results.ts";
import type { ServerIntroduction } from "./server-words.ts";
import { nameOrigin, OWN_SERVER } from "./origin.ts";
import { type OwnTool, textResult } from "./own-tool.ts";

/** What a call of a model is for. */
export type CallTarget =
  | { kind: "server"; found: HostTool; arguments: unknown }
  | { kind: "own"; tool: OwnTool; arguments: unknown }
  /** There is no such tool now; `message` says why. */
  | { kind: "missing"; server: string; tool: string; arguments: unknown; message: string };

interface LiveToolsOptions extends ForAgent {
  host: Host;
  /** With more tools than this, they are searched for. */
  searchAbove: number;
  /** The most tools that the model takes in one request. */
  maxTools: () => number;
  results: KeptResults;
}

/** Of the agent itself, beside those of servers: to list and read resources, and to read long results. */
const MAX_OWN_TOOLS = 3;
/** How long a request to the model waits for lists that are being read. */
const SETTLE_MS = 1_000;
/** Of a name that a model made up. */
const MAX_NAME = 200;

/** What the servers offer, until one of them changes. */
interface Offer {
  /** The definitions and lists that it was made of; all of them are replaced when they change. */
  madeOf: readonly unknown[];
  /** A name stands for one tool; the first keeps it. */
  tools: ReadonlyMap<string, HostTool>;
  /** The same, to search in. */
  catalog: ToolCatalog;
  /** The agent's own tools for resources. */
  resourceTools: readonly OwnTool[];
}

/** The tools of a host for a model, as they are at this moment. */
export class LiveTools {
  readonly #options: LiveToolsOptions;
  /** What was offered before, to explain why it is missing. */
  readonly #offered = new Map<string, { server: string; tool: string }>();
  #offer: Offer | undefined;

  constructor(options: LiveToolsOptions) {
    this.#options = options;
  }

  /** Waits a moment for lists that servers have just reported as changed. */
  async settle(): Promise<void> {
    const { host } = this.#options;
    const reading = host.servers().flatMap(({ id }) => host.listsSettled(id) ?? []);
    if (reading.length > 0) await within(Promise.all(reading), SETTLE_MS);
  }

  /** The servers that it may see, with what they say about themselves. */
  get introductions(): ServerIntroduction[] {
    const { host, agent } = this.#options;
    return host.directory.visibleTo(agent).map(({ id }) => ({ server: id, words: host.offered(id).instructions }));
  }

  /** The definitions for the next request. */
  definitions(): ModelTool[] {
    // What was accepted or is held since the last request does not change the lists.
    this.#offer = undefined;
    const tools = this.#tools();
    for (const { name, server, tool } of tools) this.#offered.set(name, { server, tool: tool.name });
    const own = this.#ownTools().map(({ definition }) => definition);
    if (!this.#isSearched) return [...tools.map(definitionOf), ...own];
    const room = this.#options.maxTools() - own.length - 1;
    const always = tools.filter((found) => this.#isAlways(found)).slice(0, Math.max(0, room));
    return [...always.map(definitionOf), ...own, modelTool(this.#current().catalog.searchingTools().call)];
  }

  /** Whether the entry of its server says that it stays where others are searched for. */
  #isAlways({ server, tool }: HostTool): boolean {
    const { always = [] } = this.#options.host.find(server)?.definition ?? {};
    return always.some((pattern) => matchesName(pattern, tool.name));
  }

  /** The tool that a model calls by this name. */
  resolve(name: string, args: unknown): CallTarget {
    const own = this.#ownTools().find(({ definition }) => definition.name === name);
    if (own) return { kind: "own", tool: own, arguments: args };
    // Also when there are so few tools now that it is not offered: the model may have been asked before.
    if (name === CALL_TOOL) return this.#resolveInner(args);
    return this.#resolveServer(name, args);
  }

  /** Server and tool of a name for people, whether there is such a tool or not. */
  placeOf(name: string): { server: string; tool: string } {
    const { server, tool } = this.find(name) ?? {};
    if (server !== undefined && tool !== undefined) return { server, tool: tool.name };
    return this.#offered.get(name) ?? { server: "", tool: shorten(name, MAX_NAME) };
  }

  /** The same tool as it is listed now; undefined if it is no longer listed. */
  find(name: string): HostTool | undefined {
    return this.#current().tools.get(name);
  }

  #resolveInner(args: unknown): CallTarget {
    try {
      const { name, arguments: inner = {} } = innerCall(args);
      return this.#resolveServer(this.#listedName(name), inner);
    } catch (error) {
      return { kind: "missing", server: OWN_SERVER, tool: CALL_TOOL, arguments: args, message: messageOf(error) };
    }
  }

  /** A tool may also be named `server.tool` or `server__tool`. */
  #listedName(name: string): string {
    const { tools } = this.#current();
    if (tools.has(name)) return name;
    const isMeant = ({ server, tool }: HostTool) => [".", "__"].some((mark) => name === server + mark + tool.name);
    return [...tools.values()].find(isMeant)?.name ?? name;
  }

  #resolveServer(name: string, args: unknown): CallTarget {
    const found = this.find(name);
    if (found) return { kind: "server", found, arguments: args };
    return { kind: "missing", ...this.placeOf(name), arguments: args, message: this.#whyMissing(name) };
  }

  #whyMissing(name: string): string {
    const before = this.#offered.get(name);
    if (!before) {
      const otherwise = this.#isSearched ? undefined : "Use only tools that are offered.";
      return noSuchTool(name, [...this.#current().tools.keys()], otherwise);
    }
    const state = this.#options.host.find(before.server)?.state.kind;
    const why = state === "ready" || state === undefined ? "" : ` Its server is ${state}.`;
    return `The ${nameOrigin(before)} is no longer available.${why} Nothing was sent.`;
  }

  #tools(): HostTool[] {
    return [...this.#current().tools.values()];
  }

  /** Made once for many calls: there may be thousands of tools, and each is decided by the policy. */
  #current(): Offer {
    const { host, agent } = this.#options;
    const madeOf = host.servers().flatMap(({ id, definition }) => {
      const { tools, resources, templates } = host.offered(id);
      return [definition, tools, resources, templates];
    });
    const last = this.#offer;
    if (last?.madeOf.length === madeOf.length && madeOf.every((part, at) => part === last.madeOf[at])) return last;
    const tools = new Map<string, HostTool>();
    for (const found of host.tools({ agent })) if (!tools.has(found.name)) tools.set(found.name, found);
    const own = resourceTools(host, { agent }).map(resourceTool);
    const offer: Offer = { madeOf, tools, catalog: catalogOf(host, tools), resourceTools: own };
    this.#offer = offer;
    return offer;
  }

  get #isSearched(): boolean {
    const { searchAbove, maxTools } = this.#options;
    return this.#current().tools.size > Math.min(searchAbove, maxTools() - MAX_OWN_TOOLS);
  }

  #ownTools(): OwnTool[] {
    const { results } = this.#options;
    const search = this.#isSearched ? this.#searchTools() : [];
    return [...search, ...this.#current().resourceTools, ...(results.isNamed ? [results.tool] : [])];
  }

  #searchTools(): OwnTool[] {
    const { search, describe } = this.#current().catalog.searchingTools();
    const find = (name: unknown) => this.find(this.#listedName(String(name)));
    return [
      { definition: modelTool(search), run: (args) => searched(this.#current().catalog, args) },
      {
        definition: modelTool(describe),
        originOf: ({ name }) => {
          const found = find(name);
          return found && { server: found.server, tool: found.tool.name };
        },
        run: ({ name }) => {
          const found = find(name);
          return found ? described(found) : textResult(this.#whyMissing(String(name)), true);
        },
      },
    ];
  }
}

function catalogOf(host: Host, tools: ReadonlyMap<string, HostTool>): ToolCatalog {
  const titles = new Map(host.servers().map(({ id, definition }) => [id, definition.name]));
  return new ToolCatalog(
    [...tools.values()].map(({ name, server, tool }) => {
      const { title, description, annotations } = tool;
      const about = { title, description, annotations, inputSchema: () => tool.inputSchema };
      return { name, ownName: tool.name, server, serverTitle: titles.get(server), ...about };
    }),
  );
}

/** A model reads the text; the data beside it is for programs. */
function searched(catalog: ToolCatalog, args: unknown): CallToolResult {
  const { structuredContent: _, ...result } = catalog.search(args);
  return result;
}

function described({ name, tool }: HostTool): CallToolResult {
  const { title, description = "", inputSchema, outputSchema, annotations } = tool;
  const about = { title, description: visibleLines(description), inputSchema, outputSchema, annotations };
  return textResult(JSON.stringify({ name, ...about }));
}

function modelTool({ name, description = "", inputSchema }: Tool): ModelTool {
  return { name, description, inputSchema };
}

function definitionOf({ name, server, tool }: HostTool): ModelTool {
  const { title, description = title ?? "" } = tool;
  return {
    name,
    description: `The ${nameOrigin({ server, tool: tool.name })}. Its server describes it: ${visibleLines(description)}`,
    inputSchema: tool.inputSchema,
  };
}

function resourceTool(tool: AgentTool): OwnTool {
  const { name, description, inputSchema } = tool;
  const reads = name === READ_RESOURCE;
  return {
    definition: { name, description, inputSchema },
    ...(reads && {
      originOf: ({ server, uri }) => ({ server: String(server), resource: String(uri) }),
      serverOf: ({ server }) => (typeof server === "string" ? server : undefined),
    }),
    run: (args, options) => tool.execute(args, options),
  };
}
