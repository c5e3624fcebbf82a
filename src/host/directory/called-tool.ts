import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { CALL_TOOL } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import { unknownNameWithAdvice } from "./unknown-name.ts";

/** The tools of an API, as far as whoever calls one may know of them. */
interface CallableTools {
  find: (name: string) => Tool | undefined;
  /** What a wrong name may have meant. */
  names: () => readonly string[];
}

/** A tool and its arguments. */
export interface ToolUse {
  tool: Tool;
  arguments: unknown;
}

/**
 * The call of a tool of an API. One that names another tool of the API is the call of that tool. Throws if there is no such
 * tool, or if it names none.
 */
export function calledTool(tool: Tool, args: unknown, tools: CallableTools): ToolUse {
  if (tool.name !== CALL_TOOL || !isSearching(tool)) return { tool, arguments: args };
  const { name, arguments: inner = {} } = isRecord(args) ? args : {};
  if (typeof name !== "string") throw invalid(`${CALL_TOOL} needs the name of a tool as text`);
  const called = tools.find(name);
  if (!called || isSearching(called)) throw unknownNameWithAdvice("tool", name, tools.names());
  if (!isRecord(inner)) throw invalid(`The arguments of ${name} must be an object`);
  return { tool: called, arguments: inner };
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, {
    hint: `For example {"name": "find_orders", "arguments": {}}, with a name that search_tools gives.`,
    mayHaveReached: false,
  });
}
