import { escapePart } from "../../schema/pointer.ts";
import { isRecord } from "../../json/is-record.ts";
import { innerCall, noSuchTool, searchingTools, wrongArguments } from "../../catalog/searching-tools.ts";
import { type CatalogTool, ToolCatalog } from "../../catalog/tool-catalog.ts";
import { shorten } from "../../text/shorten.ts";
import { CALL_TOOL, DESCRIBE_TOOL } from "../../protocol/meta.ts";
import { shownIn, type ShownTool, type ShownTools } from "../../protocol/shown-tools.ts";
import type { CallToolResult, Tool } from "../../protocol/mcp.ts";
import type { CallContext } from "../../server/features/call-context.ts";
import type { ToolDeclaration, ToolHandler } from "../../server/features/features.ts";
import { servedTool } from "../check/served-tool.ts";
import { bytesOf, fullInputSchema, fullOutputSchema } from "../compile/json-schema.ts";
import { withoutArguments } from "../../schema/without-arguments.ts";
import { fittedDefinition } from "../compile/tool-definition.ts";
import type { Effect, ToolSpec } from "../file/model/tool-file.ts";
import { MAX_DEFINITION_BYTES, type ApiRunner, type RunOptions } from "../run/api-runner.ts";

/** Of a path that a caller made up. */
const SHOWN = 200;
/** For what an answer says beside a part of a definition. */
const ROOM = 4 * 1024;
const PARTS_NOTE =
  'The whole schemas are too large for one answer. Read them with path: a part that is cut is { cut, bytes }, where "cut" is its path. "$ref": "#/$defs/Name" is at /inputSchema/$defs/Name or /outputSchema/$defs/Name.';
/** The tool that a call was made of, where it was not called directly. */
const CALLED = "dev.nexus/tool";

type Named = readonly [name: string, spec: ToolSpec];

/** Where tools are declared. */
export interface ToolSink {
  tool(declaration: ToolDeclaration, run: ToolHandler): unknown;
}

/** How a call of a client becomes one of the runner. */
type RunOptionsFrom = (context: CallContext) => RunOptions;

/** Offers tools that are not listed: they are searched for, described with their complete schemas, and called by name. */
export function addSearchTools(server: ToolSink, runner: ApiRunner, optionsFrom: RunOptionsFrom): void {
  const { file } = runner.api;
  const offered = Object.entries(file.tools).filter(([, { offer }]) => offer !== "none");
  const searchable = offered.filter(([, { offer }]) => offer === "search");
  const isNeeded = searchable.length > 0 || offered.some(([name, spec]) => isCut(runner, name, spec));
  if (!isNeeded || (searchable.length === 0 && Object.hasOwn(file.tools, DESCRIBE_TOOL))) return;
  const catalog = new SearchedApi(runner, offered);
  const tools = searchingTools({
    servers: [{ server: file.title, tools: offered.length }],
    effect: gravestOf(searchable),
    hasParts: true,
  });
  server.tool(tools.describe, ({ name, path, from }, context) => {
    const asked = { path: textOf(path), from: countOf(from), shown: shownIn(context.params) };
    return catalog.describe(textOf(name), asked, optionsFrom(context).caller);
  });
  if (searchable.length === 0) return;
  server.tool(tools.search, (args, { params }) => catalog.search(args, shownIn(params)));
  server.tool(tools.call, (args, context) => catalog.call(args, optionsFrom(context)));
}

function gravestOf(tools: readonly Named[]): Effect {
  const effects = new Set(tools.map(([, { effect }]) => effect));
  return (["destructive", "write"] as const).find((effect) => effects.has(effect)) ?? "read";
}

function isCut({ api }: ApiRunner, name: string, spec: ToolSpec): boolean {
  const { cut } = fittedDefinition(api.file, name, spec);
  return cut.input.length + cut.output.length > 0;
}

/** A definition as lists have it, and with its whole schemas. */
interface Described {
  name: string;
  served: Tool;
  whole: Tool & { call: string };
}

/** The tools that callers may know of. */
class SearchedApi {
  readonly #runner: ApiRunner;
  readonly #tools: ReadonlyMap<string, ToolSpec>;
  #searched: { shown: string | undefined; catalog: ToolCatalog } | undefined;
  #last: Described | undefined;

