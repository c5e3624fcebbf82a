import { isRecord } from "../json/is-record.ts";
import type { CallToolResult, ToolAnnotations } from "../protocol/mcp.ts";
import { DESCRIBE_TOOL, SEARCH_TOOLS } from "../protocol/meta.ts";
import { memberName, SchemaReader } from "../schema/type-text.ts";
import { joinFirst, shorten } from "../text/shorten.ts";
import { visible, visibleJson } from "../text/visible.ts";
import { effectOf, limitIn, noSuchTool, problemsOf, searchingTools, wrongArguments } from "./searching-tools.ts";
import { ToolIndex } from "./tool-index.ts";

/** Of a description in a search. */
const SHOWN = 200;
const IN_SIGNATURES = { depth: 1, choices: 8 };
/** Names that an answer without tools gives. */
const MOST_NAMED = 40;

/** A tool that can be found. */
export interface CatalogTool {
  /** As callers name it. */
  name: string;
  /** What it is found by: as its server names it, unless callers know it by a name of its own. */
  ownName: string;
  server: string;
  serverTitle?: string | undefined;
  title?: string | undefined;
  description?: string | undefined;
  category?: string | undefined;
  annotations?: ToolAnnotations | undefined;
  /** The name of the tool that calls it, where that is not always call_tool. */
  call?: string | undefined;
  /** Asked for only where it is shown. */
  inputSchema: () => unknown;
}

/** A tool in an answer. */
interface FoundTool {
  name: string;
  rank: number;
  score: number;
  effect: string;
  call?: string;
  title?: string;
  signature?: string;
  description?: string;
  inputSchema?: unknown;
  annotations?: ToolAnnotations;
}

interface FoundServer {
  server: string;
  title?: string | undefined;
  tools: FoundTool[];
}

/** What search_tools was asked for. */
interface Search {
  query: string;
  limit: number;
  server: string | undefined;
  effect: unknown;
  detail: unknown;
}

/** Tools that are searched for by words. Of the same tools every catalog gives the same answer. */
export class ToolCatalog<T extends CatalogTool = CatalogTool> {
  readonly tools: readonly T[];
  readonly #byName: ReadonlyMap<string, T>;
  #index: ToolIndex | undefined;

  constructor(tools: readonly T[]) {
    this.tools = tools;
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** The servers in the order of their first tools, and how many tools each has. */
  get servers(): { server: string; tools: number }[] {
    const counts = new Map<string, number>();
    for (const { server } of this.tools) counts.set(server, (counts.get(server) ?? 0) + 1);
    return [...counts].map(([server, tools]) => ({ server, tools }));
  }

  /** The tools with which these are found, described and called. `isWhole`: no server is missing. */
  searchingTools({ isWhole = true } = {}): ReturnType<typeof searchingTools> {
    // Tools that come later may do anything.
    const isRead =
      isWhole && this.tools.length > 0 && this.tools.every(({ annotations }) => effectOf(annotations) === "read");
    return searchingTools({ servers: this.servers, effect: isRead ? "read" : "destructive" });
  }

  /** The tool that the arguments of describe_tool name, or what is wrong with them. `nameOf`: its name in this catalog. */
  described(args: unknown, nameOf: (given: string) => string): { tool: T } | { problem: CallToolResult } {
    const problems = problemsOf("describe", args);
    const name = isRecord(args) ? args["name"] : undefined;
    if (problems !== undefined || typeof name !== "string") return { problem: misused(DESCRIBE_TOOL, problems) };
    const tool = this.#byName.get(nameOf(name));
    return tool ? { tool } : { problem: wrongArguments(noSuchTool(name, [...this.#byName.keys()])) };
  }

  /** The answer of search_tools. */
  search(args: unknown): CallToolResult {
    const problems = problemsOf("search", args);
    if (problems !== undefined || !isRecord(args)) return misused(SEARCH_TOOLS, problems);
    const asked = searchOf(args);
    const found = this.#matching(asked);
    const shown = found.slice(0, asked.limit);
    const servers = grouped(shown, asked.detail);
    const more = found.length - shown.length;
    const text = shown.length === 0 ? this.#nothing(asked) : textOf(servers, more);
    return { content: [{ type: "text", text }], structuredContent: { servers, more } };
  }

  #matching({ query, server, effect }: Search): RankedTool[] {
    this.#index ??= this.#indexed();
    const matching = this.#index.search(query).flatMap(({ key, score }) => {
      const tool = this.#byName.get(key);
      if (!tool || (server !== undefined && tool.server !== server)) return [];
      return effect === undefined || effectOf(tool.annotations) === effect ? [{ tool, score }] : [];
    });
    return matching.map((found, at) => ({ ...found, rank: at + 1 }));
  }

  #indexed(): ToolIndex {
    // The name of the only server tells no tool from another.
    const hasSeveral = this.servers.length > 1;
    return new ToolIndex(
      this.tools.map(({ name: key, ownName: name, title = "", description = "", category, server }) => {
        return { key, name, title, description, category: category ?? (hasSeveral ? server : undefined) };
      }),
    );
  }

  #nothing({ query, server }: Search): string {
    const categories = [...new Set(this.tools.flatMap(({ category }) => category ?? []))].toSorted();
    const servers = this.servers.map((each) => each.server).toSorted();
    const isUnknown = server !== undefined && !servers.includes(server);
    const known = [
      ...(categories.length > 0 ? [`Categories: ${joinFirst(categories, MOST_NAMED)}.`] : []),
      ...(servers.length > 1 || isUnknown ? [`Servers: ${joinFirst(servers, MOST_NAMED)}.`] : []),
    ];
    const why = isUnknown
      ? `There is no server ${JSON.stringify(shorten(server, SHOWN))}.`
      : `No tool matches ${JSON.stringify(shorten(query, SHOWN))}. Use other words.`;
    return [why, ...known].map(visible).join(" ");
  }
}

