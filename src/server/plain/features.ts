import type { Params, Result } from "../../protocol/json-rpc.ts";
import type {
  GetPromptResult,
  Prompt,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from "../../protocol/mcp.ts";
import type { CallContext } from "./call-context.ts";

/** Candidates for one argument, given what is typed and the arguments already settled. */
export type Completer = (value: string, settled: Record<string, string>) => string[];

export interface ToolFeature {
  /** A function where revisions differ in what they list. */
  tool: Tool | ((revision: string) => Tool);
  name: string;
  run(args: Params, context: CallContext): Result | Promise<Result>;
}

export interface ResourceFeature {
  resource: Resource;
  read(context: CallContext): ResourceContents[] | Promise<ResourceContents[]>;
}

export interface TemplateFeature {
  template: ResourceTemplate;
  /** Undefined: there is no such resource, or none for whoever asks. */
  read: (
    uri: string,
    variables: Record<string, string>,
    context: CallContext,
  ) => ResourceContents[] | undefined | Promise<ResourceContents[] | undefined>;
  /** What one caller reads is not for others; public unless given. */
  cacheScope?: "private";
  complete?: Record<string, Completer>;
}

export interface PromptFeature {
  prompt: Prompt;
  get(args: Record<string, string>, context: CallContext): GetPromptResult | Promise<GetPromptResult>;
  complete?: Record<string, Completer>;
}

export type MethodHandler = (params: Params, context: CallContext) => Result | Promise<Result>;

/** All that a server offers. The arrays may change while it runs; `Changes` tells the clients. */
export interface Features {
  tools: ToolFeature[];
  resources: ResourceFeature[];
  templates: TemplateFeature[];
  prompts: PromptFeature[];
  /** Methods of extensions; undefined where the revision has none of that name. */
  method?(name: string, revision: string): MethodHandler | undefined;
  /** What else `subscriptions/listen` may ask for: the accepted members, and the topics of `Changes` they stand for. */
  topics?(wanted: Params, context: CallContext): { accepted: Params; topics: string[] };
  /** Capabilities beyond those that every server on this core has. */
  capabilities?(revision: string): ServerCapabilities;
}

type ToolOutline = Omit<Tool, "name" | "inputSchema"> & { inputSchema?: Record<string, unknown> };

/** A tool with its name written once; without a schema it takes no arguments. */
export function defineTool(name: string, outline: ToolOutline, run: ToolFeature["run"]): ToolFeature {
  const inputSchema = outline.inputSchema ?? { type: "object", additionalProperties: false };
  return { name, tool: { ...outline, name, inputSchema }, run };
}

/** The tool as this revision lists it. */
export function describeTool({ tool }: ToolFeature, revision: string): Tool {
  return typeof tool === "function" ? tool(revision) : tool;
}

/** The variables of a URI that fits the template; only plain `{name}` expressions are known. */
export function matchTemplate(uriTemplate: string, uri: string): Record<string, string> | undefined {
  const names: string[] = [];
  const pattern = uriTemplate
    .split(/(\{\w+\})/)
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      names.push(name);
      return "([^/]+)";
    })
    .join("");
  const match = new RegExp(`^${pattern}$`).exec(uri);
  if (!match) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? "")]));
}
