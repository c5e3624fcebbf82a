import type { Params, Result } from "../../protocol/json-rpc.ts";
import type {
  CallToolResult,
  ServerCapabilities,
  Implementation,
  Prompt,
  Resource,
  ResourceTemplate,
} from "../../protocol/mcp.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Core } from "../core/core.ts";
import { FeatureCore } from "./feature-core.ts";
import { checkList, checkServer, readPrompt, readResource, readTemplate, readTool } from "./declarations.ts";
import type {
  Completers,
  Features,
  MethodHandler,
  PromptArgument,
  PromptArguments,
  PromptHandler,
  PromptOptions,
  ResourceHandler,
  ResourceOptions,
  SearchedTools,
  TemplateHandler,
  TemplateOptions,
  ToolArguments,
  ToolDeclaration,
  ToolHandler,
  ToolOptions,
  ToolReturn,
  TypedToolHandler,
} from "./features.ts";
import type { TemplateVariables, ValueSchema } from "./schema-types.ts";

/** What a server is; `name`, `version` and the like are shown to its clients. */
export interface McpServerOptions extends Implementation {
  /** For the model: what this server is for and how its tools are used together. */
  instructions?: string | undefined;
  /** The revisions it serves; default: all. */
  revisions?: readonly Revision[] | undefined;
  /** Items on a page of a list; without it lists come whole. */
  pageSize?: number | undefined;
  /** How long clients may keep lists and resources. */
  ttlMs?: number | undefined;
  /** 32 bytes that seal what clients carry from one round of a call to the next; default: random. */
  stateKey?: Uint8Array | undefined;
  /** In place of those that follow from what is declared. */
  capabilities?: ServerCapabilities | undefined;
  /**
   * The capability `tasks` of 2025-11-25, where the server has methods for such tasks: clients of that revision then call
   * tools as tasks. Without it they never see one.
   */
  legacyTasks?: Record<string, unknown> | undefined;
  /**
   * False where the handlers check arguments and results themselves: the server then compares nothing with its schemas, and
   * takes names and members as they are. Default: true.
   */
  checkValues?: boolean | undefined;
}

export interface CompleteOptions {
  /** Suggestions for arguments, by name. */
  complete?: Completers | undefined;
}

