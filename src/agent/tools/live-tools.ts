import { within } from "../../async/within.ts";
import type { Host } from "../../host/host.ts";
import { READ_RESOURCE, resourceTools, type AgentTool } from "../../host/registry.ts";
import type { ForAgent, HostTool } from "../../host/visible-lists.ts";
import { isRecord } from "../../json/is-record.ts";
import { nearNames } from "../../text/nearest-name.ts";
import { shorten } from "../../text/shorten.ts";
import { visibleLines } from "../../text/visible.ts";
import type { ModelTool } from "../model/model-provider.ts";
import type { KeptResults } from "./kept-results.ts";
import { nameOrigin, OWN_SERVER } from "./origin.ts";
import { type OwnTool, textResult } from "./own-tool.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { ToolIndex } from "../../text/tool-index.ts";

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

  /** The definitions for the next request. */
  definitions(): ModelTool[] {
    // What was accepted or is held since the last request does not change the lists.
    this.#offer = undefined;
    const tools = this.#tools();
    for (const { name, server, tool } of tools) this.#offered.set(name, { server, tool: tool.name });
    const own = this.#ownTools().map(({ definition }) => definition);
    return this.#isSearched ? [...own, CALL_TOOL_DEFINITION] : [...tools.map(definitionOf), ...own];
  }

  /** The tool that a model calls by this name. */
  resolve(name: string, args: unknown): CallTarget {
    const own = this.#ownTools().find(({ definition }) => definition.name === name);
    if (own) return { kind: "own", tool: own, arguments: args };
    // Also when there are so few tools now that it is not offered: the model may have been asked before.
    if (name === CALL_ANY_TOOL) return this.#resolveInner(args);
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
    const { name, arguments: inner = {} } = isRecord(args) ? args : {};
    if (typeof name === "string") return this.#resolveServer(name, inner);
    const message = `${CALL_ANY_TOOL} needs the name of a tool, as search_tools gives it.`;
    return { kind: "missing", server: OWN_SERVER, tool: CALL_ANY_TOOL, arguments: args, message };
  }

  #resolveServer(name: string, args: unknown): CallTarget {
    const found = this.find(name);
    if (found) return { kind: "server", found, arguments: args };
    return { kind: "missing", ...this.placeOf(name), arguments: args, message: this.#whyMissing(name) };
  }

  #whyMissing(name: string): string {
    const before = this.#offered.get(name);
    if (!before) {
      const near = nearNames(
        name,
        this.#tools().map((tool) => tool.name),
        3,
      );
      const hint = near.length === 0 ? "Use only tools that are offered." : `Did you mean ${near.join(", ")}?`;
      return `There is no tool ${JSON.stringify(shorten(name, MAX_NAME))}. ${hint}`;
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
    const offer: Offer = { madeOf, tools, resourceTools: resourceTools(host, { agent }).map(resourceTool) };
    this.#offer = offer;
    return offer;
  }

  get #isSearched(): boolean {
    const { searchAbove, maxTools } = this.#options;
    return this.#current().tools.size > Math.min(searchAbove, maxTools() - MAX_OWN_TOOLS);
  }

  #ownTools(): OwnTool[] {
    const { results } = this.#options;
    const search = this.#isSearched
      ? searchMode(
          () => this.#tools(),
          (name) => this.#whyMissing(name),
        )
      : [];
    return [...search, ...this.#current().resourceTools, ...(results.isNamed ? [results.tool] : [])];
  }
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

const CALL_ANY_TOOL = "call_tool";
const MOST = 50;
const USUAL = 10;
const SHOWN = 200;

const NAME = { type: "string", description: "The name of the tool, as search_tools gives it." };

/** The tools with which a model finds and reads about all others. `list` gives the tools of this moment. */
function searchMode(list: () => readonly HostTool[], missing: (name: string) => string): OwnTool[] {
  return [searchTools(list), describeTool(list, missing)];
}

/** Calls a tool that was found. The agent makes of it a call of that tool. */
const CALL_TOOL_DEFINITION: ModelTool = {
  name: CALL_ANY_TOOL,
  description: "Calls a tool that search_tools found. Read its arguments with describe_tool first.",
  inputSchema: {
    type: "object",
    properties: { name: NAME, arguments: { type: "object", description: "The arguments of that tool." } },
    required: ["name"],
    additionalProperties: false,
  },
};

function searchTools(list: () => readonly HostTool[]): OwnTool {
  const count = list().length;
  return {
    definition: {
      name: "search_tools",
      description: `Finds tools of the connected MCP servers by words such as "create invoice" or the name of a server. There are ${count}. Next, read the arguments of a tool with describe_tool, and call it with ${CALL_ANY_TOOL}.`,
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string", description: "Words about what the tool does." },
          limit: { type: "integer", minimum: 1, maximum: MOST, default: USUAL },
        },
        required: ["query"],
        additionalProperties: false,
      },
    },
    run: ({ query, limit = USUAL }) => search(list(), String(query), Number(limit)),
  };
}

function search(tools: readonly HostTool[], query: string, limit: number): CallToolResult {
  const byName = new Map(tools.map((found) => [found.name, found]));
  const index = new ToolIndex(
    tools.map(({ name: key, server, tool: { name, title = "", description = "" } }) => ({
      key,
      name,
      title,
      category: server,
      description,
    })),
  );
  const names = index.search(query);
  if (names.length === 0) {
    const servers = [...new Set(tools.map(({ server }) => server))].toSorted().join(", ");
    return textResult(`No tool matches ${JSON.stringify(query)}. Use other words. Servers: ${servers}.`);
  }
  const found = names.slice(0, limit).flatMap((name) => {
    const { server = "", tool } = byName.get(name) ?? {};
    const isReadOnly = tool?.annotations?.readOnlyHint === true;
    const description = shorten(visibleLines(tool?.description ?? tool?.title ?? ""), SHOWN);
    return { name, server, isReadOnly, description };
  });
  return textResult(JSON.stringify({ tools: found, more: names.length - found.length }));
}

function describeTool(list: () => readonly HostTool[], missing: (name: string) => string): OwnTool {
  const find = (name: unknown) => list().find((found) => found.name === name);
  return {
    definition: {
      name: "describe_tool",
      description: "Gives the description of a tool and the schemas of its arguments and its result.",
      inputSchema: { type: "object", properties: { name: NAME }, required: ["name"], additionalProperties: false },
    },
    originOf: ({ name }) => {
      const found = find(name);
      return found && { server: found.server, tool: found.tool.name };
    },
    run: ({ name }) => {
      const found = find(name);
      if (!found) return textResult(missing(String(name)), true);
      const { title, description = "", inputSchema, outputSchema, annotations } = found.tool;
      const described = { title, description: visibleLines(description), inputSchema, outputSchema, annotations };
      return textResult(JSON.stringify({ name: found.name, ...described }));
    },
  };
}
