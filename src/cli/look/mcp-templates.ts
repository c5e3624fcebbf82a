import { visible } from "../../text/visible.ts";
import type { ResourceTemplate } from "../../protocol/mcp.ts";
import { defineCommand } from "../command/command.ts";
import { describedLines, LIST_OPTIONS, listFromServers } from "./list-command.ts";

/** nexus mcp templates docs */
export const templates = defineCommand({
  usage: "nexus mcp templates [server]",
  description: `Lists URI templates of resources, for example file:///{path}. Replace the variables to read a resource;
"nexus mcp complete" suggests values.`,
  options: LIST_OPTIONS,
  examples: [
    ["nexus mcp templates", "templates of all servers"],
    ["nexus mcp templates docs", "templates of one server"],
  ],

  run: (context) =>
    listFromServers<ResourceTemplate>(context, {
      one: "template",
      kind: "resourceTemplates",
      nameOf: (item) => item.uriTemplate,
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
