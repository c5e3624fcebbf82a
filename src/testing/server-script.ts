import { INVALID_PARAMS, type Params } from "../protocol/json-rpc.ts";
import type { CallToolResult, GetPromptResult, Implementation, ReadResourceResult } from "../protocol/mcp.ts";
import type { ServerCapabilities, Tool } from "../protocol/mcp.ts";
import { META, RESOURCE_NOT_FOUND } from "../protocol/meta.ts";
import { isLegacyRevision, LEGACY_REVISIONS, MODERN_REVISIONS, type Era } from "../protocol/revisions.ts";
import { recordIn, ScriptedError, type Handler, type ScriptContext } from "./scripted-connection.ts";

/** A text, or a complete result. */
export type TextOr<T> = string | T | Promise<string | T>;

/** An `Error` that it throws becomes a result with `isError`; a `ScriptedError` fails the request. */
export type ToolFunction = (args: Params, context: ScriptContext) => TextOr<CallToolResult>;

/** The definition of a scripted server. */
export interface ServerScript {
  /** Default: both eras. */
  era?: Era | "both";
  info?: Implementation;
  instructions?: string;
  /** Capabilities in addition to those that follow from its features. */
  capabilities?: ServerCapabilities;
  /** Tools by name: a handler, with or without the definition for the list. */
  tools?: Record<string, ToolFunction | (Partial<Tool> & { run: ToolFunction })>;
  /** By URI. */
  resources?: Record<string, string | ((uri: string, context: ScriptContext) => TextOr<ReadResourceResult>)>;
  /** By name. */
  prompts?: Record<string, string | ((args: Params, context: ScriptContext) => TextOr<GetPromptResult>)>;
}

/** The answers of a server that behaves. */
export function handlersOf(script: ServerScript): Map<string, Handler> {
  const { era = "both", info = { name: "scripted", version: "1.0.0" }, instructions } = script;
  const { tools = {}, resources = {}, prompts = {} } = script;
  const introduction = { capabilities: capabilitiesOf(script), ...(instructions !== undefined && { instructions }) };
  const modern: Record<string, Handler> = {
    "server/discover": () => ({
      ...introduction,
      supportedVersions: [...MODERN_REVISIONS],
      _meta: { [META.serverInfo]: info },
    }),
    "subscriptions/listen": (_params, { listen }) => listen(),
  };
  const legacy: Record<string, Handler> = {
    initialize: ({ protocolVersion: asked }) => {
      const protocolVersion = isLegacyRevision(asked) ? asked : LEGACY_REVISIONS[0];
      return { ...introduction, serverInfo: info, protocolVersion };
    },
    ping: () => ({}),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    "logging/setLevel": () => ({}),
  };
  const features: Record<string, Handler> = {
    "tools/list": () => ({ tools: Object.entries(tools).map(([name, tool]) => ({ ...describe(tool), name })) }),
    "tools/call": (params, context) => callTool(find(tools, params["name"]), recordIn(params, "arguments"), context),
    "resources/list": () => ({ resources: Object.keys(resources).map((uri) => ({ uri, name: uri })) }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "resources/read": async ({ uri }, context) => {
      const read = find(resources, uri, context.era === "legacy" ? RESOURCE_NOT_FOUND : INVALID_PARAMS);
      const result = typeof read === "string" ? read : await read(String(uri), context);
      return typeof result === "string" ? { contents: [{ uri, text: result }] } : result;
    },
    "prompts/list": () => ({ prompts: Object.keys(prompts).map((name) => ({ name })) }),
    "prompts/get": async (params, context) => {
      const get = find(prompts, params["name"]);
      const result = typeof get === "string" ? get : await get(recordIn(params, "arguments"), context);
      return typeof result === "string" ? { messages: [{ role: "user", content: text(result) }] } : result;
    },
  };
  return new Map(Object.entries({ ...features, ...(era !== "legacy" && modern), ...(era !== "modern" && legacy) }));
}

function capabilitiesOf({ tools, resources, prompts, capabilities }: ServerScript): ServerCapabilities {
  return {
    ...(tools && { tools: { listChanged: true } }),
    ...(resources && { resources: { listChanged: true, subscribe: true } }),
    ...(prompts && { prompts: { listChanged: true } }),
    ...capabilities,
  };
}

function describe(tool: ToolFunction | (Partial<Tool> & { run: ToolFunction })): Params {
  if (typeof tool === "function") return { inputSchema: { type: "object" } };
  const { run: _run, ...rest } = tool;
  return { inputSchema: { type: "object" }, ...rest };
}

function find<T>(all: Record<string, T>, name: unknown, code = INVALID_PARAMS): T {
  const found = typeof name === "string" && Object.hasOwn(all, name) ? all[name] : undefined;
  if (found === undefined) throw new ScriptedError(code, `There is no ${String(name)} here`);
  return found;
}

async function callTool(tool: ToolFunction | { run: ToolFunction }, args: Params, context: ScriptContext) {
  try {
    const result = await (typeof tool === "function" ? tool : tool.run)(args, context);
    return typeof result === "string" ? { content: [text(result)] } : result;
  } catch (error) {
    // Errors with names of their own are the script's, and go out as JSON-RPC errors or questions.
    if (!(error instanceof Error) || error.name !== "Error") throw error;
    return { content: [text(error.message)], isError: true };
  }
}

function text(value: string) {
  return { type: "text", text: value };
}
