import { SOURCE } from "./change-entry.ts";
import { defineCommand } from "../command/command.ts";
import { switchEntry } from "./switch-entry.ts";

/** nexus mcp enable github */
export const enable = defineCommand({
  usage: "nexus mcp enable <server> [--file FILE]",
  description: `Changes the entry in the file it stands in; comments and order of the file stay.`,
  words: { min: 1, max: 1 },
  options: SOURCE,
  examples: [
    ["nexus mcp enable github", "in the file that configures it"],
    ["nexus mcp enable github --file .mcp.json", "in this file, whichever counts here"],
  ],

  run: (context) => switchEntry(context, true),
});