  constructor(runner: ApiRunner, tools: readonly Named[]) {
    this.#runner = runner;
    this.#tools = new Map(tools);
  }

  search(args: unknown, shown: ShownTools | undefined): CallToolResult {
    return this.#catalogFor(shown).search(args);
  }

  /** The last one is kept: callers mostly see the same. */
  #catalogFor(shown: ShownTools | undefined): ToolCatalog {
    const key = shown && JSON.stringify(shown);
    if (this.#searched?.shown !== key || !this.#searched) {
      this.#searched = { shown: key, catalog: new ToolCatalog(this.#catalogTools(shown)) };
    }
    return this.#searched.catalog;
  }

  #catalogTools(shown: ShownTools | undefined): CatalogTool[] {
    const { file } = this.#runner.api;
    return [...this.#tools]
      .filter(([name]) => !shown || Object.hasOwn(shown, name))
      .map(([own, spec]) => {
        const { title, meta, effect } = spec;
        const { name, call, description = spec.description, without } = this.#shownAs(own, shown);
        const ownName = name.endsWith(own) ? own : name;
        const inputSchema = () => narrowedSchema(fullInputSchema(file, spec), without);
        const annotations = { readOnlyHint: effect === "read", destructiveHint: effect === "destructive" };
        const about = { title, description, category: meta.category, annotations };
        return { name, ownName, server: file.api, serverTitle: file.title, ...about, call, inputSchema };
      });
  }

  /** The whole definition if it fits; otherwise the one of lists, and the rest in parts. */
  describe(
    given: string,
    { path, from, shown }: { path: string; from: number; shown: ShownTools | undefined },
    caller: string | undefined,
  ): CallToolResult {
    const spec = !shown || Object.hasOwn(shown, given) ? this.#tools.get(given) : undefined;
    if (!spec) return this.#unknown(given, shown);
    const as = this.#shownAs(given, shown);
    const { name } = as;
    const { served, whole } = shownDefinition(this.#definition(given, spec), as);
    const maxBytes = MAX_DEFINITION_BYTES - ROOM;
    if (path !== "") {
      const part = definitionPart(whole, { path, from, maxBytes });
      return part ? this.#runner.described(name, { ...part }, caller) : wrongArguments(withoutPart(name, path));
    }
    if (bytesOf(whole) <= maxBytes) return this.#runner.described(name, whole, caller);
    const fitted = {
      ...served,
      call: whole.call,
      parts: { paths: ["/inputSchema", "/outputSchema"], note: PARTS_NOTE },
    };
    return this.#runner.described(
      name,
      bytesOf(fitted) <= maxBytes ? fitted : { ...definitionPart(whole, { path, maxBytes }), note: PARTS_NOTE },
      caller,
    );
  }

  /** The last one is kept, because its parts are asked for one after the other. */
  #definition(name: string, spec: ToolSpec): Described {
    if (this.#last?.name === name) return this.#last;
    const { api } = this.#runner;
    const served = servedTool(api, name);
    const examples = served.inputSchema["examples"];
    const whole = {
      ...served,
      inputSchema: { ...fullInputSchema(api.file, spec), ...(examples === undefined ? {} : { examples }) },
      outputSchema: fullOutputSchema(api.file, spec),
      call: this.#shownAs(name, undefined).call,
    };
    return (this.#last = { name, served, whole });
  }

  async call(given: unknown, options: RunOptions): Promise<CallToolResult> {
    const { name, arguments: args = {} } = innerCall(given);
    const spec = this.#tools.get(name);
    if (!spec) return this.#unknown(name);
    if (!isRecord(args)) return wrongArguments(`The arguments of ${name} must be an object. Nothing was sent.`);
    const result = await this.#runner.call(name, args, options);
    return { ...result, _meta: { ...result._meta, [CALLED]: name } };
  }

  #shownAs(name: string, shown: ShownTools | undefined): ShownTool {
    const direct = { name, call: this.#tools.get(name)?.offer === "search" ? CALL_TOOL : name };
    return (shown && Object.hasOwn(shown, name) ? shown[name] : undefined) ?? direct;
  }

  #unknown(name: string, shown?: ShownTools): CallToolResult {
    const known = shown ? Object.values(shown).map((each) => each.name) : [...this.#tools.keys()];
    return wrongArguments(noSuchTool(name, known));
  }
}

