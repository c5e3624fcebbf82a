import type { Tool } from "../../protocol/mcp.ts";
import { allowedTools } from "../command/entry-rules.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { LIST_OPTIONS, listFromServers, summaryLines, type Listing } from "./list-command.ts";
import type { Output } from "../output/output.ts";
import { signatureLines, toolSignature } from "./tool-signature.ts";

/** nexus mcp tools --grep issue */
export const tools = defineCommand({
  usage: "nexus mcp tools [server] [--grep TEXT | --name TOOL]",
  description: `Tools are shown as signatures: "limit?: integer = 10" is optional, and 10 where it is left out. What the server
calls read-only or destructive is marked so. Tools that the server's entry denies ("tools") are hidden. Of more than five
servers each is one line; its name or --details shows their tools. With --name, one tool is shown in full, with its schema,
what it costs a model, and a call to copy.`,
  words: { min: 0, max: 1 },
  options: {
    ...LIST_OPTIONS,
    name: { type: "string", value: "TOOL", help: "this tool in full" },
    grep: { type: "string", value: "TEXT", help: "only tools that have this text in their name or description" },
  },
  examples: [
    ["nexus mcp tools", "tools of all servers"],
    ["nexus mcp tools github --grep issue", "tools of one server that have to do with issues"],
    ["nexus mcp tools github --name create_issue", "one tool in full, with a call to copy"],
    ['nexus mcp tools --stdio "node server.js"', "tools of a server that is not configured"],
  ],

  async run(context) {
    const { name, grep } = context.options;
    if (name !== undefined && grep !== undefined)
      throw wrongUsage("--name and --grep are given both", "Give one of them.");
    if (name === undefined)
      return listFromServers(context, grep === undefined ? TOOLS : { ...TOOLS, matches: has(grep) });
    const { showTool } = await import("./show-tool.ts");
    return showTool(context, TOOLS, name);
  },
});

const TOOLS: Listing<Tool> = {
  one: "tool",
  list: (client, options) => client.listTools(options),
  allowed: (all, server, servers) => allowedTools(servers, server, all),
  lines: (tool, out, width) => [
    ...headLines(tool, out, width),
    ...summaryLines(tool.description ?? tool.title, out, width),
  ],
  seen: (all) => ({ tools: all.map(({ name }) => name) }),
};

function headLines(tool: Tool, out: Output, width: number | undefined): string[] {
  const mark = markOf(tool);
  const signature = toolSignature(tool);
  const lines = signatureLines(signature, width === undefined ? undefined : width - (mark ? mark.text.length + 2 : 0));
  const [first = "", ...others] = lines;
  const { name } = signature;
  const styled = [`${out.style("cyan", name)}${first.slice(name.length)}`, ...others];
  if (mark) styled.push(`${styled.pop() ?? ""}  ${out.style(mark.style, mark.text)}`);
  return styled;
}

/** What the server says about effects; what it does not say is not guessed. */
function markOf({ annotations }: Tool): { text: string; style: "green" | "red" } | undefined {
  if (annotations?.readOnlyHint === true) return { text: "[read-only]", style: "green" };
  return annotations?.destructiveHint === true ? { text: "[destructive]", style: "red" } : undefined;
}

function has(text: string): (tool: Tool) => boolean {
  const wanted = text.toLowerCase();
  return ({ name, title, description }) => {
    return [name, title, description].some((part) => typeof part === "string" && part.toLowerCase().includes(wanted));
  };
}
