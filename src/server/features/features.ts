import type { Params, Result } from "../../protocol/json-rpc.ts";
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Tool,
} from "../../protocol/mcp.ts";
import type { CallContext } from "./call-context.ts";

/** Text is the shortest of results: one block, one resource, or one message. */
export type OrText<T> = string | T | Promise<string | T>;

/** Suggests values for one argument, from what is typed and the other arguments that are known. */
export type Completer = (value: string, known: Record<string, string>) => string[];

/** A tool as it is declared; without `inputSchema` it takes no arguments. */
export type ToolDeclaration = Omit<Tool, "inputSchema"> & { name: string; inputSchema?: Record<string, unknown> };

/** What it throws becomes a result with `isError`, which the model can read; only an `rpcError` fails the request. */
export type ToolHandler = (args: Params, context: CallContext) => OrText<CallToolResult | Result>;

/** What it throws is for the log of the server; the client reads only that it failed. An `rpcError` is told as it is. */
export type ResourceHandler = (uri: string, context: CallContext) => OrText<ReadResourceResult | ResourceContents[]>;

/** Undefined: there is no such resource. */
export type TemplateHandler = (
  uri: string,
  variables: Record<string, string>,
  context: CallContext,
) => OrText<ReadResourceResult | ResourceContents[] | undefined>;

export type PromptHandler = (args: Record<string, string>, context: CallContext) => OrText<GetPromptResult>;

/** Answers a method that an extension adds. */
export type MethodHandler = (params: Params, context: CallContext) => Result | Promise<Result>;

/** Tools that are found by searching. */
export interface SearchedTools {
  /** In short. */
  list: () => readonly Tool[];
  find: (tool: string) => ToolHandler | undefined;
}

interface ToolFeature {
  tool: Tool;
  run: ToolHandler;
}

export interface ResourceFeature {
  resource: Resource;
  read: ResourceHandler;
}

export interface TemplateFeature {
  template: ResourceTemplate;
  read: TemplateHandler;
  complete?: Record<string, Completer> | undefined;
}

interface PromptFeature {
  prompt: Prompt;
  get: PromptHandler;
  complete?: Record<string, Completer> | undefined;
}

/** Everything that one server offers, by name or URI, in the order in which it was declared. */
export interface Features {
  tools: Map<string, ToolFeature>;
  resources: Map<string, ResourceFeature>;
  templates: Map<string, TemplateFeature>;
  prompts: Map<string, PromptFeature>;
  /** What clients are told about each extension, by its name. */
  extensions: Map<string, object>;
  /** What extensions add, by method. */
  methods: Map<string, MethodHandler>;
  /** Identifies this state of the tools; their list carries it. */
  toolsVersion?: string | undefined;
  /** Tools that can be called, and are listed only to whoever asks for them also. */
  searched: SearchedTools | undefined;
  /** Finds what runs a tool that is not declared. */
  findUnlisted?: ((tool: string) => ToolHandler | undefined) | undefined;
}
