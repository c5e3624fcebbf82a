import { asText } from "../../text/as-text.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { SEARCHED_META, VERSION_META } from "../../protocol/meta.ts";
import { listRequestedBy } from "../../protocol/methods.ts";
import type { Era } from "../../protocol/revisions.ts";
import { rpcError } from "../core/rpc-error.ts";
import { textResult } from "./arguments.ts";
import type { CallContext } from "./call-context.ts";
import { completionOf } from "./completion.ts";
import type { Features } from "./features.ts";
import { promptResult, resourceResult, toolResult } from "./handler-results.ts";
import { isProtocolOutcome } from "./input-needed.ts";
import { matchTemplate } from "./match-template.ts";
import { pageOf } from "./pages.ts";

const ITEMS: Readonly<Record<ListKind, (features: Features, era: Era) => unknown[]>> = {
  tools: ({ tools }, era) => Array.from(tools.values(), ({ tool }) => listedTool(tool, era)),
  resources: ({ resources }) => Array.from(resources.values(), ({ resource }) => resource),
  resourceTemplates: ({ templates }) => Array.from(templates.values(), ({ template }) => template),
  prompts: ({ prompts }) => Array.from(prompts.values(), ({ prompt }) => prompt),
};

/** The methods that both eras have, on the features of one server. */
export class FeatureMethods {
  readonly #features: Features;
  readonly #pageSize: number;

  constructor(features: Features, pageSize: number) {
    this.#features = features;
    this.#pageSize = pageSize;
  }

  async answer(method: string, params: Params, context: CallContext): Promise<Result> {
    const kind = listRequestedBy(method);
    if (kind) return this.#list(kind, params, context);
    switch (method) {
      case "tools/call":
        return this.#callTool(params, context);
      case "resources/read":
        return this.#readResource(params, context);
      case "prompts/get":
        return this.#getPrompt(params, context);
      case "completion/complete":
        return completionOf(this.#features, params);
      default:
        return this.#answerExtension(method, params, context);
    }
  }

  #answerExtension(method: string, params: Params, context: CallContext): Result | Promise<Result> {
    const handler = this.#features.methods.get(method);
    if (!handler) throw rpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    return handler(params, context);
  }

  #list(kind: ListKind, { cursor, _meta: asked }: Params, { era }: CallContext): Result {
    const { toolsVersion, searched } = this.#features;
    const isWhole = kind === "tools" && isRecord(asked) && asked[SEARCHED_META] === true;
    const all = [...ITEMS[kind](this.#features, era), ...((isWhole && searched?.list()) || [])];
    const { items, nextCursor } = pageOf(all, this.#pageSize, cursor);
    const _meta = kind === "tools" && toolsVersion !== undefined ? { _meta: { [VERSION_META]: toolsVersion } } : {};
    return { [kind]: items, ...(nextCursor === undefined ? {} : { nextCursor }), ..._meta };
  }

  async #callTool({ name, arguments: args = {} }: Params, context: CallContext): Promise<Result> {
    const tool = asText(name);
    const run =
      this.#features.tools.get(tool)?.run ?? this.#features.searched?.find(tool) ?? this.#features.findUnlisted?.(tool);
    if (!run) throw rpcError(INVALID_PARAMS, `Unknown tool: ${tool}`);
    if (!isRecord(args)) throw rpcError(INVALID_PARAMS, `"arguments" must be an object.`);
    let returned: unknown;
    try {
      returned = await run(args, context);
    } catch (error) {
      // A failure of the tool is a result, so that the model can read it and try again.
      if (isProtocolOutcome(error) || context.signal.aborted) throw error;
      return { ...textResult(messageOf(error)), isError: true };
    }
    return toolResult(tool, returned);
  }

  async #readResource({ uri }: Params, context: CallContext): Promise<Result> {
    if (typeof uri !== "string") throw rpcError(INVALID_PARAMS, `"uri" must be a string.`);
    const fixed = this.#features.resources.get(uri);
    if (fixed) return resourceResult(uri, await fixed.read(uri, context), fixed.resource.mimeType);
    for (const { template, read } of this.#features.templates.values()) {
      const variables = matchTemplate(template.uriTemplate, uri);
      const found = variables && (await read(uri, variables, context));
      if (found !== undefined) return resourceResult(uri, found, template.mimeType);
    }
    throw rpcError(INVALID_PARAMS, `Resource not found: ${uri}`, { uri });
  }

  async #getPrompt({ name, arguments: given }: Params, context: CallContext): Promise<Result> {
    const feature = this.#features.prompts.get(asText(name));
    if (!feature) throw rpcError(INVALID_PARAMS, `Unknown prompt: ${asText(name)}`);
    const entries = Object.entries(isRecord(given) ? given : {});
    const args = Object.fromEntries(entries.map(([argument, value]) => [argument, asText(value)]));
    for (const { name: argument, required } of feature.prompt.arguments ?? []) {
      if (required && args[argument] === undefined) throw rpcError(INVALID_PARAMS, `Missing argument: ${argument}`);
    }
    return promptResult(feature.prompt.name, await feature.get(args, context));
  }
}

/** Which tools can be called as tasks is told in 2025-11-25 alone. */
function listedTool(tool: Tool, era: Era): Tool {
  if (era === "legacy" || !("execution" in tool)) return tool;
  const { execution: _, ...listed } = tool;
  return listed;
}
