import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import type { Tool, ResourceContents } from "../../protocol/mcp.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import type { Revision } from "../../protocol/revisions.ts";
import {
  IGNORED_REPORT,
  type CallContext,
  type InputOptions,
  type InputRequests,
} from "../../server/features/call-context.ts";
import type { SearchedTools, ToolHandler, ResourceFeature, TemplateFeature } from "../../server/features/features.ts";
import { McpServer } from "../../server/features/mcp-server.ts";
import { serveMemory } from "../../server/memory/serve-memory.ts";
import { MemoryTransport } from "../../transport/memory.ts";
import type { ApiRunner, RunOptions } from "../run/api-runner.ts";
import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { resultUri } from "../run/call-result.ts";
import { LOCAL_CALLER } from "../run/writes/request-key.ts";
import { addSearchTools, type ToolSink } from "./search-tools.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { SEARCHED_META } from "../../protocol/meta.ts";
import { sha256 } from "../../text/digest.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { fullInputSchema, reachedIn, SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import { isShown } from "../compile/schema-writer.ts";
import { annotations } from "../compile/tool-definition.ts";
import { findType } from "../shape/shape-parts.ts";
import { isLines } from "../compile/citations.ts";
import { CitedDocument, partText } from "../compile/cited-document.ts";
import { cleanProse } from "../../masking/clean-prose.ts";
import { cleanedText } from "../documents/parse-document.ts";
import { shorten } from "../../text/shorten.ts";

export const REVISIONS: readonly Revision[] = ["2026-07-28"];

export interface ApiServerOptions {
  /** The texts of the file's documents, by name. */
  documents: Readonly<Record<string, string>>;
  /** The number under which it was published; default: the version of the file. */
  number?: string | undefined;
  revisions?: readonly Revision[];
  /** Key for sealing state that clients carry between the rounds of a call; default: random. */
  stateKey?: Uint8Array | undefined;
  /** What is called instead of the handler of a tool. */
  route?: ((tool: string, run: ToolHandler) => ToolHandler) | undefined;
  /** Called when a call asks its client something. */
  onQuestion?: (() => void) | undefined;
}

const OPTIONS: OptionNames<ApiServerOptions> = {
  documents: true,
  number: true,
  revisions: true,
  stateKey: true,
  route: true,
  onQuestion: true,
};

/** A compiled API as an MCP server: its tools, those that are found by searching, and its source documents. */
export function apiServer(runner: ApiRunner, options: ApiServerOptions): McpServer {
  checkOptions("apiServer", options, OPTIONS);
  const { documents, number, revisions = REVISIONS, stateKey, route, onQuestion } = options;
  const { api } = runner;
  const { file } = api;
  const server = new McpServer({
    name: file.api,
    title: file.title,
    version: number ?? file.version,
    instructions: instructionsOf(file),
    revisions,
    stateKey,
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
    // The runner checks arguments with the rules of the tool file, and results as it reads them.
    checkValues: false,
  });
  const sink: ToolSink = route ? { tool: (tool, run) => server.tool(tool, route(tool.name, run)) } : server;
  const note = { sealed: true, note: api.hash };
  const optionsFrom = (context: CallContext) => runOptions(context, note, onQuestion);
  for (const [name, tool] of runner.tools()) {
    sink.tool({ ...tool, name }, (args, context) => runner.call(name, args, optionsFrom(context)));
  }
  addSearchTools(sink, runner, optionsFrom);
  server.searched(
    searchedTools(runner, (name) => {
      const run: ToolHandler = (args, context) => runner.call(name, args, optionsFrom(context));
      return route ? route(name, run) : run;
    }),
  );
  const texts = new DocumentResources(api, documents, (text) => runner.redacted(text));
  for (const { resource, read } of texts.listed()) server.resource(resource, read);
  const places = texts.places();
  server.template(places.template, places.read);
  addWholeResults(server, runner);
  return server;
}