/** A server of your own: declare what it offers, then serve it with `serveHttp` or `serveStdio`. */
export class McpServer {
  /** What the edges serve. */
  readonly core: Core;
  readonly #core: FeatureCore;
  readonly #features: Features = {
    tools: new Map(),
    resources: new Map(),
    templates: new Map(),
    prompts: new Map(),
    extensions: new Map(),
    methods: new Map(),
    searched: undefined,
  };

  readonly #checksValues: boolean;

  constructor(options: McpServerOptions, ...others: never[]) {
    checkServer(options, others);
    const { instructions, revisions, pageSize, ttlMs, stateKey, capabilities, legacyTasks, checkValues, ...info } =
      options;
    this.#checksValues = checkValues ?? true;
    const features = this.#features;
    this.#core = new FeatureCore({
      info,
      features,
      instructions,
      revisions,
      pageSize,
      ttlMs,
      stateKey,
      capabilities,
      legacyTasks,
      checksValues: this.#checksValues,
    });
    this.core = this.#core;
  }

  /** Declares a tool, or replaces it. Its schemas are JSON Schemas, or those of zod, ArkType or Valibot. */
  tool<
    const Input extends ValueSchema | undefined = undefined,
    const Output extends ValueSchema | undefined = undefined,
  >(name: string, options: ToolOptions<Input, Output>, run: TypedToolHandler<Input, Output>): this;
  tool<
    const Input extends ValueSchema | undefined = undefined,
    const Output extends ValueSchema | undefined = undefined,
  >(
    declaration: ToolDeclaration<Input, Output>,
    run: ToolHandler<ToolArguments<Input>, ToolReturn<Output> | CallToolResult | Result>,
  ): this;
  tool(...given: readonly unknown[]): this {
    const feature = readTool(given, this.#checksValues);
    this.#features.tools.set(feature.tool.name, feature);
    return this.#changed("tools");
  }

  /** Declares a resource with a fixed URI. */
  resource(uri: string, options: ResourceOptions, read: ResourceHandler): this;
  resource(resource: Resource, read: ResourceHandler): this;
  resource(...given: readonly unknown[]): this {
    const feature = readResource(given, this.#checksValues);
    this.#features.resources.set(feature.resource.uri, feature);
    return this.#changed("resources");
  }

  /** Declares resources by a template such as `memo://{day}`. */
  template<const Template extends string>(
    uriTemplate: Template,
    options: TemplateOptions<Template>,
    read: TemplateHandler<TemplateVariables<Template>>,
  ): this;
  template<const Template extends string>(
    template: ResourceTemplate & { uriTemplate: Template },
    read: TemplateHandler<TemplateVariables<Template>>,
    options?: CompleteOptions,
  ): this;
  template(...given: readonly unknown[]): this {
    const feature = readTemplate(given, this.#checksValues);
    this.#features.templates.set(feature.template.uriTemplate, feature);
    return this.#changed("resources");
  }

  /** Declares a prompt, with its arguments as a schema or as a list. */
  prompt<
    const Input extends ValueSchema | undefined = undefined,
    const List extends readonly PromptArgument[] | undefined = undefined,
  >(name: string, options: PromptOptions<Input, List>, get: PromptHandler<PromptArguments<Input, List>>): this;
  prompt<const List extends readonly PromptArgument[] | undefined = undefined>(
    prompt: Omit<Prompt, "arguments"> & { name: string; arguments?: List },
    get: PromptHandler<PromptArguments<undefined, List>>,
    options?: CompleteOptions,
  ): this;
  prompt(...given: readonly unknown[]): this {
    const feature = readPrompt(given, this.#checksValues);
    this.#features.prompts.set(feature.prompt.name, feature);
    return this.#changed("prompts");
  }

  /** Declares an extension: what clients are told about it, and the methods that it adds. */
  extension(name: string, settings: object = {}, methods: Record<string, MethodHandler> = {}): this {
    this.#features.extensions.set(name, settings);
    for (const [method, handler] of Object.entries(methods)) this.#features.methods.set(method, handler);
    return this;
  }

  /** Identifies the tools as they are declared now: their list carries it. */
  identifyTools(version: string): this {
    this.#features.toolsVersion = version;
    return this;
  }

  /** Has tools that can be called, and that lists do not show. */
  searched(tools: SearchedTools): this {
    this.#features.searched = tools;
    return this.#changed("tools");
  }

  /** Runs tools that are called without being declared, where it finds something that runs them. */
  unlisted(find: (tool: string) => ToolHandler | undefined): this {
    this.#features.findUnlisted = find;
    return this;
  }

  /** Removes what was declared under this name, URI or template; clients that listen are told. */
  remove(list: ChangingList, name: string): void {
    checkList(list);
    const { tools, resources, templates, prompts } = this.#features;
    const wasThere = { tools: [tools], resources: [resources, templates], prompts: [prompts] }[list].map((each) =>
      each.delete(name),
    );
    if (wasThere.includes(true)) this.#changed(list);
  }

  /**
   * Offers what another server declares instead of everything that was declared so far. Calls under way end as they began;
   * clients that listen are told.
   */
  adopt(other: McpServer): void {
    const before = { ...this.#features };
    Object.assign(this.#features, other.#features);
    this.#core.present(other.#core);
    const { tools, resources, templates, prompts } = this.#features;
    if (before.tools.size + tools.size > 0) this.#changed("tools");
    if (before.resources.size + before.templates.size + resources.size + templates.size > 0) this.#changed("resources");
    if (before.prompts.size + prompts.size > 0) this.#changed("prompts");
  }

  /** Tells clients that subscribed to a resource that it has changed. */
  resourceUpdated(uri: string): void {
    this.#core.changes.resourceUpdated(uri);
  }

  /** Tells clients that listen to a task of the tasks extension how it is now: what `tasks/get` would answer. */
  taskChanged(task: Params & { taskId: string }): void {
    this.#core.changes.taskChanged(task);
  }

  /** Ends the subscriptions of modern clients; they are told, and can subscribe again. */
  endSubscriptions(): void {
    this.#core.changes.end();
  }

  #changed(list: ChangingList): this {
    this.#core.changes.listChanged(list);
    return this;
  }
}
