import { SOURCE } from "./change-entry.ts";
import { defineCommand } from "../command/command.ts";
import { switchEntry } from "./switch-entry.ts";

/** nexus mcp disable github */
export const disable = defineCommand({
  usage: "nexus mcp disable <server> [--file FILE]",
  description: `The entry stays in its file and can be switched on again; comments and order of the file stay.`,
  words: { min: 1, max: 1 },
  options: SOURCE,
  examples: [
    ["nexus mcp disable github", "in the file that configures it"],
    ["nexus mcp disable github --file .mcp.json", "in this file, whichever counts here"],
  ],

  run: (context) => switchEntry(context, false),
});
