import { visible } from "../../text/visible.ts";
import type { Resource } from "../../protocol/mcp.ts";
import { sizeText } from "../../text/byte-size.ts";
import { defineCommand } from "../command/command.ts";
import { describedLines, LIST_OPTIONS, listFromServers } from "./list-command.ts";

/** nexus mcp resources docs */
export const resources = defineCommand({
  usage: "nexus mcp resources [server]",
  description: "A server without resources is not an error.",
  options: LIST_OPTIONS,
  examples: [
    ["nexus mcp resources", "resources of all servers: URI, type, size, name"],
    ["nexus mcp resources docs", "resources of one server"],
    [`nexus mcp resources --json | jq -r '.items[] | .server + " " + .uri'`, "print server and URI of each resource"],
  ],

  run: (context) =>
    listFromServers<Resource>(context, {
      one: "resource",
      kind: "resources",
      nameOf: (item) => item.uri,
      list: (client, options) => client.listResources(options),
      lines: (resource, out, width) => {
        const { uri, mimeType, size } = resource;
        const facts = [mimeType ?? "", typeof size === "number" ? sizeText(size) : ""].filter((fact) => fact !== "");
        const address = out.style("cyan", visible(uri));
        return [
          `${address}${facts.length === 0 ? "" : `  ${visible(facts.join(", "))}`}`,
          ...describedLines(resource, out, width),
        ];
      },
    }),
});
