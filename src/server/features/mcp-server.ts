import type { Params } from "../../protocol/json-rpc.ts";
import type { ServerCapabilities, Implementation, Prompt, Resource, ResourceTemplate } from "../../protocol/mcp.ts";
import { type ChangingList, CHANGING_LISTS } from "../../protocol/list-kinds.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Core } from "../core/core.ts";
import { FeatureCore } from "./feature-core.ts";
import type {
  Completer,
  Features,
  MethodHandler,
  PromptHandler,
  ResourceHandler,
  SearchedTools,
  TemplateHandler,
  ToolDeclaration,
  ToolHandler,
} from "./features.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";

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
}

export interface CompleteOptions {
  /** Suggestions for arguments, by name. */
  complete?: Record<string, Completer> | undefined;
}

const NO_ARGUMENTS = { type: "object", additionalProperties: false };

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

  constructor(options: McpServerOptions) {
    checkServer(options);
    const { instructions, revisions, pageSize, ttlMs, stateKey, capabilities, legacyTasks, ...info } = options;
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
    });
    this.core = this.#core;
  }

  /** Declares a tool, or replaces it. */
  tool(declaration: ToolDeclaration, run: ToolHandler): this {
    checkTool(declaration, run);
    const tool = { ...declaration, inputSchema: declaration.inputSchema ?? NO_ARGUMENTS };
    this.#features.tools.set(tool.name, { tool, run });
    return this.#changed("tools");
  }

  /** Declares a resource with a fixed URI. */
  resource(resource: Resource, read: ResourceHandler): this {
    checkResource(resource, read);
    this.#features.resources.set(resource.uri, { resource, read });
    return this.#changed("resources");
  }

  /** Declares resources by a template such as `memo://{day}`. */
  template(template: ResourceTemplate, read: TemplateHandler, { complete }: CompleteOptions = {}): this {
    checkTemplate(template, read);
    this.#features.templates.set(template.uriTemplate, { template, read, complete });
    return this.#changed("resources");
  }

  prompt(prompt: Prompt, get: PromptHandler, { complete }: CompleteOptions = {}): this {
    checkPrompt(prompt, get);
    this.#features.prompts.set(prompt.name, { prompt, get, complete });
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

/** Programs without types declare anything: a mistake fails where it is made, and not in the first call of a client. */
function checkServer(options: unknown): void {
  const hint = `Write new McpServer({ name: "greetings", version: "1.0.0" }).`;
  if (!isRecord(options)) throw wrong("A server needs a name and a version", hint);
  for (const member of ["name", "version"]) requireText("The server", options, member, hint);
}

function checkTool(tool: unknown, run: unknown): void {
  const hint = `Write server.tool({ name: "greet", inputSchema: { … } }, async (args) => "Hello").`;
  const declared = checkDeclaration("tool", tool, { key: "name", handler: run, hint });
  const { inputSchema } = declared;
  if (inputSchema === undefined || (isRecord(inputSchema) && inputSchema["type"] === "object")) return;
  throw wrong(
    `The inputSchema of the tool ${JSON.stringify(declared["name"])} is not a JSON Schema of type "object"`,
    `Write inputSchema: { type: "object", properties: { … } }.`,
  );
}

function checkResource(resource: unknown, read: unknown): void {
  const hint = `Write server.resource({ uri: "memo://all", name: "all" }, async (uri) => "text").`;
  checkDeclaration("resource", resource, { key: "uri", handler: read, hint });
}

function checkTemplate(template: unknown, read: unknown): void {
  const hint = `Write server.template({ uriTemplate: "memo://{day}", name: "memo" }, async (uri, { day }) => "text").`;
  const { uriTemplate } = checkDeclaration("template", template, { key: "uriTemplate", handler: read, hint });
  if (!/[{}]/.test(String(uriTemplate).replaceAll(/\{\w+\}/g, ""))) return;
  throw wrong(
    `The template ${JSON.stringify(uriTemplate)} cannot be read`,
    "Write each variable as {name}, of letters, digits and underscores; operators such as {+path} are not supported.",
  );
}

function checkPrompt(prompt: unknown, get: unknown): void {
  const hint = `Write server.prompt({ name: "remind" }, async (args) => "Remind me").`;
  checkDeclaration("prompt", prompt, { key: "name", handler: get, hint });
}

function checkList(list: unknown): void {
  if (CHANGING_LISTS.some((known) => known === list)) return;
  const known = CHANGING_LISTS.map((each) => JSON.stringify(each)).join(", ");
  throw wrong(`${JSON.stringify(list)} is not a list of a server`, `Use one of ${known}.`);
}

interface Expected {
  /** The member that identifies it. */
  key: string;
  handler: unknown;
  hint: string;
}

function checkDeclaration(kind: string, declared: unknown, { key, handler, hint }: Expected): Record<string, unknown> {
  if (!isRecord(declared)) throw wrong(`A ${kind} is declared by an object, not by ${shown(declared)}`, hint);
  requireText(`A ${kind}`, declared, key, hint);
  const subject = `The ${kind} ${JSON.stringify(declared[key])}`;
  requireText(subject, declared, "name", hint);
  if (typeof handler !== "function")
    throw wrong(`${subject} has no handler: ${shown(handler)} is not a function`, hint);
  return declared;
}

function requireText(subject: string, declared: Record<string, unknown>, member: string, hint: string): void {
  const value = declared[member];
  if (value === undefined) throw wrong(`${subject} has no "${member}"`, hint);
  if (typeof value !== "string" || value === "")
    throw wrong(`${subject} needs a "${member}" of text, not ${shown(value)}`, hint);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  return isRecord(value) ? "an object" : String(value);
}

function wrong(message: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}
