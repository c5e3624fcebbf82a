import type { Tool } from "../../protocol/mcp.ts";
import { allowedTools } from "../command/entry-rules.ts";
import { defineCommand, GATEWAY_OPTIONS } from "../command/command.ts";
import { inPlaceEntry } from "../command/in-place.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import { LIST_OPTIONS, listFromServers, summaryLines, type Listing } from "./list-command.ts";
import type { Output } from "../output/output.ts";
import { signatureLines, toolSignature } from "./tool-signature.ts";

/** nexus mcp tools --grep issue */
export const tools = defineCommand({
  usage: "nexus mcp tools [server] [--grep TEXT | --name TOOL]",
  description: `Shows tools as signatures: "limit?: integer = 10" is optional with default 10. Tools that the server declares read-only or
destructive are marked. Tools that the "tools" rules of the server's entry deny are hidden. With more than five servers, each
is one line; name a server or use --details to see the tools. --name shows one tool in full: schema, cost in tokens, and an
example call.`,
  options: {
    ...LIST_OPTIONS,
    ...GATEWAY_OPTIONS,
    name: { type: "string", value: "TOOL", help: "show this tool in full" },
    grep: { type: "string", value: "TEXT", help: "only tools with this text in their name or description" },
  },
  examples: [
    ["nexus mcp tools", "tools of all servers"],
    ["nexus mcp tools github --grep issue", "tools of one server that have to do with issues"],
    ["nexus mcp tools github --name create_issue", "one tool in full, with a call to copy"],
    [
      "nexus mcp tools --gateway https://gateway.example",
      "tools that the servers of a gateway list, with the key of an operator in NEXUS_KEY",
    ],
    ['nexus mcp tools --stdio "node server.js"', "tools of a server that is not configured"],
  ],

  async run(context) {
    const { name, grep, server } = context.options;
    if (name !== undefined && grep !== undefined)
      throw wrongUsage("--name and --grep cannot be used together", "Use one of them.");
    const matches = grep === undefined ? undefined : has(grep);
    if (isElsewhere(context)) {
      if (name !== undefined || inPlaceEntry(context.options)) {
        throw wrongUsage(
          "--gateway lists the tools of its own servers",
          "Remove --name, --stdio and --url; --json has each tool in full.",
        );
      }
      const { listRemoteTools } = await import("../gateway/servers.ts");
      const { out, words } = context;
      const lines = (tool: Tool) => TOOLS.lines(tool, out, out.columns === undefined ? undefined : out.columns - 2);
      return listRemoteTools(context, { server: words[0] ?? server, matches, lines });
    }
    if (name === undefined) return listFromServers(context, matches ? { ...TOOLS, matches } : TOOLS);
    const { showTool } = await import("./show-tool.ts");
    return showTool(context, TOOLS, name);
  },
});

const TOOLS: Listing<Tool> = {
  one: "tool",
  kind: "tools",
  nameOf: (item) => item.name,
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

/** The effects that the server declares; nothing is guessed. */
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
