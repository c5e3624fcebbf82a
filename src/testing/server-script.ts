import type { Params } from "../protocol/json-rpc.ts";
import type { CallToolResult, GetPromptResult, Implementation, ReadResourceResult } from "../protocol/mcp.ts";
import type { ServerCapabilities, Tool } from "../protocol/mcp.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS, type Era } from "../protocol/revisions.ts";
import type { CallContext } from "../server/features/call-context.ts";
import { McpServer } from "../server/features/mcp-server.ts";
import type { ScriptContext } from "./scripted-connection.ts";

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

const REVISIONS = { both: undefined, modern: MODERN_REVISIONS, legacy: LEGACY_REVISIONS };

/** The server that a script describes: it answers whatever has no handler of its own. */
export function serverOf(script: ServerScript): McpServer {
  const { era = "both", info = { name: "scripted", version: "1.0.0" }, instructions } = script;
  const { tools = {}, resources = {}, prompts = {} } = script;
  const revisions = REVISIONS[era];
  const server = new McpServer({ ...info, instructions, revisions, capabilities: capabilitiesOf(script) });
  for (const [name, tool] of Object.entries(tools)) {
    const { run, ...definition } = typeof tool === "function" ? { run: tool } : tool;
    const declaration = { inputSchema: { type: "object" }, ...definition, name };
    server.tool(declaration, (args, context) => run(args, scriptContext(context)));
  }
  for (const [uri, read] of Object.entries(resources)) {
    const answer = typeof read === "string" ? () => read : read;
    server.resource({ uri, name: uri }, (_uri, context) => answer(uri, scriptContext(context)));
  }
  for (const [name, get] of Object.entries(prompts)) {
    const answer = typeof get === "string" ? () => get : get;
    server.prompt({ name }, (args, context) => answer(args, scriptContext(context)));
  }
  return server;
}

export function capabilitiesOf({ tools, resources, prompts, capabilities }: ServerScript): ServerCapabilities {
  return {
    ...(tools && { tools: { listChanged: true } }),
    ...(resources && { resources: { listChanged: true, subscribe: true } }),
    ...(prompts && { prompts: { listChanged: true } }),
    ...capabilities,
  };
}

/** Questions are asked one by one, and known by their number. */
function scriptContext({ era, signal, progress, ask }: CallContext): ScriptContext {
  let asked = 0;
  return {
    era,
    signal,
    progress,
    ask: async (method, params = {}) => {
      const key = `question-${++asked}`;
      return (await ask({ [key]: { method, params } }))[key] ?? {};
    },
  };
}
