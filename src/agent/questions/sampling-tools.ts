import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { ModelTool } from "../model/model-provider.ts";
import { invalidSampling } from "./sampling-failure.ts";

const MAX_TOOLS = 200;
const MAX_NAME = 64;

/** The tools that a server offers to the model in one sampling request, with names that every provider accepts. */
export class SamplingTools {
  readonly tools: readonly ModelTool[];
  readonly #safeNames = new Map<string, string>();
  readonly #ownNames = new Map<string, string>();

  constructor(tools: unknown) {
    if (tools !== undefined && !Array.isArray(tools)) throw invalidSampling(`"tools" is not a list`);
    const listed: unknown[] = tools ?? [];
    if (listed.length > MAX_TOOLS) throw invalidSampling(`it has ${listed.length} tools; the limit is ${MAX_TOOLS}`);
    this.tools = listed.map((tool) => this.#define(tool));
  }

  /** The name for the model. A call in the conversation may be of a tool that is no longer offered. */
  safeName(name: string): string {
    const known = this.#safeNames.get(name);
    if (known !== undefined) return known;
    const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME) || "tool";
    let safe = plain;
    for (let count = 2; this.#ownNames.has(safe); count++) safe = `${plain.slice(0, MAX_NAME - 5)}_${count}`;
    this.#safeNames.set(name, safe);
    this.#ownNames.set(safe, name);
    return safe;
  }

  /** The name that the server uses. */
  ownName(safe: string): string {
    return this.#ownNames.get(safe) ?? safe;
  }

  #define(tool: unknown): ModelTool {
    if (!isTool(tool)) throw invalidSampling("a tool has no name or no input schema");
    if (this.#safeNames.has(tool.name)) throw invalidSampling(`the tool "${tool.name}" is listed twice`);
    const description = typeof tool.description === "string" ? tool.description : "";
    return { name: this.safeName(tool.name), description, inputSchema: tool.inputSchema };
  }
}

function isTool(value: unknown): value is Tool {
  return isRecord(value) && typeof value["name"] === "string" && isRecord(value["inputSchema"]);
}
