import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { CALLER_META } from "../../protocol/meta.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { CallContext } from "../../server/plain/call-context.ts";
import type { TemplateFeature, ToolFeature } from "../../server/plain/features.ts";
import { McpServer } from "../../server/plain/mcp-server.ts";
import { UNHEARD } from "../../server/plain/notices.ts";
import { serveInMemory } from "../../server/plain/memory-connection.ts";
import { MemoryTransport } from "../../transport/memory.ts";
import type { ApiRunner, RunOptions } from "../run/api-runner.ts";
import { resultUri } from "../run/call-result.ts";
import { LOCAL_CALLER } from "../run/writes/request-key.ts";
import { DocumentResources } from "./document-resources.ts";

const REVISIONS: readonly Revision[] = ["2026-07-28"];

export interface ApiServerOptions {
  /** The texts that the file names, by its names for them. */
  documents: Readonly<Record<string, string>>;
  revisions?: readonly Revision[];
  /** Seals what clients carry between the rounds of a call; random unless given. */
  stateKey?: Uint8Array | undefined;
}

/** A compiled API as an MCP server: its tools, and the documents that they were made from. */
export function apiServer(
  runner: ApiRunner,
  { documents, revisions = REVISIONS, stateKey }: ApiServerOptions,
): McpServer {
  const { api } = runner;
  const { file } = api;
  const texts = new DocumentResources(api, documents, (text) => runner.redacted(text));
  return new McpServer({
    info: { name: file.api, title: file.title, version: file.version },
    instructions: [file.title, file.description].filter((part) => part !== undefined).join(": "),
    features: {
      tools: toolsOf(runner),
      resources: texts.listed(),
      templates: [texts.lines(), wholeResults(runner)],
      prompts: [],
    },
    revisions,
    stateKey,
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
  });
}

/** Reaches the server from within this process. */
export function transportTo(server: McpServer): MemoryTransport {
  return new MemoryTransport((end) => serveInMemory(server, end));
}

function toolsOf(runner: ApiRunner): ToolFeature[] {
  return runner.tools().map(([name, tool]) => ({
    name,
    tool,
    run: (args: Params, context: CallContext) => runner.call(name, args, optionsFrom(context)),
  }));
}

function optionsFrom(context: CallContext): RunOptions {
  const { signal, progress, log, era } = context;
  const ask = (requests: Parameters<CallContext["ask"]>[0]) => context.ask(requests, { sealed: true });
  return {
    caller: callerOf(context),
    signal,
    progress: progress === UNHEARD ? undefined : progress,
    log: log === UNHEARD ? undefined : log,
    ...(takesForms(context.client) ? { asking: { ask, waits: era === "legacy" } } : {}),
  };
}

/** Set by the gateway in front, which lets nobody else set it. */
function callerOf({ request }: CallContext): string {
  const meta = request.params?.["_meta"];
  const caller = isRecord(meta) ? meta[CALLER_META] : undefined;
  return typeof caller === "string" ? caller : LOCAL_CALLER;
}

/** A client that names no mode takes forms; one that names only pages does not. */
function takesForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Results that were too large, each for whoever got its excerpt. */
function wholeResults(runner: ApiRunner): TemplateFeature {
  return {
    template: {
      uriTemplate: resultUri(runner.api.file.api, "{id}"),
      name: "whole results",
      description: "The whole of a result that came as an excerpt. The excerpt links to it; it is kept for a while.",
      mimeType: "application/json",
    },
    cacheScope: "private",
    read(uri, { id = "" }, context) {
      const text = runner.findResult(callerOf(context), id);
      return text === undefined ? undefined : [{ uri, mimeType: "application/json", text }];
    },
  };
}
