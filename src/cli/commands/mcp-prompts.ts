import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus mcp prompts */
export const prompts = defineCommand({
  usage: "nexus mcp prompts",
  words: { min: 0, max: 9 },
  options: {},
  examples: [],

  run() {
    throw new NexusError("INTERNAL", "not there yet");
  },
});
