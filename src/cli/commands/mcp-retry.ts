import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus mcp retry */
export const retry = defineCommand({
  usage: "nexus mcp retry",
  words: { min: 0, max: 9 },
  options: {},
  examples: [],

  run() {
    throw new NexusError("INTERNAL", "not there yet");
  },
});
