import { changeEntry, requireNoFile, SOURCE } from "./change-entry.ts";
import { isElsewhere } from "../command/command-line.ts";
import { defineCommand, SERVED } from "../command/command.ts";
import { isOtherTenant } from "../store/tenant-state.ts";
import { shortPath } from "../output/short-path.ts";

/** nexus mcp remove github */
export const remove = defineCommand({
  usage: "nexus mcp remove <server> [--file FILE]",
  description: `Removes the entry from its configuration file. Comments and order are preserved. If a file with lower precedence has a
server with the same name, that server is used from then on. To keep the entry, use nexus mcp disable.`,
  options: { ...SOURCE, ...SERVED },
  examples: [
    ["nexus mcp remove github", "from the file that configures it"],
    ["nexus mcp remove github --file ~/.nexus/mcp.json", "from this file, even if another file takes precedence"],
    ["nexus mcp remove github --tenant shop", "a server of a tenant of the gateway"],
    [
      "nexus mcp remove github --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
  ],

  async run(context) {
    if (isElsewhere(context) || isOtherTenant(context.options.tenant)) {
      requireNoFile(context.options);
      const { removeFromTenant } = await import("../gateway/servers.ts");
      return removeFromTenant(context);
    }
    const { words, out, surroundings } = context;
    const [name = ""] = words;
    const { before, after, file } = await changeEntry(context, name, ({ id }) => ({ kind: "remove", id }));
    const { id } = before;
    const uncovered = after?.origin?.file;
    if (out.json) return out.value({ server: id, file, uncovered });
    out.line(`Removed ${out.style("bold", id)} from ${shortPath(file, surroundings.home)}`);
    if (uncovered !== undefined)
      out.note(`The server with the same name in ${shortPath(uncovered, surroundings.home)} is used now`);
  },
});
