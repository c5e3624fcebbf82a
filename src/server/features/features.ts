import type { Params, Result } from "../../protocol/json-rpc.ts";
import type {
  CallToolResult,
  Content,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Tool,
  ToolAnnotations,
} from "../../protocol/mcp.ts";
import type { CallContext } from "./call-context.ts";
import type { CheckedType, GivenType, TemplateVariables, ValueSchema } from "./schema-types.ts";
import type { ValueCheck } from "./value-check.ts";

/** Text is the shortest of results: one block, one resource, or one message. */
export type OrText<T> = string | T | Promise<string | T>;

/** Suggests values for one argument, from what is typed and the other arguments that are known. */
export type Completer = (
  value: string,
  known: Record<string, string>,
) => readonly string[] | Promise<readonly string[]>;

/** What a person or a program reads of a declaration. */
interface Described {
  /** For people. */
  title?: string | undefined;
  /** For models: what it is for. */
  description?: string | undefined;
  icons?: Record<string, unknown>[] | undefined;
  _meta?: Record<string, unknown> | undefined;
}

/** What a tool is, beside its name. */
export interface ToolOptions<
  Input extends ValueSchema | undefined = ValueSchema | undefined,
  Output extends ValueSchema | undefined = ValueSchema | undefined,
> extends Described {
  /** Describes the arguments, which are checked before the handler runs. Without it, the tool takes none. */
  input?: Input;
  /** Describes the value that the tool returns, which is checked before it leaves. */
  output?: Output;
  annotations?: ToolAnnotations | undefined;
  /** For clients of 2025-11-25: whether the tool can be called as a task. */
  execution?: Record<string, unknown> | undefined;
}

/** A tool as lists show it; without `inputSchema` it takes no arguments. Its schemas can be those of a library. */
export interface ToolDeclaration<
  Input extends ValueSchema | undefined = ValueSchema | undefined,
  Output extends ValueSchema | undefined = ValueSchema | undefined,
> extends Omit<ToolOptions, "input" | "output"> {
  name: string;
  inputSchema?: Input;
  outputSchema?: Output;
}

/** The arguments that a handler gets. */
export type ToolArguments<Input> = [Input] extends [undefined]
  ? Record<string, never>
  : unknown extends CheckedType<Input>
    ? Params
    : CheckedType<Input>;

/** What a tool can return: text, blocks of content, a result, or, with an output schema, the value itself. */
export type ToolReturn<Output> = [Output] extends [undefined]
  ? string | readonly Content[] | ToolResult<unknown> | TaskResult
  :
      | GivenType<Output>
      | (ToolResult<GivenType<Output>> & { structuredContent: GivenType<Output> })
      | FailedResult
      | TaskResult;

/** The result of a tool, in full. */
export interface ToolResult<Value> {
  content?: readonly Content[];
  structuredContent?: Value;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** A failure that the model can read. */
interface FailedResult extends ToolResult<unknown> {
  content: readonly Content[];
  isError: boolean;
}

/** A task of the tasks extension, in place of the result. */
interface TaskResult extends Result {
  resultType: "task";
  taskId: string;
}

/**
 * What it throws becomes a result with `isError`, which the model can read; only an `rpcError` fails the request. `Args` are
 * the arguments as the input schema lets them through.
 */
export type ToolHandler<Args = Params, Returned = CallToolResult | Result> = (
  args: Args,
  context: CallContext,
) => OrText<Returned>;

/** The handler of a tool with these schemas. */
export type TypedToolHandler<Input, Output> = (
  args: ToolArguments<Input>,
  context: CallContext,
) => ToolReturn<Output> | Promise<ToolReturn<Output>>;

/** What it throws is for the log of the server; the client reads only that it failed. An `rpcError` is told as it is. */
export type ResourceHandler = (uri: string, context: CallContext) => OrText<ReadResourceResult | ResourceContents[]>;

/** Undefined: there is no such resource. */
export type TemplateHandler<Variables = Record<string, string>> = (
  uri: string,
  variables: Variables,
  context: CallContext,
) => OrText<ReadResourceResult | ResourceContents[] | undefined>;

export type PromptHandler<Args = Record<string, string>> = (
  args: Args,
  context: CallContext,
) => OrText<GetPromptResult>;

/** What a resource is, beside its URI. */
export interface ResourceOptions extends Described {
  name: string;
  mimeType?: string | undefined;
  size?: number | undefined;
  annotations?: Record<string, unknown> | undefined;
}

/** What resources of a template are, beside the template. */
export interface TemplateOptions<Template extends string = string> extends Omit<ResourceOptions, "size"> {
  /** Suggestions for variables, by name. */
  complete?: { [Name in keyof TemplateVariables<Template>]?: Completer } | undefined;
}

/** One argument of a prompt, as lists show it. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
}

/** What a prompt is, beside its name. */
export interface PromptOptions<
  Input extends ValueSchema | undefined = ValueSchema | undefined,
  List extends readonly PromptArgument[] | undefined = readonly PromptArgument[] | undefined,
> extends Described {
  /** Describes the arguments: an object of texts. They are checked before the handler runs. */
  input?: Input;
  /** In place of `input`: the arguments as lists show them. */
  arguments?: List;
  /** Suggestions for arguments, by name. */
  complete?: { [Name in keyof PromptArguments<Input, List>]?: Completer } | undefined;
}

/** The arguments that the handler of a prompt gets. */
export type PromptArguments<Input, List> = [Input] extends [undefined]
  ? List extends readonly PromptArgument[]
    ? ListedArguments<List[number]>
    : Record<string, never>
  : CheckedType<Input>;

type ListedArguments<Each extends PromptArgument> = string extends Each["name"]
  ? Record<string, string>
  : { [One in Each as One extends { required: true } ? One["name"] : never]: string } & {
      [One in Each as One extends { required: true } ? never : One["name"]]?: string;
    };

/** Answers a method that an extension adds. */
export type MethodHandler = (params: Params, context: CallContext) => Result | Promise<Result>;

/** Tools that are found by searching. */
export interface SearchedTools {
  /** In short. */
  list: () => readonly Tool[];
  find: (tool: string) => ToolHandler | undefined;
}

/** `run` returns what its handler returns: it is read as a result, and checked, when it comes. */
export interface ToolFeature {
  tool: Tool;
  run: (args: unknown, context: CallContext) => unknown;
  input?: ValueCheck | undefined;
  output?: ValueCheck | undefined;
}

export interface ResourceFeature {
  resource: Resource;
  read: ResourceHandler;
}

export interface TemplateFeature {
  template: ResourceTemplate;
  read: TemplateHandler;
  complete?: Completers | undefined;
}

export interface PromptFeature {
  prompt: Prompt;
  get: (args: unknown, context: CallContext) => OrText<GetPromptResult>;
  input?: ValueCheck | undefined;
  complete?: Completers | undefined;
}

/** Suggestions for arguments, by name. */
export type Completers = Readonly<Record<string, Completer | undefined>>;

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