function misused(tool: string, problems = "they must be an object"): CallToolResult {
  return wrongArguments(`Invalid arguments for ${tool}: ${problems}`);
}

interface RankedTool {
  tool: CatalogTool;
  score: number;
  rank: number;
}

/** The arguments have been compared with their schema. */
function searchOf(args: Record<string, unknown>): Search {
  const { query, server, effect, detail = "signatures" } = args;
  const only = typeof server === "string" ? server : undefined;
  return { query: String(query), limit: limitIn(args), server: only, effect, detail };
}

/** By their servers, in the order of the best tool of each. */
function grouped(found: readonly RankedTool[], detail: unknown): FoundServer[] {
  const servers = new Map<string, FoundServer>();
  for (const ranked of found) {
    const { server, serverTitle: title } = ranked.tool;
    const known = servers.get(server) ?? { server, ...(title === undefined ? {} : { title }), tools: [] };
    known.tools.push(shownTool(ranked, detail));
    servers.set(server, known);
  }
  return [...servers.values()];
}

function shownTool({ tool, rank, score }: RankedTool, detail: unknown): FoundTool {
  const { name, title, description = title ?? "", annotations, call } = tool;
  const found: FoundTool = { name, rank, score: Number(score.toPrecision(6)), effect: effectOf(annotations) };
  if (call !== undefined) found.call = call;
  if (detail === "names") return found;
  if (title !== undefined) found.title = title;
  const inputSchema = tool.inputSchema();
  found.signature = signatureOf(name, inputSchema);
  if (detail === "signatures") return { ...found, description: shorten(firstSentence(description), SHOWN) };
  return { ...found, description, inputSchema, ...(annotations === undefined ? {} : { annotations }) };
}

function signatureOf(name: string, inputSchema: unknown): string {
  const reader = new SchemaReader(inputSchema, IN_SIGNATURES);
  const parameters = reader
    .properties(inputSchema)
    .map((property) => `${memberName(property)}: ${reader.type(property.schema)}`);
  return `${name}(${parameters.join(", ")})`;
}

function firstSentence(text: string): string {
  return /^.+?[.!?](?=\s)/s.exec(text.trim())?.[0] ?? text.trim();
}

function textOf(servers: readonly FoundServer[], more: number): string {
  const lines = servers.flatMap(({ server, title, tools }) => [
    visible(`${server}${title === undefined || title === server ? "" : ` (${title})`}:`),
    ...tools.map(lineOf),
  ]);
  return [...lines, ...(more > 0 ? [`${more} more match.`] : [])].join("\n");
}

function lineOf({ name, effect, signature, title, description, inputSchema, annotations }: FoundTool): string {
  if (signature === undefined) return visible(`- ${name} (${effect})`);
  const about = aboutOf(title, description);
  const line = visible(`- ${signature} (${effect})${about === "" ? "" : `: ${about}`}`.replaceAll(/\s+/g, " "));
  const schemas = inputSchema === undefined ? "" : visibleJson(JSON.stringify({ inputSchema, annotations }));
  return schemas === "" ? line : `${line}\n  ${schemas}`;
}

/** Title and description, of which the description often begins with the title. */
function aboutOf(title: string | undefined, description = ""): string {
  if (title === undefined || description.toLowerCase().startsWith(title.toLowerCase())) return description;
  return description === "" ? title : `${title}. ${description}`;
}
