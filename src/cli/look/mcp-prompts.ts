import type { Prompt } from "../../protocol/mcp.ts";
import { defineCommand } from "../command/command.ts";
import { LIST_OPTIONS, listFromServers, summaryLines } from "./list-command.ts";
import { promptSignature, signatureLines } from "./tool-signature.ts";

/** nexus mcp prompts github */
export const prompts = defineCommand({
  usage: "nexus mcp prompts [server]",
  description: `Shows prompts with their arguments; "?" marks optional arguments.`,
  options: LIST_OPTIONS,
  examples: [
    ["nexus mcp prompts", "prompts of all servers"],
    ["nexus mcp prompts github", "prompts of one server"],
    ["nexus mcp prompts --url http://127.0.0.1:3000/mcp", "prompts of a server that is not configured"],
  ],

  run: (context) =>
    listFromServers<Prompt>(context, {
      one: "prompt",
      kind: "prompts",
      nameOf: (item) => item.name,
      list: (client, options) => client.listPrompts(options),
      lines: (prompt, out, width) => {
        const signature = promptSignature(prompt);
        const [first = "", ...others] = signatureLines(signature, width);
        const head = `${out.style("cyan", signature.name)}${first.slice(signature.name.length)}`;
        return [head, ...others, ...summaryLines(prompt.description ?? prompt.title, out, width)];
      },
      seen: (all) => ({ prompts: all.map(({ name }) => name) }),
    }),
});
