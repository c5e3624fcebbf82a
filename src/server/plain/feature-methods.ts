import { isRecord } from "../../json/is-record.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import { RESOURCE_NOT_FOUND } from "../../protocol/meta.ts";
import type { CallContext } from "./call-context.ts";
import { completionOf } from "./completion.ts";
import { describeTool, type Features, matchTemplate } from "./features.ts";
import { InputNeeded } from "./input-needed.ts";
import { pageOf } from "./pages.ts";
import { RpcError } from "./rpc-error.ts";

/** The methods that both eras have, on the features of one server. */
export class FeatureMethods {
  readonly #features: Features;
  readonly #pageSize: number;

  constructor(features: Features, pageSize: number) {
    this.#features = features;
    this.#pageSize = pageSize;
  }

  async answer(context: CallContext): Promise<Result> {
    const { method, params = {} } = context.request;
    const { tools, resources, templates, prompts } = this.#features;
    switch (method) {
      case "tools/list":
        return this.#list(
          "tools",
          tools.map((feature) => describeTool(feature, context.revision)),
          params,
        );
      case "tools/call":
        return this.#callTool(params, context);
      case "resources/list":
        return this.#list(
          "resources",
          resources.map(({ resource }) => resource),
          params,
        );
      case "resources/templates/list":
        return this.#list(
          "resourceTemplates",
          templates.map(({ template }) => template),
          params,
        );
      case "resources/read":
        return this.#readResource(params, context);
      case "prompts/list":
        return this.#list(
          "prompts",
          prompts.map(({ prompt }) => prompt),
          params,
        );
      case "prompts/get":
        return this.#getPrompt(params, context);
      case "completion/complete":
        return completionOf(this.#features, params);
      default: {
        const handler = this.#features.method?.(method, context.revision);
        if (!handler) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
        return handler(params, context);
      }
    }
  }

  #list(member: string, all: readonly unknown[], params: Params): Result {
    const { items, nextCursor } = pageOf(all, this.#pageSize, params["cursor"]);
    return { [member]: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  async #callTool(params: Params, context: CallContext): Promise<Result> {
    const feature = this.#features.tools.find(({ name }) => name === params["name"]);
    if (!feature) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(params["name"])}`);
    const args = params["arguments"] ?? {};
    if (!isRecord(args)) throw new RpcError(INVALID_PARAMS, `"arguments" must be an object.`);
    try {
      return await feature.run(args, context);
    } catch (error) {
      // A failure of the tool is a result, so that the model can read it and try again.
      if (error instanceof RpcError || error instanceof InputNeeded || context.signal.aborted) throw error;
      return { content: [{ type: "text", text: messageOf(error) }], isError: true };
    }
  }

  async #readResource(params: Params, context: CallContext): Promise<Result> {
    const uri = params["uri"];
    if (typeof uri !== "string") throw new RpcError(INVALID_PARAMS, `"uri" must be a string.`);
    const fixed = this.#features.resources.find(({ resource }) => resource.uri === uri);
    if (fixed) return { contents: await fixed.read(context) };
    for (const { template, read, cacheScope } of this.#features.templates) {
      const variables = matchTemplate(template.uriTemplate, uri);
      const contents = variables && (await read(uri, variables, context));
      if (contents) return { contents, ...(cacheScope && context.era === "modern" ? { cacheScope } : {}) };
    }
    const code = context.era === "modern" ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
    throw new RpcError(code, `Resource not found: ${uri}`, { uri });
  }

  async #getPrompt(params: Params, context: CallContext): Promise<Result> {
    const feature = this.#features.prompts.find(({ prompt }) => prompt.name === params["name"]);
    if (!feature) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${String(params["name"])}`);
    const given = isRecord(params["arguments"]) ? params["arguments"] : {};
    const args = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
    for (const { name, required } of feature.prompt.arguments ?? []) {
      if (required && args[name] === undefined) throw new RpcError(INVALID_PARAMS, `Missing argument: ${name}`);
    }
    return feature.get(args, context);
  }
}

/** What any failure becomes outside a tool. */
export function asRpcError(error: unknown): RpcError {
  return error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
