import { INVALID_PARAMS, isRecord, type Params } from "../protocol/json-rpc.ts";
import type { CallToolResult, GetPromptResult, Implementation, ReadResourceResult } from "../protocol/mcp.ts";
import type { Prompt, Resource, ServerCapabilities, Tool } from "../protocol/mcp.ts";
import { META, RESOURCE_NOT_FOUND } from "../protocol/meta.ts";
import { isLegacyRevision, LEGACY_REVISIONS, MODERN_REVISIONS, type Era } from "../protocol/revisions.ts";
import type { Handler, ScriptContext } from "./scripted-connection.ts";
import { ScriptedError } from "./scripted-error.ts";

type Returns<T> = T | string | Promise<T | string>;

/** Text, or a result as it shall go out. What the function throws becomes a result with `isError`. */
export type ToolFunction = (args: Params, context: ScriptContext) => Returns<CallToolResult>;
export type ToolScript = ToolFunction | (Partial<Tool> & { call: ToolFunction });

export type ResourceFunction = (uri: string, context: ScriptContext) => Returns<ReadResourceResult>;
export type ResourceScript = string | ResourceFunction | (Partial<Resource> & { read: ResourceFunction });

export type PromptFunction = (args: Params, context: ScriptContext) => Returns<GetPromptResult>;
export type PromptScript = string | PromptFunction | (Partial<Prompt> & { get: PromptFunction });

/** What a scripted server offers. */
export interface ServerScript {
  /** Both, unless told. */
  era?: Era | "both";
  info?: Implementation;
  instructions?: string;
  /** Beside those that follow from what is offered. */
  capabilities?: ServerCapabilities;
  /** By name. */
  tools?: Record<string, ToolScript>;
  /** By URI. */
  resources?: Record<string, ResourceScript>;
  /** By name. */
  prompts?: Record<string, PromptScript>;
}

/** The answers of a server that behaves. */
export function handlersOf(script: ServerScript): Map<string, Handler> {
  const { era = "both", instructions, tools = {}, resources = {}, prompts = {} } = script;
  const serverInfo = script.info ?? { name: "scripted", version: "1.0.0" };
  const introduction = {
    capabilities: capabilitiesOf(script),
    ...(instructions === undefined ? {} : { instructions }),
  };
  const supportedVersions = [...MODERN_REVISIONS];
  const modern: [string, Handler][] = [
    ["server/discover", () => ({ ...introduction, supportedVersions, _meta: { [META.serverInfo]: serverInfo } })],
    ["subscriptions/listen", (_params, { listen }) => listen()],
  ];
  const legacy: [string, Handler][] = [
    [
      "initialize",
      ({ protocolVersion }) => ({ ...introduction, serverInfo, protocolVersion: legacyOf(protocolVersion) }),
    ],
    ["ping", () => ({})],
    ["resources/subscribe", () => ({})],
    ["resources/unsubscribe", () => ({})],
    ["logging/setLevel", () => ({})],
  ];
  return new Map<string, Handler>([
    ...(era === "legacy" ? [] : modern),
    ...(era === "modern" ? [] : legacy),
    ["tools/list", () => ({ tools: listed(tools, (name) => ({ name, inputSchema: { type: "object" } })) })],
    ["tools/call", async (params, context) => callTool(find(tools, params["name"]), params, context)],
    ["resources/list", () => ({ resources: listed(resources, (uri) => ({ uri, name: uri })) })],
    ["resources/templates/list", () => ({ resourceTemplates: [] })],
    ["resources/read", async (params, context) => readResource(resources, String(params["uri"]), context)],
    ["prompts/list", () => ({ prompts: listed(prompts, (name) => ({ name })) })],
    ["prompts/get", async (params, context) => getPrompt(find(prompts, params["name"]), params, context)],
  ]);
}

function capabilitiesOf({ tools, resources, prompts, capabilities }: ServerScript): ServerCapabilities {
  return {
    ...(tools ? { tools: { listChanged: true } } : {}),
    ...(resources ? { resources: { listChanged: true, subscribe: true } } : {}),
    ...(prompts ? { prompts: { listChanged: true } } : {}),
    ...capabilities,
  };
}

function legacyOf(version: unknown): string {
  return isLegacyRevision(version) ? version : LEGACY_REVISIONS[0];
}

/** Names and descriptions, without the functions behind them. */
function listed(scripts: Record<string, unknown>, described: (key: string) => Params): Params[] {
  return Object.entries(scripts).map(([key, script]) => {
    const own = isRecord(script) ? Object.entries(script).filter(([, value]) => typeof value !== "function") : [];
    return { ...described(key), ...Object.fromEntries(own) };
  });
}

function find<T>(scripts: Record<string, T>, name: unknown): T {
  const script = typeof name === "string" && Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  if (script === undefined) throw new ScriptedError(INVALID_PARAMS, `There is no ${String(name)} here`);
  return script;
}

function argumentsOf({ arguments: args }: Params): Params {
  return isRecord(args) ? args : {};
}

async function callTool(script: ToolScript, params: Params, context: ScriptContext): Promise<CallToolResult> {
  const call = typeof script === "function" ? script : script.call;
  try {
    const result = await call(argumentsOf(params), context);
    return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "Error") throw error;
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}

async function readResource(scripts: Record<string, ResourceScript>, uri: string, context: ScriptContext) {
  const script = Object.hasOwn(scripts, uri) ? scripts[uri] : undefined;
  const code = context.era === "legacy" ? RESOURCE_NOT_FOUND : INVALID_PARAMS;
  if (script === undefined) throw new ScriptedError(code, `Resource not found: ${uri}`, { uri });
  const read = isRecord(script) ? script.read : script;
  const result = typeof read === "function" ? await read(uri, context) : read;
  return typeof result === "string" ? { contents: [{ uri, text: result }] } : result;
}

async function getPrompt(script: PromptScript, params: Params, context: ScriptContext): Promise<GetPromptResult> {
  const get = isRecord(script) ? script.get : script;
  const result = typeof get === "function" ? await get(argumentsOf(params), context) : get;
  if (typeof result !== "string") return result;
  return { messages: [{ role: "user", content: { type: "text", text: result } }] };
}