/** What is found by searching is called like what is listed. */
function searchedTools({ api }: ApiRunner, handlerOf: (name: string) => ToolHandler): SearchedTools {
  const names = Object.entries(api.file.tools).flatMap(([name, { offer }]) => (offer === "search" ? [name] : []));
  const handlers = new Map(names.map((name) => [name, handlerOf(name)]));
  let outlines: Tool[] | undefined;
  return { list: () => (outlines ??= toolOutlines(api)), find: (name) => handlers.get(name) };
}

function instructionsOf({ title, description, tools }: ToolFile): string {
  const about = description === undefined ? title : `${title}: ${description}`;
  const count = Object.values(tools).filter(({ offer }) => offer === "search").length;
  return count === 0 ? about : `${about}\n${count} more tools are not in the list: find them with search_tools.`;
}

/** A transport to the server in this process. */
export function transportTo(server: McpServer): MemoryTransport {
  return new MemoryTransport((end) => serveMemory(server, end));
}

/** `note` says which version asks: the answer is for the same one. */
function runOptions(context: CallContext, note: InputOptions, onQuestion: (() => void) | undefined): RunOptions {
  const { cancellation: signal, progress, log, era } = context;
  const ask = (requests: InputRequests) => {
    onQuestion?.();
    return context.ask(requests, note);
  };
  return {
    caller: callerOf(context),
    correlationId: context.correlationId,
    signal,
    progress: progress === IGNORED_REPORT ? undefined : progress,
    log: log === IGNORED_REPORT ? undefined : log,
    ...(isDeclared({ method: "elicitation/create" }, context.client)
      ? { asking: { ask, waits: era === "legacy" } }
      : {}),
  };
}

/** Set by the gateway in front, which does not let callers set it. */
function callerOf({ onBehalfOf }: CallContext): string {
  return onBehalfOf ?? LOCAL_CALLER;
}

/** Results that were too large, for the callers that got the excerpts. */
function addWholeResults(server: McpServer, runner: ApiRunner): void {
  const mimeType = "application/json";
  const template = {
    uriTemplate: resultUri(runner.api.file.api, "{id}"),
    name: "whole results",
    description: "The whole of a result that came as an excerpt. The excerpt links to it; it is kept for a while.",
    mimeType,
  };
  server.template(template, (uri, { id = "" }, context) => {
    const kept = runner.findResult(callerOf(context), id);
    if (!kept) return undefined;
    const { content, mimeType: its } = kept;
    const body = typeof content === "string" ? { text: content } : { blob: Buffer.from(content).toString("base64") };
    return { contents: [{ uri, mimeType: its, ...body }] };
  });
}

/** In an outline: identifies everything that the whole definition is made of. */
const DEFINITION_META = "dev.nexus/definition";

/**
 * The tools of an API that are found by searching, in short: what rules, sets and pins need to know of them. The whole
 * definitions of a large API would take seconds.
 */
function toolOutlines({ file }: CompiledApi): Tool[] {
  const hashes = new Map<string, string>();
  const hashOf = (type: string): string => {
    const known = hashes.get(type) ?? sha256(canonicalJson(findType(file, type) ?? null));
    hashes.set(type, known);
    return known;
  };
  return Object.entries(file.tools)
    .filter(([, { offer }]) => offer === "search")
    .map(([name, spec]) => outline(file, { name, spec, hashOf }));
}

interface Outlined {
  name: string;
  spec: ToolSpec;
  hashOf: (type: string) => string;
}

function outline(file: ToolFile, { name, spec, hashOf }: Outlined): Tool {
  const { title, description, effect, input, unknown, response, meta, examples } = spec;
  const types = [...reachedIn(file, spec, "input").keys(), ...reachedIn(file, spec, "output").keys()];
  const { as, type, sourcePayload } = response;
  const reached = Object.fromEntries(types.map((each) => [each, hashOf(each)]));
  const made = { input, unknown, response: { as, type, sourcePayload }, meta, examples, types: reached };
  return {
    name,
    title,
    description,
    inputSchema: argumentNames(file, spec),
    annotations: annotations(effect, title),
    _meta: { [SEARCHED_META]: true, [DEFINITION_META]: sha256(canonicalJson(made)) },
  };
}

