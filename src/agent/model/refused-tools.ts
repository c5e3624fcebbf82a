import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import { shorten } from "../../text/shorten.ts";
import type { ModelTool } from "./model-provider.ts";
import type { ProviderNames } from "./provider-names.ts";
import { OPEN_SCHEMA, providerSchema } from "./tool-schema.ts";

/** Of a schema that is shown as text. */
const MAX_SCHEMA = 4_000;
/** `tools.3.custom.input_schema` and `tools[3].function.parameters` in the error of a provider. */
const REFUSED = /\btools[.[](\d+)\b/;

/**
 * The tools that a provider does not accept as they are. It refuses the whole request because of one of them, so that
 * the schema of this one is sent as text, and if that is refused as well, the tool is left out.
 */
export class RefusedTools {
  /** By their schemas, which are the same objects as long as the definitions of a server are. */
  readonly #refusals = new WeakMap<object, number>();

  /** Those that are sent. */
  accepted(tools: readonly ModelTool[]): ModelTool[] {
    return tools.filter(({ inputSchema }) => (this.#refusals.get(inputSchema) ?? 0) < 2);
  }

  definitionOf({ name, description, inputSchema }: ModelTool, names: ProviderNames): LanguageModelV3FunctionTool {
    const schema = this.#refusals.has(inputSchema) ? undefined : providerSchema(inputSchema, names.properties);
    const text = `${description}\nThe schema of its arguments: ${shorten(JSON.stringify(inputSchema), MAX_SCHEMA)}`;
    return {
      type: "function",
      name: names.tools.toSafe(name),
      description: schema ? description : text,
      inputSchema: schema ?? OPEN_SCHEMA,
    };
  }

  /** Notes the tool that the error of a provider names; undefined if it names none. */
  note(body: string, tools: readonly ModelTool[]): { tool: ModelTool; isLeftOut: boolean } | undefined {
    const tool = this.accepted(tools)[Number(REFUSED.exec(body)?.[1] ?? Number.NaN)];
    if (!tool) return undefined;
    const refusals = (this.#refusals.get(tool.inputSchema) ?? 0) + 1;
    this.#refusals.set(tool.inputSchema, refusals);
    return { tool, isLeftOut: refusals > 1 };
  }
}
