import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus mcp connect */
export const connect = defineCommand({
  usage: "nexus mcp connect",
  words: { min: 0, max: 9 },
  options: {},
  examples: [],

  run() {
    throw new NexusError("INTERNAL", "not there yet");
  },
});
