import type { Tool } from "../../protocol/mcp.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import type { Revision } from "../../protocol/revisions.ts";
import {
  IGNORED_REPORT,
  type CallContext,
  type InputOptions,
  type InputRequests,
} from "../../server/features/call-context.ts";
import type { SearchedTools, ToolHandler } from "../../server/features/features.ts";
import { McpServer } from "../../server/features/mcp-server.ts";
import { serveMemory } from "../../server/memory/serve-memory.ts";
import { MemoryTransport } from "../../transport/memory.ts";
import type { ApiRunner, RunOptions } from "../run/api-runner.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { resultUri } from "../run/call-result.ts";
import { LOCAL_CALLER } from "../run/writes/request-key.ts";
import { DocumentResources } from "./document-resources.ts";
import { addSearchTools, type ToolSink } from "./search-tools.ts";
import { toolOutlines } from "./tool-outlines.ts";

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

/** A compiled API as an MCP server: its tools, those that are found by searching, and its source documents. */
export function apiServer(
  runner: ApiRunner,
  { documents, number, revisions = REVISIONS, stateKey, route, onQuestion }: ApiServerOptions,
): McpServer {
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