/** As a caller sees it: with the names and without the arguments that were chosen for it. */
function shownDefinition({ name, served, whole }: Described, { without = [], ...as }: ShownTool): Described {
  const changed = <T extends Tool>(tool: T): T => {
    const description = as.description ?? tool.description;
    const inputSchema = narrowedSchema(tool.inputSchema, without);
    return { ...tool, name: as.name, ...(description === undefined ? {} : { description }), inputSchema };
  };
  return { name, served: changed(served), whole: { ...changed(whole), call: as.call } };
}

/** Without the arguments that are given for the caller. */
function narrowedSchema(schema: Tool["inputSchema"], without: readonly string[] = []): Tool["inputSchema"] {
  if (without.length === 0) return schema;
  const narrowed = withoutArguments(schema, without);
  return { ...(narrowed.kind === "schema" && isRecord(narrowed.schema) ? narrowed.schema : {}), type: "object" };
}

function withoutPart(name: string, path: string): string {
  return `The definition of ${name} has no part ${JSON.stringify(shorten(path, SHOWN))}. Begin with "/inputSchema" or "/outputSchema".`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? Math.max(0, value) : 0;
}

/** A part of a definition, as far as it fits: what is cut is `{ cut, bytes }`, with the path that gives it. */
interface DefinitionPart {
  path: string;
  part: unknown;
  /** The member, item or character with which the next answer begins, if the part has more. */
  next?: number;
}

/** Smaller members are shown: a reference to them would not be much shorter. */
const SMALL_BYTES = 160;
/** Definitions are not nested deeper than they can be written. */
const MOST_DEPTH = 64;

/** The part at a JSON pointer, within a size; undefined if there is none. All of it can be read by following the cuts. */
export function definitionPart(
  definition: unknown,
  { path, from = 0, maxBytes }: { path: string; from?: number; maxBytes: number },
): DefinitionPart | undefined {
  const whole = valueAt(definition, path);
  if (whole === undefined) return undefined;
  if (typeof whole === "string") return textPart(whole, { path, from, maxBytes });
  const fits = (part: unknown) => bytesOf(part) <= maxBytes;
  const rest = from === 0 ? whole : membersFrom(whole, from, Infinity);
  if (fits(rest)) return { path, part: rest };
  const shown = (depth: number) => cutAt(whole, path, depth);
  // The deepest cut that fits shows the most.
  let best: unknown;
  for (let depth = 1; depth < MOST_DEPTH; depth++) {
    const part = membersFrom(shown(depth), from, Infinity);
    if (!fits(part)) break;
    best = part;
  }
  if (best !== undefined) return { path, part: best };
  const flat = shown(1);
  let count = isRecord(flat) ? Object.keys(flat).length - from : Array.isArray(flat) ? flat.length - from : 0;
  while (count > 1 && !fits(membersFrom(flat, from, count))) count >>= 1;
  return { path, part: membersFrom(flat, from, count), next: from + count };
}

function textPart(
  text: string,
  { path, from, maxBytes }: { path: string; from: number; maxBytes: number },
): DefinitionPart {
  // In JSON a UTF-16 unit takes at most six bytes.
  const end = from + Math.floor(maxBytes / 6);
  return { path, part: text.slice(from, end), ...(end < text.length ? { next: end } : {}) };
}

function membersFrom(value: unknown, from: number, count: number): unknown {
  if (Array.isArray(value)) return (value as unknown[]).slice(from, from + count);
  return isRecord(value) ? Object.fromEntries(Object.entries(value).slice(from, from + count)) : value;
}

/** `depth`: how many levels are shown. */
function cutAt(value: unknown, path: string, depth: number): unknown {
  if (depth === 0) {
    const bytes = bytesOf(value);
    return bytes <= SMALL_BYTES ? value : { cut: path, bytes };
  }
  const inner = (member: unknown, name: string | number) => {
    const isContainer = typeof member === "object" && member !== null;
    return cutAt(member, `${path}/${escapePart(String(name))}`, isContainer ? depth - 1 : 0);
  };
  if (Array.isArray(value)) return (value as unknown[]).map(inner);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member, name)]));
}

function valueAt(definition: unknown, path: string): unknown {
  if (path !== "" && !path.startsWith("/")) return undefined;
  let value = definition;
  for (const step of path.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
