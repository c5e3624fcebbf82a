import type { RequestToolSpec, ToolFile } from "./tool-file.ts";

/** The tools that send a request themselves. */
export function requestTools({ tools }: Pick<ToolFile, "tools">): [name: string, tool: RequestToolSpec][] {
  return Object.entries(tools).flatMap(([name, tool]) => (tool.request ? [[name, tool]] : []));
}

/** A tool that sends a request itself; undefined if there is none of this name. */
export function findRequestTool({ tools }: Pick<ToolFile, "tools">, name: string): RequestToolSpec | undefined {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool?.request ? tool : undefined;
}