/** The arguments by name. One of several types is written in full: a set may fix an argument that not all of them have. */
function argumentNames(file: ToolFile, spec: ToolSpec): Tool["inputSchema"] {
  const type = findType(file, spec.input);
  if (type?.union) return { ...fullInputSchema(file, spec), type: "object" };
  const fields = Object.entries(type?.fields ?? {}).filter(([, field]) => isShown(field, "input"));
  const names = [...fields.map(([name]) => name), ...(spec.response.sourcePayload ? [SOURCE_PAYLOAD] : [])];
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

const MARKDOWN = "text/markdown";
const MIME_TYPES: readonly [RegExp, string][] = [
  [/\.(?:json|har)$/i, "application/json"],
  [/\.ya?ml$/i, "application/yaml"],
  [/\.(?:md|markdown|mdx)$/i, MARKDOWN],
  [/\.x?html?$/i, "text/html"],
  [/\.(?:xml|wsdl|xsd)$/i, "application/xml"],
  [/\.(?:graphqls?|gql)$/i, "application/graphql"],
];
/** A longer part is cut; the whole document has it. */
const MAX_PART = 64 * 1024;
const LINES = /^L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?$/;
const PAGE = /^P([1-9]\d{0,5})$/;

/** A document without credentials, which a copy may have. It is read when a client asks for it. */
class ServedDocument {
  readonly original: string;
  readonly #name: string;
  readonly #file: string | undefined;
  #cited: CitedDocument | undefined;

  constructor(name: string, text: string, file: string | undefined) {
    this.original = text;
    this.#name = name;
    this.#file = file;
  }

  get cited(): CitedDocument {
    this.#cited ??= new CitedDocument(cleanedText(this.original, this.#name, this.#file), this.#name);
    return this.#cited;
  }
}

/** The documents of a tool file: complete, by chapter, by lines, and by JSON pointer. */
export class DocumentResources {
  readonly #api: CompiledApi;
  readonly #documents: ReadonlyMap<string, ServedDocument>;
  readonly #redacted: (text: string) => Promise<string>;

  constructor(
    api: CompiledApi,
    documents: Readonly<Record<string, string>>,
    redacted: (text: string) => Promise<string>,
  ) {
    this.#api = api;
    this.#documents = new Map(
      Object.entries(documents).map(([name, text]) => {
        return [name, new ServedDocument(name, text, api.file.documents[name]?.file)];
      }),
    );
    this.#redacted = redacted;
  }

  /** Each document, followed by its cited chapters: few enough for clients that list them all. */
  listed(): ResourceFeature[] {
    const { file, citations } = this.#api;
    const lines = Object.values(citations).filter(isLines);
    return Object.entries(file.documents).flatMap(([name, { title = name, file: path }]) => {
      const document = this.#documents.get(name);
      if (!document) return [];
      const mimeType = mimeTypeOf(path);
      // Lines of YAML that begin with # are comments.
      const chapters = (mimeType === MARKDOWN ? chaptersOf(document.original) : []).filter(({ from, to }) =>
        lines.some((citation) => citation.document === name && citation.from <= to && citation.to >= from),
      );
      const whole = { name, title, description: `${title}, the whole document`, mimeType };
      return [
        this.#listed(`doc://${file.api}/${name}`, whole, () => document.cited.text),
        ...chapters.map(({ heading: written, from, to }) => {
          const heading = cleanProse(written);
          const about = {
            name: `${name} L${from}-L${to}`,
            title: heading,
            description: `${title}: ${heading}`,
            mimeType,
          };
          return this.#listed(`doc://${file.api}/${name}/L${from}-L${to}`, about, () =>
            document.cited.quote({ from, to }),
          );
        }),
      ];
    });
  }

  /** The targets of evidence. */
  places(): TemplateFeature {
    return {
      template: {
        uriTemplate: `doc://${this.#api.file.api}/{document}/{place}`,
        name: "parts of a document",
        description:
          "A part of a document, as the evidence of a tool file cites it: L12 or L12-L14 for lines, P5 for a page of a PDF, or the percent-encoded JSON pointer of a part, such as %2Fpaths%2F~1pets.",
      },
      read: async (uri, { document: name = "", place = "" }) => {
        const document = this.#documents.get(name);
        const text = document && placeText(document.cited, place);
        return text === undefined ? undefined : this.#contents(uri, text, this.#mimeType(name, place));
      },
    };
  }

  /** A part is shown as JSON, whatever the format of its document. */
  #mimeType(name: string, place: string): string {
    return LINES.test(place) || PAGE.test(place)
      ? mimeTypeOf(this.#api.file.documents[name]?.file ?? "")
      : "application/json";
  }

  #listed(
    uri: string,
    about: { name: string; title: string; description: string; mimeType: string },
    text: () => string,
  ): ResourceFeature {
    const annotations = { audience: ["user", "assistant"], priority: 0.3 };
    return { resource: { uri, ...about, annotations }, read: () => this.#contents(uri, text(), about.mimeType) };
  }

  async #contents(uri: string, text: string, mimeType: string): Promise<ResourceContents[]> {
    return [{ uri, mimeType, text: await this.#redacted(text) }];
  }
}

/** Undefined if there is nothing at this place. */
function placeText(document: CitedDocument, place: string): string | undefined {
  const page = PAGE.exec(place)?.[1];
  if (page !== undefined) return document.findPage(Number(page));
  const [lines, first, last = first] = LINES.exec(place) ?? [];
  if (lines === undefined) {
    const part = place.startsWith("/") ? document.findPart(place) : undefined;
    return part && shorten(partText(part), MAX_PART);
  }
  const [from, to] = [Number(first), Number(last)];
  const quoted = from <= to ? document.quote({ from, to }) : "";
  return quoted === "" ? undefined : quoted;
}

function mimeTypeOf(file: string): string {
  return MIME_TYPES.find(([ending]) => ending.test(file))?.[1] ?? "text/plain";
}

/** A part of a document under one heading, with its first and last line, counted from 1. */
interface Chapter {
  heading: string;
  from: number;
  to: number;
}

const LEVELS = [1, 2, 3, 4, 5, 6];

/**
 * The chapters of a Markdown text: the parts under the headings of the highest level with more than one heading. The
 * text before the first of them belongs to none; without such a level there are no chapters.
 */
export function chaptersOf(text: string): Chapter[] {
  const lines = text.split(/\r?\n/);
  const headings = headingsIn(lines);
  const level = LEVELS.find((each) => headings.filter((heading) => heading.level === each).length > 1);
  const starts = headings.filter((heading) => heading.level === level);
  return starts.map(({ heading, line }, index) => {
    const end = starts[index + 1]?.line ?? lines.length + 1;
    return { heading, from: line, to: lastWritten(lines, line, end - 1) };
  });
}

interface Heading {
  level: number;
  heading: string;
  line: number;
}

/** Lines of code that begin with # are not headings. */
function headingsIn(lines: readonly string[]): Heading[] {
  let fence: string | undefined;
  return lines.flatMap((text, index) => {
    const [, marks] = /^ {0,3}(`{3,}|~{3,})/.exec(text) ?? [];
    if (marks !== undefined && fence === undefined) fence = marks;
    else if (marks !== undefined && fence !== undefined && marks.startsWith(fence)) fence = undefined;
    if (fence !== undefined) return [];
    const [, hashes, heading] = /^(#{1,6}) +(.*\S)/.exec(text) ?? [];
    return hashes === undefined || heading === undefined ? [] : [{ level: hashes.length, heading, line: index + 1 }];
  });
}

function lastWritten(lines: readonly string[], from: number, to: number): number {
  const written = lines.slice(from - 1, to).findLastIndex((line) => line.trim() !== "");
  return from + Math.max(0, written);
}
