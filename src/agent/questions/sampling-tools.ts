import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { ModelTool } from "../model/model-provider.ts";
import { SafeNames } from "../model/provider-names.ts";
import { invalidSampling } from "./sampling-failure.ts";

const MAX_TOOLS = 200;

/** The tools that a server offers to the model in one sampling request, with names that every provider accepts. */
export class SamplingTools {
  readonly tools: readonly ModelTool[];
  readonly #names = new SafeNames();

  constructor(tools: unknown) {
    if (tools !== undefined && !Array.isArray(tools)) throw invalidSampling(`"tools" is not a list`);
    const listed: unknown[] = tools ?? [];
    if (listed.length > MAX_TOOLS) throw invalidSampling(`it has ${listed.length} tools; the limit is ${MAX_TOOLS}`);
    this.tools = listed.map((tool) => this.#define(tool));
    const names = new Set<string>();
    for (const { name } of this.tools) {
      if (names.has(name)) throw invalidSampling(`the tool "${this.ownName(name)}" is listed twice`);
      names.add(name);
    }
  }

  /** The name for the model. A call in the conversation may be of a tool that is no longer offered. */
  safeName(name: string): string {
    return this.#names.toSafe(name);
  }

  /** The name that the server uses. */
  ownName(safe: string): string {
    return this.#names.toOwn(safe);
  }

  #define(tool: unknown): ModelTool {
    if (!isTool(tool)) throw invalidSampling("a tool has no name or no input schema");
    const description = typeof tool.description === "string" ? tool.description : "";
    return { name: this.safeName(tool.name), description, inputSchema: tool.inputSchema };
  }
}

function isTool(value: unknown): value is Tool {
  return isRecord(value) && typeof value["name"] === "string" && isRecord(value["inputSchema"]);
}
