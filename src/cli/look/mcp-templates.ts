import { visible } from "../../text/visible.ts";
import type { ResourceTemplate } from "../../protocol/mcp.ts";
import { defineCommand } from "../command/command.ts";
import { describedLines, LIST_OPTIONS, listFromServers } from "./list-command.ts";

/** nexus mcp templates docs */
export const templates = defineCommand({
  usage: "nexus mcp templates [server]",
  description: `Addresses of resources with variables in them, such as file:///{path}. Fill the variables in to read one:
"nexus mcp complete" knows what may stand there.`,
  words: { min: 0, max: 1 },
  options: LIST_OPTIONS,
  examples: [
    ["nexus mcp templates", "templates of all servers"],
    ["nexus mcp templates docs", "those of one server"],
  ],

  run: (context) =>
    listFromServers<ResourceTemplate>(context, {
      one: "template",
      list: (client, options) => client.listResourceTemplates(options),
      lines: (template, out, width) => {
        const { uriTemplate, mimeType } = template;
        const address = out.style("cyan", visible(uriTemplate));
        return [
          `${address}${mimeType === undefined ? "" : `  ${visible(mimeType)}`}`,
          ...describedLines(template, out, width),
        ];
      },
    }),
});
