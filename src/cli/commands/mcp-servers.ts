import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand } from "../command.ts";

/** nexus mcp servers */
export const servers = defineCommand({
  usage: "nexus mcp servers",
  words: { min: 0, max: 9 },
  options: {},
  examples: [],

  run() {
    throw new NexusError("INTERNAL", "not there yet");
  },
});
