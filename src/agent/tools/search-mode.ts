import type { HostTool } from "../../host/visible-lists.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { shorten } from "../../text/shorten.ts";
import { ToolIndex } from "../../text/tool-index.ts";
import { visibleLines } from "../../text/visible.ts";
import type { ModelTool } from "../model/model-provider.ts";
import { textResult, type OwnTool } from "./own-tool.ts";

export const CALL_ANY_TOOL = "call_tool";
const MOST = 50;
const USUAL = 10;
const SHOWN = 200;

const NAME = { type: "string", description: "The name of the tool, as search_tools gives it." };

/** The tools with which a model finds and reads about all others. `list` gives the tools of this moment. */
export function searchMode(list: () => readonly HostTool[], missing: (name: string) => string): OwnTool[] {
  return [searchTools(list), describeTool(list, missing)];
}

/** Calls a tool that was found. The agent makes of it a call of that tool. */
export const CALL_TOOL_DEFINITION: ModelTool = {
  name: CALL_ANY_TOOL,
  description: "Calls a tool that search_tools found. Read its arguments with describe_tool first.",
  inputSchema: {
    type: "object",
    properties: { name: NAME, arguments: { type: "object", description: "The arguments of that tool." } },
    required: ["name"],
    additionalProperties: false,
  },
};

function searchTools(list: () => readonly HostTool[]): OwnTool {
  const count = list().length;
  return {
    definition: {
      name: "search_tools",
      description: `Finds tools of the connected MCP servers by words such as "create invoice" or the name of a server. There are ${count}. Next, read the arguments of a tool with describe_tool, and call it with ${CALL_ANY_TOOL}.`,
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string", description: "Words about what the tool does." },
          limit: { type: "integer", minimum: 1, maximum: MOST, default: USUAL },
        },
        required: ["query"],
        additionalProperties: false,
      },
    },
    run: ({ query, limit = USUAL }) => search(list(), String(query), Number(limit)),
  };
}

function search(tools: readonly HostTool[], query: string, limit: number): CallToolResult {
  const byName = new Map(tools.map((found) => [found.name, found]));
  const index = new ToolIndex(
    tools.map(({ name: key, server, tool: { name, title = "", description = "" } }) => ({
      key,
      name,
      title,
      category: server,
      description,
    })),
  );
  const names = index.search(query);
  if (names.length === 0) {
    const servers = [...new Set(tools.map(({ server }) => server))].toSorted().join(", ");
    return textResult(`No tool matches ${JSON.stringify(query)}. Use other words. Servers: ${servers}.`);
  }
  const found = names.slice(0, limit).flatMap((name) => {
    const { server = "", tool } = byName.get(name) ?? {};
    const isReadOnly = tool?.annotations?.readOnlyHint === true;
    const description = shorten(visibleLines(tool?.description ?? tool?.title ?? ""), SHOWN);
    return { name, server, isReadOnly, description };
  });
  return textResult(JSON.stringify({ tools: found, more: names.length - found.length }));
}

function describeTool(list: () => readonly HostTool[], missing: (name: string) => string): OwnTool {
  const find = (name: unknown) => list().find((found) => found.name === name);
  return {
    definition: {
      name: "describe_tool",
      description: "Gives the description of a tool and the schemas of its arguments and its result.",
      inputSchema: { type: "object", properties: { name: NAME }, required: ["name"], additionalProperties: false },
    },
    originOf: ({ name }) => {
      const found = find(name);
      return found && { server: found.server, tool: found.tool.name };
    },
    run: ({ name }) => {
      const found = find(name);
      if (!found) return textResult(missing(String(name)), true);
      const { title, description = "", inputSchema, outputSchema, annotations } = found.tool;
      const described = { title, description: visibleLines(description), inputSchema, outputSchema, annotations };
      return textResult(JSON.stringify({ name: found.name, ...described }));
    },
  };
}
