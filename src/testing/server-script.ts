import type { OptionNames } from "../errors/check-options.ts";
import type { Params } from "../protocol/json-rpc.ts";
import type {
  CallToolResult,
  GetPromptResult,
  Implementation,
  ReadResourceResult,
  ServerCapabilities,
  Tool,
} from "../protocol/mcp.ts";
import type { Era } from "../protocol/revisions.ts";
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

export const SERVER_SCRIPT: OptionNames<ServerScript> = {
  era: true,
  info: true,
  instructions: true,
  capabilities: true,
  tools: true,
  resources: true,
  prompts: true,
};
