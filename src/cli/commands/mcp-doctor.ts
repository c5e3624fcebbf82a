import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus mcp doctor */
export const doctor = defineCommand({
  usage: "nexus mcp doctor",
  words: { min: 0, max: 9 },
  options: {},
  examples: [],

  run() {
    throw new NexusError("INTERNAL", "not there yet");
  },
});
